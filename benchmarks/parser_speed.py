"""Questions/s of the parser in training and in decoding, and the ratio to allennlp-semparse in the same run.

    python benchmarks/parser_speed.py ../shared/data/drop/dev.json [--questions 128] [--rounds 5] [--batch 64]

Both sides have the same encoder, sizes, weights, questions, productions and forms. Ours then goes through the tree of
the forms, or searches a beam of 10, on tensors; theirs uses ``GrammarBasedState`` with ``BasicTransitionFunction`` and
``MaximumMarginalLikelihood`` or ``BeamSearch``. Theirs does not score links (its linking transition function is slower
still), so ours does more. Before the clock starts, both must give the same loss where ours leaves links out.
Training is a step of Adam, dropout included. They alternate on one thread; figures are medians of processor time.
The bars: at least 10 times theirs in both.
"""

# ruff: noqa: I001 - the shim comes before allennlp
import argparse
import dataclasses
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

import extractors.backends.allennlp_shim  # noqa: F401 - before the first import of allennlp
from allennlp.modules.attention.dot_product_attention import DotProductAttention
from allennlp_semparse.fields.production_rule_field import ProductionRule
from allennlp_semparse.state_machines import BeamSearch
from allennlp_semparse.state_machines.states import GrammarBasedState, GrammarStatelet, RnnStatelet
from allennlp_semparse.state_machines.trainers import MaximumMarginalLikelihood
from allennlp_semparse.state_machines.transition_functions import BasicTransitionFunction
from drop_parsing.data.reading import read_all
from drop_parsing.goal import AnswerGoal
from drop_parsing.literals import literals_of
from drop_parsing.parser.batch import Batch, Collator, Vocabulary, leaves_of, words_of
from drop_parsing.parser.choosing import Weighted
from drop_parsing.parser.entities import TableEntities
from drop_parsing.parser.inputs import QuestionInput, read_question
from drop_parsing.parser.likelihood import marginal_log_likelihood
from drop_parsing.parser.model import Parser, ParserSizes, make_parser
from drop_parsing.parser.rules import ANSWER, COMPLETE, END, rules
from drop_parsing.searching import preferred_forms
from extractors.annotate import load_pipeline
from extractors.registry import make_extractor
from extractors.table import Paragraph
from grammar.language import Language
from grammar.search import search
from grammar.view import View

FORMS = 20
BEAM = 10


def main() -> None:
    arguments = argparse.ArgumentParser(description="Speed of the parser against allennlp-semparse.")
    arguments.add_argument("file", type=Path, help="a DROP file")
    arguments.add_argument("--questions", type=int, default=128, help="how many questions (default 128)")
    arguments.add_argument("--rounds", type=int, default=5, help="how often to run each (default 5)")
    arguments.add_argument("--batch", type=int, default=64, help="questions at a time (default 64)")
    chosen = arguments.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)

    questions = read_questions(chosen.file, chosen.questions)
    words = Vocabulary.of(word for question in questions for word in words_of(question))
    leaves = Vocabulary.of(leaf for question in questions for leaf in leaves_of(question))
    sizes = ParserSizes()
    parser = make_parser(sizes, torch.randn(len(words), 100) * 0.1, len(leaves))
    collate = Collator(words, leaves)
    batches = [collate(questions[i : i + chosen.batch]) for i in range(0, len(questions), chosen.batch)]
    theirs = [
        Theirs(parser, questions[i : i + chosen.batch], sizes) for i in range(0, len(questions), chosen.batch)
    ]
    entities = statistics.mean(len(question.entities) for question in questions)
    print(
        f"{len(questions)} questions, batches of {chosen.batch}, {FORMS} forms at most, {len(rules().productions) - 1} "
        f"functions, {entities:.0f} leaves on average, {sum(p.numel() for p in parser.parameters()):,} weights"
    )
    check_same(parser, theirs[0], batches[0])

    optimizer = torch.optim.Adam(parser.parameters(), 1e-4, fused=True)

    def train(loss: Callable[[Theirs, Batch], torch.Tensor]) -> None:
        parser.train()
        for their, batch in zip(theirs, batches, strict=True):
            optimizer.zero_grad()
            loss(their, batch).backward()  # type: ignore[no-untyped-call]
            optimizer.step()

    def decode(run: Callable[[Theirs, Batch], object]) -> None:
        parser.eval()
        with torch.no_grad():
            for their, batch in zip(theirs, batches, strict=True):
                run(their, batch)

    def low(run: Callable[[Batch], Any]) -> Callable[[Theirs, Batch], Any]:
        """Ours in bfloat16."""

        def lowered(_: Theirs, batch: Batch) -> Any:
            with torch.autocast("cpu", torch.bfloat16):
                return run(batch)

        return lowered

    runs: dict[str, tuple[Callable[[], None], ...]] = {
        "training": (
            lambda: train(lambda their, batch: their.loss(batch)),
            lambda: train(lambda _, batch: parser.loss(batch)),
            lambda: train(low(parser.loss)),
        ),
        f"beam {BEAM}": (
            lambda: decode(lambda their, batch: their.decode(batch)),
            lambda: decode(lambda _, batch: parser.decode(batch, BEAM)),
            lambda: decode(low(lambda batch: parser.decode(batch, BEAM))),
        ),
    }
    for name, sides in runs.items():
        times: list[list[float]] = [[] for _ in sides]
        for number in range(chosen.rounds + 1):
            for run, taken in zip(sides, times, strict=True):
                spent = seconds(run)
                if number:  # the first round warms up
                    taken.append(spent)
        other, *ours = (statistics.median(taken) for taken in times)
        print(f"{name}: allennlp-semparse {len(questions) / other:.1f} questions/s")
        for precision, own in zip(("float32", "bfloat16"), ours, strict=True):
            print(
                f"  ours, {precision:8} {len(questions) / own:7.1f}, ratio {other / own:5.1f} (bar: at least 10)"
            )


def seconds(run: Callable[[], None]) -> float:
    started = time.process_time()
    run()
    return time.process_time() - started


def read_questions(path: Path, count: int) -> list[QuestionInput]:
    """The first questions of a file that have forms, with the forms of a search of size 1."""
    extractor, nlp = make_extractor("syndep"), load_pipeline()
    made: list[QuestionInput] = []
    for passage in read_all([path])[0]:
        table = TableEntities(View(extractor.extract(Paragraph(passage.id, passage.text))))
        for question in passage.questions[:8]:
            document = nlp(question.text)
            language = Language(table.view, literals_of(document, table.view))
            found = search(language, AnswerGoal(question.references), 1)
            forms = [Weighted(form, 0.0) for form in preferred_forms(found, question.text, FORMS)]
            read = read_question(question.id, document, table, language, forms)
            if read.targets is not None:
                made.append(read)
            if len(made) == count:
                return made
    return made


class Theirs:
    """A batch for allennlp-semparse's state machinery, with the weights of our parser.

    An action is a symbol with a production that expands it. What has no question in it (rules as strings, target
    sequences, which of the actions each symbol has) is made here, once; what has weights in it with every batch.
    """

    def __init__(self, parser: Parser, questions: Sequence[QuestionInput], sizes: ParserSizes) -> None:
        self.parser = parser
        decoder = parser.decoder
        self.limit = sizes.max_length
        self.step = BasicTransitionFunction(
            sizes.dim,
            sizes.production_dim,
            DotProductAttention(),
            add_action_bias=True,
            dropout=sizes.dropout,
        )
        self.step._input_projection_layer = decoder.mix
        self.step._output_projection_layer = decoder.query
        _copy_cell(decoder.gates, self.step._decoder_cell)
        self.trainer = MaximumMarginalLikelihood()
        self.beam = BeamSearch(BEAM)
        self.symbols = set(rules().symbols[ANSWER:])
        self.rules: list[list[ProductionRule]] = []
        self.actions: list[dict[str, tuple[torch.Tensor, list[int]]]] = []
        sequences: list[list[list[int]]] = []
        for question in questions:
            numbers = self._add_actions(question)
            assert question.targets is not None
            sequences.append([_sequence(form, numbers) for form in question.targets.path_choices.tolist()])
        longest = max(len(sequence) for forms in sequences for sequence in forms)
        most = max(map(len, sequences))
        self.targets = torch.full((len(sequences), most, longest), -1)
        for b, forms in enumerate(sequences):
            for f, sequence in enumerate(forms):
                self.targets[b, f, : len(sequence)] = torch.tensor(sequence)

    def _add_actions(self, question: QuestionInput) -> dict[tuple[int, int], int]:
        """(symbol, production) -> action, for one question."""
        made = rules()
        numbers: dict[tuple[int, int], int] = {}
        written: list[ProductionRule] = []
        by_symbol: dict[str, tuple[torch.Tensor, list[int]]] = {}
        for symbol, name in list(enumerate(made.symbols))[ANSWER:]:
            functions = made.expands[symbol].nonzero()[0].tolist()
            leaves = (question.expands[symbol].nonzero()[0] + len(made.productions)).tolist()
            # A symbol that has no completion would end a state of theirs with an error.
            open_functions = [f for f in functions if question.shortest[made.pushes[f]].sum() <= self.limit]
            for production in [*open_functions, *leaves]:
                numbers[symbol, production] = len(written)
                pushes = made.pushes[production] if production < len(made.productions) else []
                arguments = [made.symbols[s] for s in reversed(list(pushes)) if s != COMPLETE]
                written.append(ProductionRule(f"{name} -> [{', '.join(['name', *arguments])}]", True))
            if open_functions or leaves:
                productions = [*open_functions, *leaves]
                by_symbol[name] = (torch.tensor(productions), [numbers[symbol, p] for p in productions])
        self.rules.append(written)
        self.actions.append(by_symbol)
        return numbers

    def state(self, batch: Batch) -> GrammarBasedState:
        """The initial state of the batch, as their semantic parsers make it."""
        self.step.train(self.parser.training)
        encoded = self.parser.encoder(batch)
        decoder = self.parser.decoder
        problem = decoder.problem(batch, encoded, self.limit)
        size = len(batch)
        functions = torch.cat([decoder.select.weight, decoder.select.bias.unsqueeze(1)], dim=1)
        embedded = problem.keys[:, encoded.question.shape[1] :].transpose(1, 2)  # (B, E, Q)
        leaves = torch.cat([embedded, torch.zeros_like(embedded[:, :, :1])], dim=2)
        fed = problem.fed[decoder.functions :].view(embedded.shape)
        outputs, masks = list(encoded.question), list(encoded.mask)
        grammar, rnn = [], []
        for b in range(size):
            selected = torch.cat([functions, leaves[b]])
            read = torch.cat([decoder.feed.weight, fed[b]])
            valid = {
                symbol: {"global": (selected[productions], read[productions], ids)}
                for symbol, (productions, ids) in self.actions[b].items()
            }
            grammar.append(GrammarStatelet(["@answer"], valid, self.symbols.__contains__))
            memory = torch.zeros_like(encoded.summary[b])
            rnn.append(
                RnnStatelet(encoded.summary[b], memory, decoder.begin, decoder.begin_attended, outputs, masks)
            )
        scores = list(encoded.summary.new_zeros(size))
        return GrammarBasedState(
            list(range(size)), [[] for _ in range(size)], scores, rnn, grammar, self.rules
        )

    def loss(self, batch: Batch) -> torch.Tensor:
        loss: torch.Tensor = self.trainer.decode(
            self.state(batch), self.step, (self.targets, self.targets >= 0)
        )["loss"]
        return loss

    def decode(self, batch: Batch) -> object:
        return self.beam.search(self.limit, self.state(batch), self.step, keep_final_unfinished_states=False)


def _copy_cell(gates: torch.nn.Linear, cell: torch.nn.LSTMCell) -> None:
    """The weights of our cell in torch's order of gates: input, forget, candidate, output."""
    dim = cell.hidden_size
    order = torch.cat([torch.arange(i * dim, (i + 1) * dim) for i in (0, 1, 3, 2)])
    with torch.no_grad():
        cell.weight_ih.copy_(gates.weight[order, : cell.input_size])
        cell.weight_hh.copy_(gates.weight[order, cell.input_size :])
        cell.bias_ih.copy_(gates.bias[order])
        cell.bias_hh.zero_()


def _sequence(form: Sequence[int], numbers: dict[tuple[int, int], int]) -> list[int]:
    """A form's productions as actions."""
    stack, actions = [ANSWER], []
    for production in form:
        if production == END:
            break
        actions.append(numbers[stack.pop(), production])
        if production < len(rules().productions):
            stack += [symbol for symbol in rules().pushes[production].tolist() if symbol != COMPLETE]
    return actions


@torch.no_grad()
def check_same(parser: Parser, theirs: Theirs, batch: Batch) -> None:
    """Stop where the two sides do not compute the same: the loss of one batch, without links and without a limit."""
    parser.eval()
    encoded = parser.encoder(batch)
    without = dataclasses.replace(encoded, linking=torch.zeros_like(encoded.linking))
    problem = parser.decoder.problem(batch, without, 500)
    assert batch.trees is not None
    ours = -marginal_log_likelihood(parser.decoder, problem, batch.trees).mean()
    their = theirs.loss(batch)
    if not torch.isclose(ours, their, rtol=1e-4):
        raise SystemExit(f"the two sides differ: a loss of {ours:.4f} here, {their:.4f} there")
    print(f"the same loss on both sides: {ours:.4f}")


if __name__ == "__main__":
    main()
