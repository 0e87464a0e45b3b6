"""What lets AllenNLP 2.10.1 run beside current packages: import this module before ``allennlp``.

AllenNLP is archived and asks for old releases of the packages below. Each function here gives it back one
thing that is gone and that it needs at import or in training. Nothing here changes what a package that is
present does, except that NLTK's downloader fetches nothing. Without AllenNLP, importing this does nothing.
"""

import sys
import warnings
from collections.abc import Iterable
from functools import wraps
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

#: Absent packages that AllenNLP imports by name but uses only where a user asks for them: module -> names.
STAND_INS: dict[str, dict[str, tuple[str, ...]]] = {
    "fairscale": {
        "fairscale": (),
        "fairscale.nn": ("FullyShardedDataParallel",),
        "fairscale.nn.checkpoint": ("checkpoint_wrapper",),
        "fairscale.nn.misc": ("FlattenParamsWrapper",),
        "fairscale.nn.wrap": ("enable_wrap", "wrap"),
        "fairscale.optim": (),
        "fairscale.optim.grad_scaler": ("GradScaler",),
    },
    "torchvision": {"torchvision": (), "torchvision.ops": (), "torchvision.ops.boxes": ()},
}


def _add_empty_classes(module: ModuleType, names: Iterable[str]) -> None:
    for name in names:
        if not hasattr(module, name):
            setattr(module, name, type(name, (), {"__module__": module.__name__}))


def _add_stand_ins() -> None:
    """Empty modules for absent packages."""
    if find_spec("torchmetrics") is not None:
        # Imported after the stand-in for torchvision, it would take it for the package.
        import torchmetrics  # noqa: F401
    for package, modules in STAND_INS.items():
        if find_spec(package) is None:
            for name, classes in modules.items():
                module = ModuleType(name, "Stand-in of drop_parsing for an absent package.")
                module.__spec__ = ModuleSpec(name, loader=None)  # find_spec() raises where this is None
                _add_empty_classes(module, classes)
                sys.modules[name] = module


def _restore_transformers() -> None:
    """``transformers.AdamW``, gone from transformers, as torch's optimizer with one argument more."""
    import torch
    import transformers

    # Replaces the top module, so it comes before the change. It also makes transformers look for torchvision,
    # and remember the answer, before the stand-in is there.
    import transformers.models.bert.modeling_bert

    class AdamW(torch.optim.AdamW):
        def __init__(self, params: Any, *args: Any, correct_bias: bool = True, **kwargs: Any) -> None:
            if not correct_bias:
                warnings.warn(
                    "torch's AdamW always corrects its bias: correct_bias=False is ignored.", stacklevel=2
                )
            super().__init__(params, *args, **kwargs)

    if not hasattr(transformers, "AdamW"):
        transformers.AdamW = AdamW  # type: ignore[attr-defined]


def _restore_wordpieces() -> None:
    """``BertTokenizer.wordpiece_tokenizer``, gone from transformers: the pieces of one word, as it stands."""
    from transformers.models.bert.tokenization_bert import BertTokenizer

    class WordPieces:
        def __init__(self, tokenizer: Any) -> None:
            self._model = tokenizer.backend_tokenizer.model

        def tokenize(self, word: str) -> list[str]:
            return [piece.value for piece in self._model.tokenize(word)]

    BertTokenizer.wordpiece_tokenizer = property(WordPieces)  # type: ignore[attr-defined]


def _restore_plateau_keyword() -> None:
    """``ReduceLROnPlateau(verbose=)``, gone from torch: the keyword is taken and ignored."""
    from torch.optim.lr_scheduler import ReduceLROnPlateau

    init = ReduceLROnPlateau.__init__

    @wraps(init)
    def init_with_verbose(self: Any, *args: Any, verbose: bool = False, **kwargs: Any) -> None:
        init(self, *args, **kwargs)

    ReduceLROnPlateau.__init__ = init_with_verbose  # type: ignore[method-assign]


def _silence_nltk() -> None:
    """Importing allennlp_models downloads corpora that only its summary metrics read."""
    import nltk

    nltk.download = lambda *args, **kwargs: False


if find_spec("allennlp") is not None:
    import huggingface_hub

    _add_empty_classes(huggingface_hub, ("HfFolder", "Repository"))
    _restore_transformers()
    _restore_wordpieces()
    _restore_plateau_keyword()
    _silence_nltk()
    _add_stand_ins()
