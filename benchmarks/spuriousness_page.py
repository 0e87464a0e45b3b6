"""How fast the page of spuriousness opens in a browser, with many made-up questions.

    python benchmarks/spuriousness_page.py [--questions 10000] [--rounds 5]

Each round opens the page afresh in headless Chromium, up to the list of all questions with the first screen
painted; then follows a link to one question. Figures are medians in milliseconds, beside the size of the file.
The bar: 10,000 questions open in less than 2 s.
"""

import argparse
import random
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from drop_parsing.analysis.judged import (
    JUDGES,
    ChangedCell,
    Copy,
    FormClass,
    QuestionClasses,
    SchemeSummary,
    Spuriousness,
)
from drop_parsing.analysis.overview import overview
from drop_parsing.data.types import Answer, Passage, Question
from drop_parsing.reports.spuriousness_page import write_page
from extractors.table import Argument, Row, Table, text_hash

SCHEMES = ("syndep", "openie", "srl")
QUESTIONS_OF_A_PASSAGE = 17  # as in DROP
WORDS, ROWS, CLASSES, COPIES = 200, 30, 12, 8


def main() -> None:
    parser = argparse.ArgumentParser(description="Time to open the spuriousness page.")
    parser.add_argument("--questions", type=int, default=10_000, help="how many (default 10,000)")
    parser.add_argument("--rounds", type=int, default=5, help="how often to open it (default 5)")
    arguments = parser.parse_args()

    draw = random.Random(0)
    vocabulary = [
        "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 9))) for _ in range(5000)
    ]
    passages = [
        made_passage(number, min(QUESTIONS_OF_A_PASSAGE, arguments.questions - number), vocabulary, draw)
        for number in range(0, arguments.questions, QUESTIONS_OF_A_PASSAGE)
    ]
    tables = {
        (scheme, passage.id): made_table(scheme, passage, draw) for passage in passages for scheme in SCHEMES
    }
    questions = [
        made_classes(scheme, passage, question, draw)
        for passage in passages
        for question in passage.questions
        for scheme in SCHEMES
    ]
    total = arguments.questions
    summaries = [
        SchemeSummary(s, total, total, total, total, total, total, 0.8, dict.fromkeys(JUDGES, 0.5), 0.5)
        for s in SCHEMES
    ]
    found = Spuriousness(questions, {passage.id: passage.text for passage in passages}, summaries, seed=0)

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "page.html"
        started = time.perf_counter()
        write_page(path, found, overview(found, passages, tables), tables, None, "made up", "none")
        print(f"{arguments.questions} questions, {path.stat().st_size / 1e6:.1f} MB", end=", ")
        print(f"written in {time.perf_counter() - started:.1f} s")
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        rounds = [opened(chromium, path, questions[-1].query_id) for _ in range(arguments.rounds)]
        chromium.close()
    for name, times in zip(
        ("the list of all", "one question by its link"), zip(*rounds, strict=True), strict=True
    ):
        print(f"{name}: {1000 * statistics.median(times):.0f} ms (slowest {1000 * max(times):.0f})")


def opened(chromium: Browser, path: Path, query_id: str) -> tuple[float, float]:
    """Seconds until the list is there, and until a question is there in a page opened by a link to it."""
    times = []
    for address, awaited in (
        (path.as_uri(), "#questions a"),
        (f"{path.as_uri()}#q={query_id}", "#question-title"),
    ):
        page = chromium.new_page()
        started = time.perf_counter()
        page.goto(address)
        page.wait_for_selector(awaited)
        page.evaluate("new Promise(painted => requestAnimationFrame(() => setTimeout(painted)))")
        times.append(time.perf_counter() - started)
        page.close()
    return times[0], times[1]


def made_passage(number: int, questions: int, vocabulary: list[str], draw: random.Random) -> Passage:
    def words(count: int) -> str:
        return " ".join(draw.choices(vocabulary, k=count))

    asked = (
        Question(
            f"question-{number + each}", f"How many {words(8)}?", Answer(number=str(draw.randint(0, 99)))
        )
        for each in range(questions)
    )
    return Passage(f"passage-{number}", words(WORDS), tuple(asked))


def made_table(scheme: str, passage: Passage, draw: random.Random) -> Table:
    def argument() -> Argument:
        start = draw.randrange(len(passage.text) - 40)
        end = start + draw.randint(2, 40)
        return Argument(passage.text[start:end], start, end)

    rows = [
        Row(argument(), 0, {name: (argument(),) for name in ("nsubj", "obj", "nmod:in")}) for _ in range(ROWS)
    ]
    return Table(passage.id, text_hash(passage.text), scheme, "made", "1", tuple(rows))


def made_classes(scheme: str, passage: Passage, question: Question, draw: random.Random) -> QuestionClasses:
    def number() -> str:
        return str(draw.randint(0, 99))

    copies = tuple(
        Copy(
            f"the numbers of obj are drawn anew ({each})",
            tuple(ChangedCell(draw.randrange(ROWS), "obj", number(), number()) for _ in range(6)),
        )
        for each in range(COPIES)
    )
    classes = []
    for _ in range(CLASSES):
        combined = draw.random()
        start = draw.randrange(len(passage.text) - 20)
        forms = draw.randint(1, 10**6)
        form = f"(extract_number (filter_in all_structures relation:obj string:{number()}) relation:nmod:in)"
        on_copies = tuple((number(),) for _ in copies)
        scores = {judge: draw.random() for judge in JUDGES}
        why = f"Its combined score is {combined:.2f}; it accounts for {number()}% of the question's words."
        cells = ((start, start + 20),)
        classes.append(
            FormClass(
                form, forms, forms, forms, ("15",), on_copies, cells, scores, combined, combined >= 0.5, why
            )
        )
    forms = sum(one.forms for one in classes)
    answer = question.references[0].texts()
    return QuestionClasses(
        question.id,
        passage.id,
        scheme,
        question.text,
        answer,
        "number",
        forms,
        True,
        True,
        copies,
        tuple(classes),
        met=CLASSES,
        dropped=0.8,
    )


if __name__ == "__main__":
    main()
