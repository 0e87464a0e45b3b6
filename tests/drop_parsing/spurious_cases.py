"""A small analysis of spuriousness, written out by hand: two passages, two schemes, every state of a question."""

from drop_parsing.analysis.judged import (
    JUDGES,
    ChangedCell,
    Copy,
    FormClass,
    QuestionClasses,
    SchemeSummary,
    Spuriousness,
    Texts,
)
from drop_parsing.data.types import Answer, Passage, Question
from extractors.table import Argument, Row, Table, text_hash

GOALS = "Brook kicked 3 goals, Hale kicked 3 goals, and rain fell for 3 days."
#: A paragraph that tries to end the script, and has characters that JavaScript counts twice.
HOSTILE = "Ada 😀 sold 15 boats </script><img src=x onerror=\"document.title = 'broken in'\"> in 1914 😀."

PASSAGES = [
    Passage(
        "goals",
        GOALS,
        (
            Question("q-hale", "How many goals did Hale kick?", Answer(number="3")),
            Question("q-who", "Who kicked goals?", Answer(spans=("Brook", "Hale"))),
        ),
    ),
    Passage(
        "hostile",
        HOSTILE,
        (
            Question("q & <i>=+", "How many <b>boats</b> did Ada sell?", Answer(number="15")),
            Question("q-when", "When </script> was it?", Answer(number="1914")),
        ),
    ),
]


def argument(text: str, part: str, after: str = "") -> Argument:
    start = text.index(part, text.index(after))
    return Argument(part, start, start + len(part))


def table(scheme: str, passage: Passage, rows: list[Row]) -> Table:
    return Table(passage.id, text_hash(passage.text), scheme, "made", "1", tuple(rows))


def tables() -> dict[tuple[str, str], Table]:
    """By scheme and passage id; under "openie" the first passage has none."""
    goals, hostile = PASSAGES
    rows = [
        Row(
            argument(GOALS, "kicked", who),
            0,
            {"nsubj": (argument(GOALS, who),), "obj": (argument(GOALS, "3 goals", who),)},
        )
        for who in ("Brook", "Hale")
    ]
    fell = Row(argument(GOALS, "fell"), 0, {"nmod:for": (argument(GOALS, "3 days"),)})
    sold = Row(
        argument(HOSTILE, "sold"),
        0,
        {"obj": (argument(HOSTILE, "15 boats"),), "nmod:in": (argument(HOSTILE, "1914"),)},
    )
    return {
        ("syndep", "goals"): table("syndep", goals, [*rows, fell]),
        ("syndep", "hostile"): table("syndep", hostile, [sold]),
        ("openie", "hostile"): table("openie", hostile, [sold]),
    }


def span(text: str, part: str, after: str = "") -> tuple[int, int]:
    found = argument(text, part, after)
    return found.start, found.end


def one_class(
    form: str,
    denotation: Texts,
    on_copies: tuple[Texts, ...],
    cells: tuple[tuple[int, int], ...],
    combined: float,
    forms: int = 1,
    bounds: tuple[int, int] | None = None,
) -> FormClass:
    low, high = bounds or (forms, forms)
    scores = {"vote": combined, "qdmr": None, "grounding": 0.5, "contrast": None}
    kept = combined >= 0.5
    why = "Its words are those of the question." if kept else "It does not mention Hale."
    return FormClass(form, forms, low, high, denotation, on_copies, cells, scores, combined, kept, why)


HALE, BROOK, RAIN = (
    "(extract_number (filter_in all_structures relation:nsubj string:hale) relation:obj)",
    "(extract_number (first all_structures) relation:obj)",
    "(extract_number (last all_structures) relation:nmod:for)",
)


def questions() -> list[QuestionClasses]:
    copies = (
        Copy("the numbers of obj change places", (ChangedCell(1, "obj", "3 goals", "8 goals"),)),
        Copy(
            "row 3 is dropped, a number is drawn anew",
            (ChangedCell(0, "obj", "3 goals", "5 goals"), ChangedCell(2, "", "fell", "dropped")),
        ),
    )
    hale = (
        one_class(
            HALE, ("3",), (("8",), ("3",)), (span(GOALS, "Hale"), span(GOALS, "3 goals", "Hale")), 0.9, 7
        ),
        one_class(
            BROOK, ("3",), (("3",), ("5",)), (span(GOALS, "3 goals"),), 0.2, 10**15, (9 * 10**14, 11 * 10**14)
        ),
        one_class(RAIN, ("3",), (("3",), ()), (span(GOALS, "3 days"),), 0.1),
    )
    sold = (
        one_class(
            "(extract_number all_structures relation:obj)", ("15",), (), (span(HOSTILE, "15 boats"),), 0.3
        ),
    )
    goals, hostile = PASSAGES
    return [
        _question(goals, 0, "syndep", hale, copies, exact=False),
        _question(goals, 0, "openie", ()),
        _question(goals, 1, "syndep", ()),
        _question(hostile, 0, "syndep", sold),
        _question(hostile, 0, "openie", sold, complete=False),
        _question(hostile, 1, "openie", ()),
    ]


def _question(
    passage: Passage,
    place: int,
    scheme: str,
    classes: tuple[FormClass, ...],
    copies: tuple[Copy, ...] = (),
    complete: bool = True,
    exact: bool = True,
) -> QuestionClasses:
    question = passage.questions[place]
    answer = question.references[0]
    assert answer.kind is not None
    forms = sum(one.forms for one in classes)
    dropped = sum(one.forms for one in classes if not one.kept)
    return QuestionClasses(
        question.id,
        passage.id,
        scheme,
        question.text,
        answer.texts(),
        answer.kind,
        forms,
        complete,
        exact,
        copies,
        classes,
        met=len(classes),
        dropped=dropped / forms if forms else None,
    )


def analysis() -> Spuriousness:
    found = questions()
    summaries = [
        summary(scheme, [one for one in found if one.scheme == scheme]) for scheme in ("syndep", "openie")
    ]
    return Spuriousness(found, {passage.id: passage.text for passage in PASSAGES}, summaries, seed=7)


def summary(scheme: str, found: list[QuestionClasses]) -> SchemeSummary:
    covered = [one for one in found if one.covered]
    return SchemeSummary(
        scheme,
        questions=len(found),
        covered=len(covered),
        complete=sum(one.complete for one in found),
        exact=sum(one.exact for one in covered),
        forms=sum(one.forms for one in found),
        classes=sum(len(one.classes) for one in found),
        spurious_rate=0.75,
        by_judge=dict.fromkeys(JUDGES, 0.5) | {"contrast": None},
        without_right=0.5,
    )
