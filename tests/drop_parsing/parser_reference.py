"""A slow, obvious decoder: one state at a time, a form's productions in a list, its open symbols in a list.

It asks the parser under test only for its weights. Everything that the tensors of ``drop_parsing.parser`` do for many
states at once is written out here for one.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from drop_parsing.parser.batch import ENTITY_TYPES, Batch
from drop_parsing.parser.inputs import QuestionInput
from drop_parsing.parser.model import Parser
from drop_parsing.parser.rules import rules
from grammar.types import ANSWER_TYPES


@dataclass
class State:
    """What is derived so far. ``stack`` has the symbol to expand last; ``score`` is a log probability."""

    productions: list[int]
    stack: list[str]
    score: float
    hidden: Tensor
    memory: Tensor
    attention: Tensor
    attended: Tensor


class ReferenceDecoder:
    """Decodes question ``place`` of a batch."""

    def __init__(self, parser: Parser, question: QuestionInput, batch: Batch, place: int, limit: int) -> None:
        self.decoder = parser.decoder
        self.question = question
        self.limit = limit
        length, entities = len(question.tokens) or 1, len(question.entities)
        encoded = parser.encoder(batch)
        self.tokens = encoded.question[place, :length]
        self.summary = encoded.summary[place]
        self.linking = encoded.linking[place, :length, :entities]
        self.traits = [
            torch.tensor(
                [max(column, default=0.0) for column in features.T.tolist()], dtype=self.summary.dtype
            )
            for features in question.features
        ]
        self.leaves = batch.leaves[place, :entities].tolist()
        self.functions = rules().productions
        self.arguments = [
            [rules().symbols[symbol] for symbol in reversed(row.tolist()) if symbol] for row in rules().pushes
        ]
        self.count = len(self.functions) + entities

    def start(self) -> State:
        zeros = torch.zeros_like(self.summary)
        return self._read(
            [], ["@answer"], 0.0, self.decoder.begin, self.summary, zeros, self.decoder.begin_attended
        )

    def open(self, state: State) -> list[int]:
        """The productions that expand the top symbol and leave a form that can be completed within the limit."""
        if not state.stack:
            return []
        return [
            production
            for production in range(1, self.count)
            if self._expands(state.stack[-1], production)
            and len(state.productions) + 1 + self._shortest_of(self._stack_after(state, production))
            <= self.limit
        ]

    def log_probabilities(self, state: State) -> dict[int, float]:
        """Production -> its log probability among those that are open."""
        query = torch.relu(self.decoder.query(torch.cat([state.hidden, state.attended])))
        scores = {production: self._score(state, query, production) for production in self.open(state)}
        total = math.log(sum(math.exp(score) for score in scores.values())) if scores else 0.0
        return {production: score - total for production, score in scores.items()}

    def advance(self, state: State, production: int, log_probability: float) -> State:
        functions = len(self.functions)
        if production < functions:
            fed = self.decoder.feed.weight[production]
        else:
            leaf = production - functions
            fed = (
                self.decoder.feed_leaf.weight[self.leaves[leaf]]
                + self.decoder.feed_type.weight[self._type(leaf)]
                + self.decoder.feed_traits.weight @ self.traits[leaf]
            )
        return self._read(
            [*state.productions, production],
            self._stack_after(state, production),
            state.score + log_probability,
            fed,
            state.hidden,
            state.memory,
            state.attended,
        )

    def score(self, productions: list[int]) -> float:
        """The log probability of a whole form."""
        state = self.start()
        for production in productions:
            state = self.advance(state, production, self.log_probabilities(state)[production])
        assert not state.stack
        return state.score

    def beam(self, width: int) -> list[tuple[list[int], float]]:
        """The complete forms with their scores, best first: each place of the beam is filled with the best of what
        the places up to it lead to, but for what a place before has taken. A complete form leads to itself."""
        places: list[State | None] = [self.start()]
        for _ in range(self.limit):
            candidates = []
            for place, state in enumerate(places):
                if state is None:
                    continue
                if not state.stack:
                    candidates.append((state.score, place, None, 0.0))
                for production, log_probability in self.log_probabilities(state).items():
                    candidates.append((state.score + log_probability, place, production, log_probability))
            following: list[State | None] = []
            for place in range(width):
                reachable = [candidate for candidate in candidates if candidate[1] <= place]
                if not reachable:
                    following.append(None)
                    continue
                best = max(reachable, key=lambda candidate: candidate[0])
                candidates.remove(best)
                parent = places[best[1]]
                assert parent is not None
                following.append(parent if best[2] is None else self.advance(parent, best[2], best[3]))
            places = following
        complete = [(s.productions, s.score) for s in places if s is not None and not s.stack]
        return sorted(complete, key=lambda form: -form[1])

    def _score(self, state: State, query: Tensor, production: int) -> float:
        functions = len(self.functions)
        if production < functions:
            return float(
                self.decoder.select.weight[production] @ query + self.decoder.select.bias[production]
            )
        leaf = production - functions
        selected = (
            self.decoder.select_leaf.weight[self.leaves[leaf]]
            + self.decoder.select_type.weight[self._type(leaf)]
            + self.decoder.select_traits.weight @ self.traits[leaf]
        )
        score = float(query @ selected)
        for attention, linking in zip(state.attention, self.linking[:, leaf], strict=True):
            score += float(attention * linking)
        before = state.productions[-1] - functions if state.productions else -1
        if before >= 0 and self.question.neighbours[before, leaf]:
            score += float(self.decoder.after_neighbour.weight[self._type(leaf), 0])
        return score

    def _read(
        self,
        productions: list[int],
        stack: list[str],
        score: float,
        fed: Tensor,
        hidden: Tensor,
        memory: Tensor,
        attended: Tensor,
    ) -> State:
        read = torch.relu(self.decoder.mix(torch.cat([attended, fed])))
        gates = self.decoder.gates(torch.cat([read, hidden]))
        write, keep, show = torch.sigmoid(gates[: 3 * len(hidden)]).chunk(3)
        memory = keep * memory + write * torch.tanh(gates[3 * len(hidden) :])
        hidden = show * torch.tanh(memory)
        attention = torch.softmax(torch.stack([token @ hidden for token in self.tokens]), dim=0)
        attended = sum(a * token for a, token in zip(attention, self.tokens, strict=True))  # type: ignore[assignment]
        return State(productions, stack, score, hidden, memory, attention, attended)

    def _type(self, leaf: int) -> int:
        return ENTITY_TYPES.index(self.question.entities[leaf].type)

    def _expands(self, symbol: str, production: int) -> bool:
        if production < len(self.functions):
            result = self.functions[production].type
            return result in ANSWER_TYPES if symbol == "@answer" else result == symbol
        entity = self.question.entities[production - len(self.functions)]
        type_name, _, need = symbol.partition(":")
        return entity.type == type_name and (not need or need in entity.needs)

    def _stack_after(self, state: State, production: int) -> list[str]:
        pushed = self.arguments[production] if production < len(self.functions) else []
        return state.stack[:-1] + pushed[::-1]

    def _shortest_of(self, stack: list[str]) -> float:
        return sum(self._shortest(symbol, self.limit) for symbol in stack)

    def _shortest(self, symbol: str, budget: int) -> float:
        """The fewest productions that derive a symbol, if not more than the budget."""
        if budget <= 0:
            return math.inf
        memo = self.__dict__.setdefault("memo", {})
        if (symbol, budget) not in memo:
            memo[symbol, budget] = min(
                (
                    1
                    + sum(self._shortest(argument, budget - 1) for argument in self._arguments_of(production))
                    for production in range(1, self.count)
                    if self._expands(symbol, production)
                ),
                default=math.inf,
            )
        return memo[symbol, budget]

    def _arguments_of(self, production: int) -> list[str]:
        return self.arguments[production] if production < len(self.functions) else []
