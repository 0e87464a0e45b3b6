"""Training runs of the parser on a few questions: what is learnt, what is counted, and what is refused."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch

pytest.importorskip("lightning", reason="the extra models is not installed")

from drop_parsing.data.types import Answer, Passage, Question
from drop_parsing.errors import InputError
from drop_parsing.goal import AnswerGoal
from drop_parsing.parser.batch import Collator, Vocabulary, leaves_of, words_of
from drop_parsing.parser.choosing import read_weights
from drop_parsing.parser.config import ParserConfig, load_config, preset_names
from drop_parsing.parser.model import make_parser
from drop_parsing.parser.module import ParserModule, TrainingStream, batches_of, best_targets
from drop_parsing.parser.questions import (
    QuestionSet,
    Source,
    check_trainable,
    hold_out,
    penalise_single_tables,
    read_questions,
)
from drop_parsing.parser.run_files import WEIGHTS, Tables, load_parser, load_rescorer
from drop_parsing.parser.training import Data, evaluate, train_parser
from drop_parsing.searching import Consistent, KeptForm, language_of
from drop_parsing.training.checkpoint import load_tensors
from drop_parsing.training.run import Options
from extractors.annotate import load_pipeline
from extractors.registry import make_extractor
from extractors.table import Paragraph, Table, text_hash
from grammar.search import search
from grammar.view import View

TEXT = "Carn had 70 boats. Hull sold 25 nets to Leeds. In May the crew of Carn caught 9 eels."
PASSAGE = Passage(
    "p1",
    TEXT,
    (
        Question("q1", "How many boats did Carn have?", Answer(number="70")),
        Question("q2", "How many nets did Hull sell?", Answer(number="25")),
        Question("q3", "Who had 70 boats?", Answer(spans=("Carn",))),
        Question("q4", "How many eels were caught?", Answer(number="9")),
        Question("q5", "What is the name of the king?", Answer(spans=("Ulf",))),
        Question("q6", "How deep is the sea?"),
    ),
)


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    return {text_hash(TEXT): make_extractor("syndep").extract(Paragraph("p1", TEXT))}


@pytest.fixture(scope="module")
def forms(tables: dict[str, Table]) -> dict[str, list[str]]:
    view = View(tables[text_hash(TEXT)])
    return {
        q.id: [str(form) for form in search(language_of(q.text, view), AnswerGoal(q.references), 1).forms(20)]
        for q in PASSAGE.questions
        if q.references
    }


@pytest.fixture(scope="module")
def questions(tables: dict[str, Table], forms: dict[str, list[str]]) -> QuestionSet:
    return read_questions([PASSAGE], tables, load_pipeline(), source(forms))


def source(forms: Mapping[str, Sequence[str]], **settings: Any) -> Source:
    """Forms as if a search had found them."""
    found = {
        id: Consistent("", "p1", id, 1, len(kept), tuple(KeptForm(form, ()) for form in kept))
        for id, kept in forms.items()
    }
    return Source(lambda passages: found, **settings)


def tiny(**changes: object) -> ParserConfig:
    return replace(load_config("kdg-tiny"), **changes)  # type: ignore[arg-type]


def train(questions: QuestionSet, config: ParserConfig, run: Path, **options: Any) -> None:
    data = Data(questions, [PASSAGE], questions, [PASSAGE], Tables())
    train_parser(config, data, run, Options(torch.device("cpu"), torch.float32, **options))


def test_learns_a_few_questions(questions: QuestionSet, tmp_path: Path) -> None:
    train(questions, tiny(epochs=60, patience=60, minutes=None, refresh=True), tmp_path / "run")
    setup, parser = load_parser(tmp_path / "run")
    scores = evaluate(parser, setup.collator(), questions, [PASSAGE], 5)
    assert scores.questions == 5  # q5 counts too, though nothing reaches it
    assert scores.em >= 60


def test_says_on_how_many_it_trains_and_why_not_on_the_rest(questions: QuestionSet) -> None:
    assert str(questions) == (
        "4 of 6 questions (not the rest: 1 have an answer that no form reaches; 1 have no answer)"
    )


def test_without_a_search_the_missing_command_is_named(tables: dict[str, Table]) -> None:
    """S17: never a missing key."""
    two = replace(PASSAGE, questions=PASSAGE.questions[:2])
    unsearched = read_questions([two], tables, load_pipeline(), source({}))
    with pytest.raises(
        InputError, match=r"2 were not searched.*: drop-parsing search train.json --scheme srl\.$"
    ):
        check_trainable(unsearched, "srl", "train.json")
    unreached = read_questions([two], tables, load_pipeline(), source({"q1": [], "q2": []}))
    with pytest.raises(InputError, match=r"no form reaches.*--max-size.*drop-parsing search"):
        check_trainable(unreached, "srl", "train.json")
    without_table = read_questions([two], {}, load_pipeline(), source({}))
    with pytest.raises(InputError, match=r"2 are on a passage without a table.*drop-parsing search"):
        check_trainable(without_table, "srl", "train.json")


def test_reading_tells_of_each_passage_once_also_without_a_table(tables: dict[str, Table]) -> None:
    bare = Passage("p2", "No table here.", (Question("r1", "Where?"), Question("r2", "Why?")))
    steps: list[int] = []
    read_questions([PASSAGE, bare, PASSAGE], tables, load_pipeline(), advance=steps.append)
    assert steps == [1, 1, 1]


def test_forms_of_another_language_are_left_out(tables: dict[str, Table]) -> None:
    forms = {"q1": ["(gone all_structures)", "(count_structures all_structures)"]}
    one = replace(PASSAGE, questions=PASSAGE.questions[:1])
    read = read_questions([one], tables, load_pipeline(), source(forms))
    assert (len(read.trained), read.forms) == (1, 1)


def test_a_resumed_run_ends_with_the_same_weights(questions: QuestionSet, tmp_path: Path) -> None:
    sizes = replace(tiny().sizes, dropout=0.2)
    config = tiny(epochs=4, patience=9, refresh=True, decay=True, sizes=sizes)
    train(questions, config, tmp_path / "whole")

    class Stopped(Exception):
        pass

    def stop(text: str) -> None:
        if text.startswith("epoch 2"):
            raise Stopped

    with pytest.raises(Stopped):
        train(questions, config, tmp_path / "parts", say=stop)
    train(questions, config, tmp_path / "parts", resume=True)
    whole, parts = (load_tensors(tmp_path / name / "state.safetensors") for name in ("whole", "parts"))
    for name in whole:
        if name.startswith("weights."):
            assert torch.equal(whole[name], parts[name]), name
    lines = [(tmp_path / name / "metrics.jsonl").read_text().splitlines() for name in ("whole", "parts")]
    assert len(lines[0]) == len(lines[1]) == 4


def test_a_folder_with_a_run_is_not_written_over(questions: QuestionSet, tmp_path: Path) -> None:
    train(questions, tiny(epochs=1), tmp_path)
    with pytest.raises(InputError, match="holds a run already: give --resume"):
        train(questions, tiny(epochs=1), tmp_path)
    with pytest.raises(InputError, match="begun with another preset"):
        train(questions, tiny(epochs=2), tmp_path, resume=True)


def test_what_is_no_run_is_refused(questions: QuestionSet, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run of a parser"):
        load_parser(tmp_path)
    train(questions, tiny(epochs=1), tmp_path / "run")
    (tmp_path / "run" / WEIGHTS).write_bytes(b"\x80\x04pickle")
    with pytest.raises(InputError, match="not in safetensors form"):
        load_parser(tmp_path / "run")


def test_the_most_likely_forms_are_kept(questions: QuestionSet, tmp_path: Path) -> None:
    train(questions, tiny(epochs=5, patience=9), tmp_path)
    setup, parser = load_parser(tmp_path)
    collate = setup.collator()
    inputs = [questions.questions[place][0] for place in questions.trained]
    every = best_targets(parser, collate, inputs, 100)
    few = best_targets(parser, collate, inputs, 2)
    for question, all_forms, kept in zip(inputs, every, few, strict=True):
        assert question.targets is not None
        assert len(all_forms.path_choices) == len(question.targets.path_choices)
        assert len(kept.path_choices) == min(2, len(all_forms.path_choices))
        width = kept.path_choices.shape[1]
        assert kept.path_choices.tolist() == all_forms.path_choices[:2, :width].tolist()


def test_an_epoch_has_every_question_once_in_another_order(questions: QuestionSet) -> None:
    inputs = [questions.questions[place][0] for place in questions.trained]
    epochs = [[q.id for batch in batches_of(inputs, 3, 0, epoch) for q in batch] for epoch in range(6)]
    assert all(sorted(epoch) == sorted(epochs[0]) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) > 1
    assert batches_of(inputs, 3, 0, 2) == batches_of(inputs, 3, 0, 2)


@pytest.mark.parametrize("name", preset_names())
def test_presets_are_read(name: str) -> None:
    assert load_config(name).sizes.max_length >= 16


def test_an_unknown_preset_or_setting_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no preset kgd .*kdg, kdg-small, kdg-tiny"):
        load_config("kgd")
    path = tmp_path / "own.yaml"
    path.write_text("beams: 3\n")
    with pytest.raises(InputError, match=r"no setting 'beams'"):
        load_config(str(path))


def test_a_held_out_share_is_not_trained_on_and_the_rescorer_is_fitted_to_it(
    tables: dict[str, Table], forms: dict[str, list[str]], tmp_path: Path
) -> None:
    passages = [replace(PASSAGE, id=f"p{i}", questions=PASSAGE.questions[i::2]) for i in range(2)]
    read = read_questions(passages, tables, load_pipeline(), source(forms))
    hold_out(read, passages, 0.5)
    assert {read.questions[place][0].id for place in read.held_out} == {"q2", "q4", "q6"}
    assert str(read).startswith("2 of 6 questions (not the rest: 2 are held out to fit the rescorer to;")
    data = Data(read, passages, read, passages, Tables())
    train_parser(tiny(epochs=3), data, tmp_path, Options(torch.device("cpu"), torch.float32))
    last = json.loads((tmp_path / "metrics.jsonl").read_text().splitlines()[-1])
    assert last["rescored"]
    assert last["dev_questions"] == 5
    rescorer = load_rescorer(tmp_path)
    setup, parser = load_parser(tmp_path)
    scores = evaluate(parser, setup.collator(), read, passages, setup.config.beam, rescorer=rescorer)
    assert scores.f1 == last["dev_f1"]


def test_dev_is_sampled_between_epochs_and_whole_in_the_end(
    tables: dict[str, Table], forms: dict[str, list[str]], tmp_path: Path
) -> None:
    passages = [replace(PASSAGE, id=f"p{i}", questions=PASSAGE.questions[i::2]) for i in range(2)]
    read = read_questions(passages, tables, load_pipeline(), source(forms))
    data = Data(read, passages, read, passages, Tables())
    config = tiny(epochs=2, evaluate_on=3)
    train_parser(config, data, tmp_path, Options(torch.device("cpu"), torch.float32))
    *epochs, last = map(json.loads, (tmp_path / "metrics.jsonl").read_text().splitlines())
    asked = sum(bool(question.references) for question in passages[0].questions)
    assert [line["dev_questions"] for line in epochs] == [asked, asked]
    assert (last["rescored"], last["dev_questions"]) == (False, 5)


def test_the_learning_rate_falls_to_nothing(questions: QuestionSet) -> None:
    asked = [questions.questions[place][0] for place in questions.trained]
    config = tiny(epochs=2, decay=True, batch_size=2)
    words = Vocabulary.of(word for question in asked for word in words_of(question))
    leaves = Vocabulary.of(leaf for question in asked for leaf in leaves_of(question))
    parser = make_parser(config.sizes, torch.randn(len(words), 16), len(leaves))
    stream = TrainingStream(asked, config.batch_size, 0, 0)
    module = ParserModule(parser, Collator(words, leaves), config, stream)
    rates = []
    for step in islice(stream, 5):  # two epochs of two batches, and what would follow
        module.training_step(step)
        rates.append(module.adam.param_groups[0]["lr"] / config.learning_rate)
    assert rates == pytest.approx([1, 0.75, 0.5, 0.25, 0])


def test_forms_of_one_table_alone_weigh_less(tables: dict[str, Table]) -> None:
    """The held-out-table penalty."""
    everywhere, once = "(extract_number all_structures relation:obj)", "(count_structures all_structures)"
    passages = [replace(PASSAGE, id=f"p{i}", questions=PASSAGE.questions[i : i + 1]) for i in range(2)]
    known = {"q1": [everywhere, once], "q2": [everywhere.replace("obj", "nsubj"), everywhere]}
    read = read_questions(passages, tables, load_pipeline(), source(known, prior=0.0))
    penalise_single_tables(read, passages, 1.0)
    weights = {}
    for question, _ in read.questions:
        assert question.targets is not None
        for path, prior in zip(question.targets.path_choices.tolist(), question.targets.prior, strict=True):
            weights[question.id, str(question.form(path))] = float(prior)
    assert weights["q1", everywhere] == 0
    assert weights["q1", once] == pytest.approx(math.log(0.5))


def test_votes_take_the_place_of_the_chosen_forms(tables: dict[str, Table], tmp_path: Path) -> None:
    sure, unsure, never = (
        f"({name} all_structures{rest})"
        for name, rest in (("count_structures", ""), ("max", " relation:obj"), ("min", " relation:obj"))
    )
    votes = {"query_id": "q1", "scheme": "syndep", "forms": {sure: 1.0, unsure: 0.25, never: 0.0}}
    other = {"query_id": "q2", "scheme": "srl", "forms": {}}
    path = tmp_path / "votes.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in (votes, other)))
    read_votes = read_weights(path, "syndep")
    known = {"q1": [never], "q2": [unsure]}
    read = read_questions([PASSAGE], tables, load_pipeline(), source(known, votes=read_votes))
    first, second = (question.targets for question, _ in read.questions[:2])
    assert first is not None
    assert second is not None  # not voted on: as found
    assert first.prior.tolist() == pytest.approx([0.0, math.log(0.25)])
    path.write_text('{"query_id": "q1"}\n')
    with pytest.raises(InputError, match=r"votes.jsonl, line 1: no form weights"):
        read_weights(path, "syndep")
    with pytest.raises(InputError, match="cannot be read"):
        read_weights(tmp_path / "none", "syndep")
