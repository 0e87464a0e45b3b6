"""AllenNLP archives as makers of rows: real tiny models, trained here."""

import io
import json
import pickle
import random
import sys
import tarfile
from collections import ChainMap
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

if find_spec("allennlp") is None:
    pytest.skip("AllenNLP is installed on Python 3.11 only", allow_module_level=True)

import torch

import extractors.backends.allennlp_shim  # noqa: F401
from extractors.annotate import PipelineError
from extractors.backends.allennlp_archive import load_archive
from extractors.backends.allennlp_tagger import AllenNlpTagger
from extractors.extractor import Extractor
from extractors.registry import Backend, make_extractor
from extractors.table import Paragraph, Table
from tests.extractors import tiny_models

TEXT = " ".join(text for text, _ in tiny_models.FRAMES).replace(" .", ".")


@pytest.fixture(scope="module")
def srl(srl_archive: Path) -> Extractor:
    return tagging(srl_archive)


@pytest.fixture(scope="module")
def bert_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.srl_bert_archive(tmp_path_factory.mktemp("bert"))


def tagging(archive: Path, scheme: str = "srl", trusted: bool = False) -> Extractor:
    annotator = make_extractor("syndep").annotator
    return Extractor(annotator, AllenNlpTagger(scheme, str(archive), trusted))


def table_of(extractor: Extractor, text: str) -> Table:
    return extractor.extract(Paragraph("p", text))


def texts(table: Table) -> list[dict[str, list[str]]]:
    return [
        {relation: [cell.text for cell in row.cell(relation)] for relation in ("verb", *row.arguments)}
        for row in table.rows
    ]


LEARNT = [
    {"verb": ["sold"], "ARG0": ["Ada"], "ARG1": ["3 boats"], "ARGM-TMP": ["in 1914"]},
    {"verb": ["is running"], "ARG0": ["She"], "ARG1": ["a mill"]},
    {"verb": ["is"], "ARG1": ["The wall"], "ARG2": ["9 m thick"]},
    {"verb": ["had"], "ARG0": ["Hull"], "ARG1": ["40 ships"]},
    {"verb": ["get paid"], "ARG1": ["They"], "ARGM-TMP": ["on Fridays"]},
    {"verb": ["decided to run"], "ARG0": ["Bram"], "ARGM-TMP": ["in May"]},
]


def test_rows(srl: Extractor) -> None:
    """One row a predicate, with its auxiliaries and no row for them; auxiliaries that are the main verb have
    rows; predicates of several words are one."""
    table = table_of(srl, TEXT)
    assert texts(table) == LEARNT
    assert [row.sentence for row in table.rows] == [0, 1, 2, 3, 4, 5]
    assert all(0.9 < row.confidence <= 1 for row in table.rows)
    assert [n.value for n in table.rows[0].cell("ARG1")[0].numbers] == [3]
    assert [d.year for d in table.rows[0].cell("ARGM-TMP")[0].dates] == [1914]
    assert (table.scheme, table.lost.numbers, table.lost.dates) == ("srl", (), ())


def test_the_same_archive_can_make_open_ie(srl_archive: Path, srl: Extractor) -> None:
    table = table_of(tagging(srl_archive, "openie"), TEXT)
    assert table.scheme == "openie"
    assert table.rows == table_of(srl, TEXT).rows


@pytest.mark.parametrize("space", ["    ", "\t", " \n "])
def test_cells_are_found_again_in_the_text(srl: Extractor, space: str) -> None:
    text = TEXT.replace(" ", space)
    table = table_of(srl, text)
    assert len(table.rows) == len(LEARNT)
    for row in table.rows:
        for _, cell in row.cells():
            assert text[cell.start : cell.end] == cell.text


@pytest.mark.parametrize("text", ["", " ", "Champions once more!", "7", "...", "\u200f", "\ud800 1900"])
def test_no_verb_gives_no_row(srl: Extractor, text: str) -> None:
    assert table_of(srl, text).rows == ()


def test_odd_words_go_through(srl: Extractor, bert_archive: Path) -> None:
    text = "Ada \ud800 sold 3 \U0001f6a3 boats\x00 in 1914 \u202eand went\u200b home."
    for extractor in (srl, tagging(bert_archive)):
        for row in table_of(extractor, text).rows:
            assert all(text[cell.start : cell.end] == cell.text for _, cell in row.cells())


def test_values_that_no_argument_covers_are_kept(srl: Extractor) -> None:
    text = "On 3 May 1920, Ada sold 3 boats, 7 in all, worth $40."
    table = table_of(srl, text)
    values = {v.start for row in table.rows for _, cell in row.cells() for v in (*cell.numbers, *cell.dates)}
    assert table.rows
    assert (table.lost.numbers, table.lost.dates) == ((), ())
    assert {text.index(piece) for piece in ("3 May", "3 boats", "7 in")} <= values


def neighbours(short: Paragraph) -> list[list[Paragraph]]:
    others = [
        Paragraph(str(i), f"In {1700 + i} the guild built {i} mills. " * (1 + i % 9)) for i in range(63)
    ]
    streams = []
    for seed in (0, 1):
        streams.append([short, *others])
        random.Random(seed).shuffle(streams[-1])
    return streams


def test_neighbours_change_nothing(srl: Extractor) -> None:
    short = Paragraph("short", TEXT)
    alone = srl.extract(short)
    for stream in neighbours(short):
        assert list(srl.pipe(stream))[stream.index(short)] == alone


def test_a_stateful_encoder_starts_anew(srl_archive: Path) -> None:
    tagger = AllenNlpTagger("srl", str(srl_archive))
    encoder = tagger._tagger._model.encoder
    encoder.stateful = True
    stateful = tagger._tagger.__class__(tagger._tagger._model, load_archive(str(srl_archive), {"srl"}).reader)
    words = "Ada sold 3 boats in 1914 .".split()
    assert list(stateful.tag(words, [1])) == list(stateful.tag(words, [1]))


def test_bert(bert_archive: Path) -> None:
    table = table_of(tagging(bert_archive), TEXT)
    assert texts(table)[:4] == LEARNT[:4]
    short = Paragraph("short", TEXT)
    (stream, _) = neighbours(short)
    assert list(tagging(bert_archive).pipe(stream))[stream.index(short)].rows == table.rows


def test_a_sentence_longer_than_bert_takes(bert_archive: Path) -> None:
    text = "x " * 200 + "Ada sold 3 boats in 1914 " + "y " * 200 + "and Hull had 40 ships ."
    table = table_of(tagging(bert_archive), text)
    assert [row.predicate.text for row in table.rows] == ["sold", "had"]
    for row in table.rows:
        assert all(text[cell.start : cell.end] == cell.text for _, cell in row.cells())


def test_constants_that_old_releases_saved_are_no_fault(bert_archive: Path, tmp_path: Path) -> None:
    def add(state: dict[str, Any]) -> dict[str, Any]:
        return {**state, "bert_model.embeddings.position_ids": torch.arange(40)[None]}

    old = changed(bert_archive, tmp_path, weights=add)
    assert table_of(tagging(old), TEXT).rows == table_of(tagging(bert_archive), TEXT).rows


def changed(
    archive: Path,
    folder: Path,
    weights: Callable[[dict[str, Any]], Any] | None = None,
    config: Callable[[dict[str, Any]], None] | None = None,
    members: dict[str, bytes | None] | None = None,
) -> Path:
    """A copy of an archive with other weights, another configuration, other members or fewer (None)."""
    unpacked = folder / "unpacked"
    with tarfile.open(archive) as opened:
        opened.extractall(unpacked, filter="data")
    if weights is not None:
        torch.save(weights(torch.load(unpacked / "weights.th")), unpacked / "weights.th")
    if config is not None:
        settings = json.loads((unpacked / "config.json").read_text())
        config(settings)
        (unpacked / "config.json").write_text(json.dumps(settings))
    copy = folder / "changed.tar.gz"
    with tarfile.open(copy, "w:gz") as written:
        for path in sorted(unpacked.iterdir()):
            if path.name not in (members or {}):
                written.add(path, path.name)
        for name, content in (members or {}).items():
            if content is not None:
                member = tarfile.TarInfo(name)
                member.size = len(content)
                written.addfile(member, io.BytesIO(content))
    return copy


class Mischief:
    """Unpickled, it leaves a mark."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self._mark,)


def test_weights_that_run_code_need_trust(srl_archive: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    archive = changed(srl_archive, tmp_path, weights=lambda state: {**state, "more": Mischief(mark)})
    with pytest.raises(PipelineError, match=r"could run code.*weights.*--trust-archive\.$"):
        load_archive(str(archive), {"srl"})
    assert not mark.exists()


def test_trust_loads_what_is_no_plain_tensor(srl_archive: Path, srl: Extractor, tmp_path: Path) -> None:
    archive = changed(srl_archive, tmp_path, weights=ChainMap)
    with pytest.raises(PipelineError, match="--trust-archive"):
        tagging(archive)
    before = torch.load
    trusted = tagging(archive, trusted=True)
    assert table_of(trusted, TEXT).rows == table_of(srl, TEXT).rows
    # Trust ends with the archive: AllenNLP is as it was.
    assert torch.load is before
    with pytest.raises(PipelineError, match="--trust-archive"):
        tagging(archive)


def name_a_class(config: dict[str, Any]) -> None:
    config["model"]["encoder"] = {"type": "subprocess.Popen", "args": ["touch", "mark"]}


def name_a_bare_class(config: dict[str, Any]) -> None:
    config["model"]["encoder"] = "this.that"


def reach_for_an_archive(config: dict[str, Any]) -> None:
    config["model"]["encoder"] = {"_pretrained": {"archive_file": "http://example.org/x", "path": "x"}}


def reach_for_remote_code(config: dict[str, Any]) -> None:
    config["dataset_reader"]["token_indexers"] = {"tokens": {"tokenizer_kwargs": {"trust_remote_code": True}}}


@pytest.mark.parametrize(
    "reach", [name_a_class, name_a_bare_class, reach_for_an_archive, reach_for_remote_code]
)
def test_configurations_that_run_code_need_trust(
    srl_archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reach: Callable[[Any], None]
) -> None:
    monkeypatch.chdir(tmp_path)
    archive = changed(srl_archive, tmp_path, config=reach)
    with pytest.raises(PipelineError, match=r"could run code.*configuration.*--trust-archive\.$"):
        load_archive(str(archive), {"srl"})
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("name", ["../outside", "vocabulary/../../outside"])
def test_members_outside_the_folder(srl_archive: Path, tmp_path: Path, name: str) -> None:
    archive = changed(srl_archive, tmp_path, members={name: b"x"})
    with pytest.raises(PipelineError, match="no archive that can be opened"):
        load_archive(str(archive), {"srl"}, trusted=True)


def test_an_absolute_member_stays_inside(srl_archive: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    load_archive(str(changed(srl_archive, tmp_path, members={str(outside): b"x"})), {"srl"})
    assert not outside.exists()


def test_a_link_to_the_outside(srl_archive: Path, tmp_path: Path) -> None:
    archive = tmp_path / "link.tar"
    with tarfile.open(archive, "w") as written:
        link = tarfile.TarInfo("vocabulary")
        link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path)
        written.addfile(link)
        written.addfile(tarfile.TarInfo("vocabulary/outside"))
    with pytest.raises(PipelineError, match="no archive that can be opened"):
        load_archive(str(archive), {"srl"}, trusted=True)
    assert not (tmp_path / "outside").exists()


def other_kind(config: dict[str, Any]) -> None:
    config["model"]["type"] = "naqanet"


def other_size(config: dict[str, Any]) -> None:
    config["model"]["encoder"]["hidden_size"] = 7


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"config": other_kind}, "'naqanet'; expected is srl or srl_bert"),
        ({"config": other_size}, "AllenNLP cannot load"),
        ({"members": {"config.json": None}}, "no config.json"),
        ({"members": {"config.json": b"[1]"}}, "no config.json"),
        ({"members": {"config.json": b"{'model': import 'x'}"}}, "no config.json"),
        ({"members": {"weights.th": b"PK damaged"}}, "damaged"),
        ({"members": {"weights.th": None}}, "damaged"),
    ],
)
def test_archives_that_cannot_be_used(
    srl_archive: Path, tmp_path: Path, change: dict[str, Any], told: str
) -> None:
    archive = changed(srl_archive, tmp_path, **change)
    with pytest.raises(PipelineError) as raised:
        load_archive(str(archive), {"srl", "srl_bert"}, trusted=True)
    message = str(raised.value)
    assert told in message
    assert str(archive) in message
    assert "\n" not in message


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x1f\x8b\x08\x00damaged"])
def test_a_file_that_is_no_archive(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.tar.gz").write_bytes(content)
    with pytest.raises(PipelineError, match=r"model\.tar\.gz is no archive"):
        load_archive(str(tmp_path / "model.tar.gz"), {"srl"})


def test_an_archive_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match=r"no AllenNLP archive .*absent"):
        load_archive(str(tmp_path / "absent"), {"srl"})


def test_an_encoder_that_is_not_there(bert_archive: Path, tmp_path: Path) -> None:
    def rename(config: dict[str, Any]) -> None:
        config["model"]["bert_model"] = str(tmp_path / "absent-uncased")

    with pytest.raises(PipelineError, match="names a pretrained encoder"):
        load_archive(str(changed(bert_archive, tmp_path, config=rename)), {"srl_bert"})


def test_without_allennlp(srl_archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "allennlp_models.coref", None)
    with pytest.raises(PipelineError, match="pip install --no-deps"):
        load_archive(str(srl_archive), {"srl"})


def test_each_archive_has_tables_of_its_own(srl_archive: Path, bert_archive: Path) -> None:
    made = [make_extractor("openie", Backend(f"allennlp:{path}")) for path in (srl_archive, bert_archive)]
    assert made[0].name != made[1].name
    assert all(extractor.name.startswith("allennlp-") for extractor in made)
    assert made[0].annotator is make_extractor("syndep").annotator
    again = pickle.loads(pickle.dumps(Backend(f"allennlp:{srl_archive}", trusted=True)))
    assert again == Backend(f"allennlp:{srl_archive}", trusted=True)


@pytest.mark.parametrize(
    ("scheme", "backend", "told"),
    [
        (
            "syndep",
            Backend("allennlp:x"),
            "'syndep' has no backend 'allennlp:x'; it has: spacy:NAME, stanza:FOLDER.",
        ),
        ("openie", Backend("allennlp"), "'openie' has no backend 'allennlp'; it has: .*allennlp:ARCHIVE"),
        ("syndep", Backend("spacy:x", trusted=True), "--trust-archive is for a backend allennlp:ARCHIVE"),
        ("syndep", Backend(trusted=True), "--trust-archive is for a backend allennlp:ARCHIVE"),
    ],
)
def test_backends_that_do_not_fit(scheme: str, backend: Backend, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        make_extractor(scheme, backend)


def test_the_encoder_of_the_published_taggers(tmp_path: Path) -> None:
    """Highway LSTMs that alternate in direction: what the Open IE and the first SRL archives are made of."""
    encoder = {"type": "alternating_lstm", "input_size": 32, "hidden_size": 24, "num_layers": 2}
    archive = tiny_models.srl_archive(tmp_path, encoder={**encoder, "use_highway": True})
    extractor = tagging(archive, "openie")
    table = table_of(extractor, TEXT)
    assert texts(table)[:4] == LEARNT[:4]
    short = Paragraph("short", TEXT)
    (stream, _) = neighbours(short)
    assert list(extractor.pipe(stream))[stream.index(short)].rows == table.rows


@pytest.mark.parametrize(
    ("label", "cells"),
    [
        ("(ARG2", {"ARG1": ["The wall"], "ARG2": ["9 m thick"]}),
        ("C-ARG1", {"ARG1": ["The wall", "9 m thick"]}),
        ("R-ARG1", {"ARG1": ["The wall"], "dep": ["9"]}),
    ],
)
def test_labels_that_are_no_relation_of_their_own(
    srl_archive: Path, tmp_path: Path, label: str, cells: dict[str, list[str]]
) -> None:
    """Stray brackets go, continued arguments are cells of their argument, and relative pronouns are none."""
    with tarfile.open(srl_archive) as opened:
        member = opened.extractfile("vocabulary/labels.txt")
        assert member is not None
        labels = member.read().replace(b"-ARG2", b"-" + label.encode())
    archive = changed(srl_archive, tmp_path, members={"vocabulary/labels.txt": labels})
    (row,) = texts(table_of(tagging(archive, "openie"), "The wall is 9 m thick."))
    assert row == {"verb": ["is"], **cells}
