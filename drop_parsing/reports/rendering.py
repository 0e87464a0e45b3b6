"""How every page is made: a template with all text escaped, written whole or not at all."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from drop_parsing import __version__
from extractors.store import atomic_file


def render_to(path: Path, template: str, filters: Mapping[str, Callable[..., Any]], **values: Any) -> None:
    """Write a template of this package with these values, and the version, to a file.

    Raises StoreError where the file cannot be written; a file that was there is then left as it was.
    """
    environment = Environment(
        loader=PackageLoader("drop_parsing.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.filters |= filters
    page = environment.get_template(template).render(version=__version__, **values)
    with atomic_file(path) as file:
        file.write(page.encode("utf-8", "replace"))
