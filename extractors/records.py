"""``Table`` as a record of Arrow, and back."""

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import pyarrow as pa

from extractors.table import Argument, Lost, Row, Span, Table
from extractors.values import Date, Number


def _filled(name: str, kind: pa.DataType) -> pa.Field:
    """A field that is never null: a part that has nulls elsewhere than ``Table`` can is not one of ours."""
    return pa.field(name, kind, nullable=False)


def _several(kind: pa.DataType) -> pa.DataType:
    return pa.list_(_filled("element", kind))


_NUMBER = pa.struct(
    [
        _filled("value", pa.float64()),
        _filled("start", pa.int64()),
        _filled("end", pa.int64()),
        ("unit", pa.string()),
        _filled("kind", pa.string()),
    ]
)
_DATE = pa.struct(
    [
        *((name, pa.int64()) for name in ("year", "month", "day", "quarter")),
        _filled("start", pa.int64()),
        _filled("end", pa.int64()),
        ("last_year", pa.int64()),
    ]
)
_SPAN = pa.struct(
    [
        _filled("text", pa.string()),
        _filled("start", pa.int64()),
        _filled("end", pa.int64()),
        _filled("label", pa.string()),
    ]
)
_ARGUMENT = pa.struct(
    [
        _filled("text", pa.string()),
        _filled("start", pa.int64()),
        _filled("end", pa.int64()),
        _filled("lemmas", _several(pa.string())),
        _filled("head", pa.string()),
        _filled("numbers", _several(_NUMBER)),
        _filled("dates", _several(_DATE)),
        _filled("entities", _several(_SPAN)),
        _filled("phrases", _several(_SPAN)),
    ]
)
_ROW = pa.struct(
    [
        _filled("predicate", _ARGUMENT),
        _filled("sentence", pa.int64()),
        _filled("arguments", pa.map_(pa.string(), _filled("value", _several(_ARGUMENT)))),
        _filled("confidence", pa.float64()),
    ]
)
_LOST = pa.struct(
    [
        _filled("sentences", _several(pa.int64())),
        _filled("numbers", _several(_NUMBER)),
        _filled("dates", _several(_DATE)),
    ]
)

#: ``Table`` in Arrow: the fields of the dataclasses in their order, a row's arguments as a map in row order.
TABLE_SCHEMA = pa.schema(
    [
        _filled("paragraph_id", pa.string()),
        _filled("hash", pa.string()),
        _filled("scheme", pa.string()),
        _filled("extractor", pa.string()),
        _filled("version", pa.string()),
        _filled("rows", _several(_ROW)),
        _filled("lost", _LOST),
    ]
)

_ESCAPED = re.compile("[\ud800-\udfff\ufdd0]")
_ESCAPE = re.compile("\ufdd0([0-9a-f]{4})")


def escape(text: str) -> str:
    """``text`` as valid UTF-8: a lone surrogate, or U+FDD0 itself, becomes U+FDD0 and four hex digits."""
    return _ESCAPED.sub(lambda match: f"\ufdd0{ord(match[0]):04x}", text)


def unescape(text: str) -> str:
    """The inverse of ``escape``."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text) if "\ufdd0" in text else text


def to_record(table: Table) -> dict[str, Any]:
    """``table`` as a row of ``TABLE_SCHEMA``."""
    return {name: _plain(getattr(table, name)) for name in TABLE_SCHEMA.names}


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return [(escape(name), _plain(item)) for name, item in value.items()]
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return value


def from_record(row: Mapping[str, Any]) -> Table:
    """The inverse of ``to_record``, from a row as Arrow gives it back."""
    lost = row["lost"]
    return Table(
        unescape(row["paragraph_id"]),
        row["hash"],
        row["scheme"],
        row["extractor"],
        row["version"],
        tuple(map(_row, row["rows"])),
        Lost(tuple(lost["sentences"]), _numbers(lost["numbers"]), _dates(lost["dates"])),
    )


def _row(row: Mapping[str, Any]) -> Row:
    arguments = {unescape(name): tuple(map(_argument, cell)) for name, cell in row["arguments"]}
    return Row(_argument(row["predicate"]), row["sentence"], arguments, row["confidence"])


def _argument(value: Mapping[str, Any]) -> Argument:
    return Argument(
        unescape(value["text"]),
        value["start"],
        value["end"],
        tuple(map(unescape, value["lemmas"])),
        unescape(value["head"]),
        _numbers(value["numbers"]),
        _dates(value["dates"]),
        _spans(value["entities"]),
        _spans(value["phrases"]),
    )


def _numbers(values: list[dict[str, Any]]) -> tuple[Number, ...]:
    return tuple(
        Number(
            value["value"],
            value["start"],
            value["end"],
            None if value["unit"] is None else unescape(value["unit"]),
            value["kind"],
        )
        for value in values
    )


def _dates(values: list[dict[str, Any]]) -> tuple[Date, ...]:
    return tuple(Date(**value) for value in values)


def _spans(values: list[dict[str, Any]]) -> tuple[Span, ...]:
    return tuple(
        Span(unescape(value["text"]), value["start"], value["end"], unescape(value["label"]))
        for value in values
    )
