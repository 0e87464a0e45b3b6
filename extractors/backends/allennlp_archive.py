"""AllenNLP archives: opened without trust, loaded, and told apart. Needs the extra ``allennlp``.

An archive is a program as much as a model: its weights are a pickle, and its configuration names the classes to
build. Without the user's trust neither may run anything but AllenNLP's own registered classes.
"""

import hashlib
import json
import tarfile
import warnings
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from extractors.annotate import PipelineError

#: The option that marks an archive as trusted, for messages.
TRUST_FLAG = "--trust-archive"

# Keys by which a configuration reaches for code or files of others.
_REACHING = frozenset({"_pretrained", "trust_remote_code"})


@dataclass(frozen=True, slots=True)
class Archive:
    """A loaded archive: AllenNLP's model, the reader that makes its instances, and a hash of the file."""

    model: Any
    reader: Any
    hash: str


def load_archive(path: str, kinds: Collection[str], trusted: bool = False) -> Archive:
    """The model of one of these AllenNLP types in the ``model.tar.gz`` at ``path``.

    ``trusted`` lets the archive run code as it loads: unpickle objects, build classes of any module.

    Raises ``PipelineError`` where AllenNLP is not installed, the file is no such archive, or it needs trust.
    """
    file = Path(path).expanduser()
    if not file.is_file():
        raise PipelineError(f"There is no AllenNLP archive {path}.")
    _import_allennlp()
    with TemporaryDirectory() as folder:
        _unpack(file, folder)
        config_file = Path(folder, "config.json")
        config = _read_config(path, config_file)
        kind = config["model"]["type"]
        if kind not in kinds:
            raise PipelineError(
                f"{path} holds a model of the type {kind!r}; expected is {' or '.join(sorted(kinds))}."
            )
        if not trusted and (reaching := sorted(_REACHING & set(_keys(config)))):
            raise _needs_trust(path, f"its configuration has {', '.join(reaching)}")
        _detach_encoder(path, config)
        config_file.write_text(json.dumps(config), "utf-8")
        model, reader = _load(path, folder, trusted)
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, lambda: hashlib.blake2b(digest_size=5)).hexdigest()
    return Archive(model, reader, digest)


def _import_allennlp() -> None:
    """AllenNLP is optional and slow to import, so it is imported when it is needed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import extractors.backends.allennlp_shim  # noqa: F401, I001 - before the first import of allennlp
            import allennlp_models.coref
            import allennlp_models.structured_prediction  # noqa: F401
    except ImportError as error:
        raise PipelineError(
            "AllenNLP is not installed: on Python 3.11, in a checkout of drop-parsing, "
            "run `pip install --no-deps -r requirements.lock`."
        ) from error


def _unpack(file: Path, folder: str) -> None:
    """Extract the archive; no member may lie outside the folder, or be a link or a device."""
    try:
        with tarfile.open(file) as archive:
            members = archive.getmembers()
            if not all(member.isfile() or member.isdir() for member in members):
                # Not left to the filter: in some Pythons a chain of links leads it outside.
                raise tarfile.TarError("it holds links or devices")
            archive.extractall(folder, members, filter="data")
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        raise PipelineError(
            f"{file} is no archive that can be opened ({error}); give the model.tar.gz that AllenNLP writes."
        ) from error


def _read_config(path: str, file: Path) -> dict[str, Any]:
    """The configuration as plain JSON: what AllenNLP writes, where Jsonnet could read other files."""
    try:
        config: dict[str, Any] = json.loads(file.read_text("utf-8"))
        if isinstance(config["model"]["type"], str) and isinstance(config["dataset_reader"], dict):
            return config
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise PipelineError(
        f"{path} has no config.json with a model and a dataset reader; give the model.tar.gz that AllenNLP writes."
    )


def _keys(value: object) -> Iterator[str]:
    """Every key in a JSON value, at any depth."""
    if isinstance(value, dict):
        yield from value
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for child in children:
        yield from _keys(child)


def _detach_encoder(path: str, config: dict[str, Any]) -> None:
    """Put the shape of a named BERT in place of its name, as its weights are in the archive, and let the reader,
    which makes word pieces itself, index them by their numbers."""
    model, reader = config["model"], config["dataset_reader"]
    if isinstance(model.get("bert_model"), str):
        from transformers.models.bert.configuration_bert import BertConfig

        try:
            model["bert_model"] = BertConfig.from_pretrained(model["bert_model"]).to_dict()
        except (OSError, ValueError) as error:
            raise _no_encoder(path, error) from error
    if reader.get("bert_model_name") is not None:
        reader["token_indexers"] = {
            "tokens": {"type": "single_id", "namespace": None, "feature_name": "text_id"}
        }


def _load(path: str, folder: str, trusted: bool) -> tuple[Any, Any]:
    import torch
    from allennlp.common.registrable import Registrable
    from allennlp.models.archival import load_archive as load
    from allennlp.nn import util

    def read_state(file: str, **_: object) -> dict[str, Any]:
        try:
            state = torch.load(file, map_location="cpu", weights_only=not trusted)
        except Exception as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            if not trusted and type(error).__name__ == "UnpicklingError":
                raise _needs_trust(path, "its weights are not plain tensors") from error
            raise PipelineError(f"The weights in {path} are damaged ({reason}).") from error
        # Old releases of transformers saved this constant; current ones do not know it.
        return {key: value for key, value in state.items() if not key.endswith("embeddings.position_ids")}

    resolve = vars(Registrable)["resolve_class_name"].__func__

    def resolve_registered(cls: type[Registrable], name: str) -> Any:
        if name not in Registrable._registry[cls] and "." in name:
            raise _needs_trust(path, f"its configuration names the class {name}")
        return resolve(cls, name)

    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.enter_context(_replaced(util, "read_state_dict", read_state))
        if not trusted:
            registered_only = classmethod(resolve_registered)
            stack.enter_context(_replaced(Registrable, "resolve_class_name", registered_only))
        try:
            loaded = load(folder, cuda_device=0 if torch.cuda.is_available() else -1)
        except PipelineError:
            raise
        except OSError as error:
            raise _no_encoder(path, error) from error
        except Exception as error:
            reason = " ".join(str(error).split())
            raise PipelineError(f"AllenNLP cannot load {path} ({reason}).") from error
    return loaded.model.eval(), loaded.validation_dataset_reader


@contextmanager
def _replaced(owner: Any, name: str, value: object) -> Iterator[None]:
    before = vars(owner)[name]
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def _needs_trust(path: str, why: str) -> PipelineError:
    return PipelineError(
        f"{path} could run code as it is loaded: {why}; if you trust where it comes from, add {TRUST_FLAG}."
    )


def _no_encoder(path: str, error: Exception) -> PipelineError:
    reason = " ".join(str(error).split())
    return PipelineError(
        f"{path} names a pretrained encoder that is neither a folder nor in the cache of Hugging Face ({reason})."
    )
