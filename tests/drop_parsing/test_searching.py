"""The search job in this process: what makes a part, what is searched again, and what is told."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from drop_parsing.data.types import Answer, Passage, Question
from drop_parsing.extraction import extract_tables, open_store
from drop_parsing.searching import (
    SearchReport,
    SearchSettings,
    cached_forms,
    open_forms,
    preferred_forms,
    search_passages,
)
from extractors.registry import DEFAULT_BACKEND
from extractors.store import TableStore

SETTINGS = SearchSettings(max_size=1, keep=2)
PER_PART = 4


def passage(id: str, boats: int, questions: int) -> Passage:
    asked = tuple(
        Question(f"{id}-{i}", f"How many boats did Ada sell in week {i}?", Answer(number=str(boats)))
        for i in range(questions)
    )
    return Passage(id, f"Ada sold {boats} boats. Bram sold {boats + 1} nets.", asked)


PASSAGES = [passage("a", 15, 3), passage("b", 81, 2), passage("c", 4, 2), passage("d", 26, 1)]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> TableStore:
    store = open_store(tmp_path_factory.mktemp("cache"), "syndep", DEFAULT_BACKEND)
    extract_tables(PASSAGES, {"syndep": store})
    return store


def searched(
    folder: Path,
    tables: TableStore,
    passages: Iterable[Passage] = PASSAGES,
    progress: Callable[[int], None] = lambda done: None,
) -> SearchReport:
    forms = open_forms(folder, "syndep", SETTINGS)
    return search_passages(passages, tables, forms, SETTINGS, progress=progress, part_questions=PER_PART)


def parts(folder: Path) -> dict[str, bytes]:
    return {part.name: part.read_bytes() for part in folder.rglob("part-*.parquet")}


def test_a_search_that_was_stopped_leaves_the_parts_of_one_that_was_not(
    tables: TableStore, tmp_path: Path
) -> None:
    whole = searched(tmp_path / "whole", tables)
    expected = parts(tmp_path / "whole")
    assert len(expected) == 3  # of a; of b and c; of d

    def stop_late(done: int) -> None:
        nonlocal left
        left -= done
        if left <= 1:
            raise KeyboardInterrupt

    left = len(PASSAGES)
    with pytest.raises(KeyboardInterrupt):
        searched(tmp_path / "stopped", tables, progress=stop_late)
    kept = parts(tmp_path / "stopped")
    assert 1 <= len(kept) < len(expected)
    again = searched(tmp_path / "stopped", tables)
    assert parts(tmp_path / "stopped") == expected
    assert 0 < again.cached < whole.total.questions
    assert (again.found, again.forms, again.by_kind) == (whole.found, whole.forms, whole.by_kind)
    assert searched(tmp_path / "stopped", tables).cached == 8


def test_a_question_that_is_asked_twice_is_searched_once(tables: TableStore, tmp_path: Path) -> None:
    twice = Passage("other", PASSAGES[0].text, tuple(_renamed(q) for q in PASSAGES[0].questions))
    done = searched(tmp_path, tables, [PASSAGES[0], PASSAGES[1], twice])
    assert (done.total.questions, done.cached) == (8, 3)
    assert done.found["again-a-0"].count == done.found["a-0"].count > 0
    assert done.found["again-a-0"].passage == "other"
    forms = open_forms(tmp_path, "syndep", SETTINGS)
    assert cached_forms([PASSAGES[0], PASSAGES[1], twice], tables, forms) == done.found


def _renamed(question: Question) -> Question:
    return Question(f"again-{question.id}", question.text, question.answer)


def test_a_passage_without_a_table_is_told_and_the_others_searched(
    tables: TableStore, tmp_path: Path
) -> None:
    heard: list[int] = []
    done = searched(tmp_path, tables, [passage("new", 7, 2), PASSAGES[3]], heard.append)
    assert [failed.item for failed in done.failed] == ["question new-0", "question new-1"]
    assert all("passage new has no table: extract it first" in failed.reason for failed in done.failed)
    assert list(done.found) == ["d-0"]
    assert sum(heard) == 2


def test_the_cache_gives_every_form_back(tables: TableStore, tmp_path: Path) -> None:
    done = searched(tmp_path, tables)
    forms = open_forms(tmp_path, "syndep", SETTINGS)
    plain = cached_forms(PASSAGES, tables, forms)
    assert plain == done.found
    whole = cached_forms(PASSAGES[:1], tables, forms, forests=True)
    assert list(whole) == ["a-0", "a-1", "a-2"]
    for question, consistent in zip(PASSAGES[0].questions, whole.values(), strict=True):
        found = consistent.found()
        assert found is not None
        assert (found.count, found.size) == (consistent.count, consistent.size)
        best = preferred_forms(found, question.text, SETTINGS.keep)
        assert [form.logical_form for form in consistent.forms] == list(map(str, best))
