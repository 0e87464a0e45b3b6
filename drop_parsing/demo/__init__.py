"""A bundled sample in official DROP form: invented paragraphs and questions, written for this project."""

from importlib import resources
from pathlib import Path


def demo_path() -> Path:
    """Path of `demo.json`: passage id -> {"passage", "qa_pairs"}, UTF-8, as DROP's own files are laid out.

    The package must be installed as files, not imported from a zip archive; `FileNotFoundError` otherwise.
    """
    path = Path(str(resources.files(__name__) / "demo.json"))
    if not path.is_file():
        raise FileNotFoundError(f"The demo data is missing at {path}: reinstall the package as plain files.")
    return path
