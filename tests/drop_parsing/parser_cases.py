"""Small questions over small tables, and small parsers with random weights, for tests of the parser."""

from collections.abc import Sequence

import torch
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.vocab import Vocab
from tables import WORDS, tables

from drop_parsing.literals import literals_of
from drop_parsing.parser.batch import Collator, Vocabulary, leaves_of, words_of
from drop_parsing.parser.choosing import Weighted
from drop_parsing.parser.entities import TableEntities
from drop_parsing.parser.inputs import MAX_LENGTH, QuestionInput, read_question
from drop_parsing.parser.model import Parser, ParserSizes, make_parser
from extractors.table import Table
from grammar.forms import parse
from grammar.language import Language
from grammar.view import View

SMALL = ParserSizes(
    embedded=6, dim=8, production_dim=24, character_dim=3, character_filters=4, dropout=0.0, max_length=9
)


def question_doc(words: list[str]) -> Doc:
    """A question of lower-case words, all of them nouns."""
    return Doc(Vocab(), words=words, pos=["NOUN"] * len(words), lemmas=words)


def question_over(
    table: Table, words: list[str], forms: list[str] | tuple[str, ...] = (), max_length: int = 9
) -> tuple[QuestionInput, Language]:
    """A question of these words over a table, with the forms to learn from."""
    return read_over(question_doc(words), TableEntities(View(table)), forms, max_length=max_length)


def read_over(
    question: Doc,
    entities: TableEntities,
    forms: Sequence[str] = (),
    id: str = "q",
    max_length: int = MAX_LENGTH,
) -> tuple[QuestionInput, Language]:
    """A parsed question over a table, with forms of the same weight to learn from."""
    language = Language(entities.view, literals_of(question, entities.view))
    weighted = [Weighted(parse(form).form, 0.0) for form in forms]
    return read_question(id, question, entities, language, weighted, max_length), language


def questions(max_rows: int = 3) -> st.SearchStrategy[tuple[QuestionInput, Language]]:
    """Random questions over random tables."""
    words = st.lists(st.sampled_from([*WORDS, "how", "many", "2", "1914"]), max_size=5)
    return st.builds(question_over, tables(max_rows=max_rows), words)


def small_parser(
    questions: list[QuestionInput], seed: int, sizes: ParserSizes = SMALL
) -> tuple[Parser, Collator]:
    """A parser with random weights that differ enough to prefer some forms by much, and its collator. In evaluation
    mode, in double precision."""
    words = Vocabulary.of(word for question in questions for word in words_of(question))
    leaves = Vocabulary.of(leaf for question in questions for leaf in leaves_of(question))
    torch.manual_seed(seed)
    parser = make_parser(sizes, torch.randn(len(words), 5), len(leaves)).double().eval()
    with torch.no_grad():
        for parameter in parser.decoder.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.7)
    return parser, Collator(words, leaves)
