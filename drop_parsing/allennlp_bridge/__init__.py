"""AllenNLP beside current packages: what the two exchange. Needs the extra ``allennlp``."""

import extractors.backends.allennlp_shim  # noqa: F401 - must run before the first import of allennlp
