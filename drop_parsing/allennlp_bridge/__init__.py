"""AllenNLP beside current packages: the shim, and what the two exchange. Needs the extra ``allennlp``."""
