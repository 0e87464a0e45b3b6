"""The page of spuriousness in a real browser: found, chosen, compared and printed; any text stays text."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from drop_parsing.analysis.intervals import Proportion
from drop_parsing.analysis.judged import Spuriousness
from drop_parsing.analysis.judgement import Judgement
from drop_parsing.analysis.overview import overview
from drop_parsing.reports.spuriousness_page import write_page
from tests.drop_parsing.spurious_cases import (
    BROOK,
    GOALS,
    HALE,
    HOSTILE,
    PASSAGES,
    analysis,
    questions,
    tables,
)

Opened = Callable[..., tuple[Any, list[str]]]
Write = Callable[..., Path]


@pytest.fixture
def written(tmp_path: Path) -> Write:
    """Write the page of an analysis, by default that of the hand-made cases."""

    def write(found: Spuriousness | None = None, judgement: Judgement | None = None) -> Path:
        found = found or analysis()
        path = tmp_path / "page.html"
        held = tables()
        write_page(
            path, found, overview(found, PASSAGES, held), held, judgement, "made.json", "drop-parsing x"
        )
        return path

    return write


@pytest.fixture
def explorer(written: Write, opened: Opened) -> Any:
    """The page opened, with its list there."""
    return ready(opened(written())[0])


def ready(page: Any) -> Any:
    page.wait_for_selector("body[data-ready]")
    return page


def shown(page: Any) -> str:
    text: str = page.locator("#question-title").text_content()
    return text


def listed(page: Any) -> list[str]:
    texts: list[str] = page.locator("#questions a").evaluate_all("links => links.map(a => a.firstChild.data)")
    return texts


# ---- The file ----


def test_the_page_needs_nothing_else(written: Write) -> None:
    page = written().read_text()
    assert not re.search(r"https?://(?!www\.w3\.org)|@import|url\(", page)
    assert not re.search(r"<[^>]* (on\w+|src|style)=", page.partition('<script type="application/gzip"')[0])
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert "default-src &#39;none&#39;" in policy[1]
    assert "unsafe" not in policy[1]


def test_the_same_analysis_gives_the_same_bytes(written: Write) -> None:
    assert written().read_bytes() == written().read_bytes()


def test_no_text_is_in_the_page_as_markup(written: Write) -> None:
    page = written().read_text()
    assert "<img" not in page
    assert page.count("</script>") == page.count("<script")


# ---- The summary ----


def test_the_summary_has_the_figures(written: Write, opened: Opened) -> None:
    judgement = Judgement(
        {"syndep": Proportion(8, 60), "openie": Proportion(0, 3)},
        *(Proportion(number, 9) for number in (5, 6, 7, 8)),
        undecided=4,
        unmatched=0,
    )
    page, said = opened(written(judgement=judgement))
    assert said == []
    assert page.title() == "Spuriousness of made.json"
    row = page.get_by_role("row", name=re.compile("^syndep 3 2 1 1")).first.inner_text()
    assert "75.0%" in row
    assert "33.3% [6.1, 79.2], 1 of 3" in row
    assert "25.0%" in page.get_by_role("row", name=re.compile("^any 4 2")).inner_text()
    assert page.get_by_role("row", name="contrast").inner_text().endswith("–\t–")
    by_hand = page.locator("h2:text('Judged by hand') + div").inner_text()
    assert "13.3% [6.9, 24.2], 8 of 60" in by_hand
    assert "any scheme" in by_hand
    assert "4 rows have no right form" in page.locator("main").inner_text()


def test_without_a_judged_sheet_nothing_is_said_of_one(explorer: Any) -> None:
    assert explorer.locator("text=Judged by hand").count() == 0


def test_what_agrees_with_decompositions_is_shown_where_there_are_some(
    written: Write, opened: Opened
) -> None:
    page, _ = opened(written(replace(analysis(), decomposed=frozenset({"q-hale", "q-who"}))))
    table = page.get_by_role("table", name="Questions that have a decomposition: 2")
    assert "50.0% [9.5, 90.5], 1 of 2" in table.get_by_role("row", name="syndep").inner_text()
    assert "0.0% [0.0, 79.3], 0 of 1" in table.get_by_role("row", name="openie").inner_text()
    assert "50.0% [9.5, 90.5], 1 of 2" in table.get_by_role("row", name="any").inner_text()
    assert opened(written())[0].get_by_text("that have a decomposition").count() == 0


def test_contrast_sets_are_shown_where_there_are_some(written: Write, opened: Opened) -> None:
    hale, *others = questions()
    two = [replace(hale, query_id=f"kicked_{number}") for number in (1, 2)]
    page, _ = opened(written(replace(analysis(), questions=[*two, *others])))
    table = page.get_by_role("table", name="Contrast sets: 1")
    assert "100.0% [20.7, 100.0], 1 of 1" in table.get_by_role("row", name="syndep").inner_text()
    assert opened(written())[0].get_by_text("Contrast sets").count() == 0


# ---- The list ----


def test_search_looks_in_question_answer_and_id(explorer: Any) -> None:
    find = explorer.get_by_role("searchbox")
    for words, found in {
        "KICK goals": ["How many goals did Hale kick?", "Who kicked goals?"],
        "brook hale": ["Who kicked goals?"],
        "q-when": ["When </script> was it?"],
        "nowhere": [],
        "  ": [
            "How many goals did Hale kick?",
            "Who kicked goals?",
            *(q.text for q in PASSAGES[1].questions),
        ],
    }.items():
        find.fill(words)
        assert listed(explorer) == found
        assert explorer.locator("#found").inner_text() == f"{len(found)} of 4 questions"


@pytest.mark.parametrize(
    ("scheme", "kind", "status", "found"),
    [
        ("any", "any", "some kept", ["q-hale"]),
        ("any", "any", "all dropped", ["q & <i>=+"]),
        ("any", "any", "no form", ["q-hale", "q-who", "q-when"]),
        ("syndep", "any", "no form", ["q-who"]),
        ("openie", "any", "any", ["q-hale", "q & <i>=+", "q-when"]),
        ("any", "spans", "any", ["q-who"]),
        ("openie", "number", "some kept", []),
    ],
)
def test_filters(explorer: Any, scheme: str, kind: str, status: str, found: list[str]) -> None:
    explorer.get_by_label("Scheme", exact=True).select_option(label=scheme)
    explorer.get_by_label("Answer", exact=True).select_option(label=kind)
    explorer.get_by_label("Classes", exact=True).select_option(label=status)
    texts = {question.id: question.text for passage in PASSAGES for question in passage.questions}
    assert listed(explorer) == [texts[id] for id in found]


def test_long_lists_have_pages(written: Write, opened: Opened) -> None:
    found = analysis()
    many = [replace(questions()[0], query_id=f"q{n}", question=f"Question {n}?") for n in range(250)]
    page = ready(opened(written(replace(found, questions=many)))[0])
    assert listed(page) == [f"Question {n}?" for n in range(100)]
    assert page.get_by_label("Earlier questions").is_disabled()
    page.get_by_label("Further questions").click()
    page.get_by_label("Further questions").click()
    assert listed(page) == [f"Question {n}?" for n in range(200, 250)]
    assert page.locator("#range").inner_text() == "201 to 250"
    assert page.get_by_label("Further questions").is_disabled()
    # By key over the border of two pages, and a link to a question far down the list.
    page.get_by_label("Earlier questions").click()
    page.locator("#questions a").first.focus()
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.firstChild.data") == "Question 99?"
    page.evaluate("location.hash = '#q=q222'")
    page.wait_for_function("document.querySelector('#question-title')?.textContent === 'Question 222?'")
    assert page.locator("#questions [aria-current]").get_attribute("href") == "#q=q222"


# ---- The chosen question ----


def test_a_click_shows_the_question(explorer: Any) -> None:
    explorer.get_by_role("link", name="How many goals did Hale kick?").click()
    explorer.wait_for_selector("#question-title:focus")
    assert explorer.evaluate("location.hash") == "#q=q-hale"
    text = explorer.locator("#question").inner_text()
    assert "1.0 × 10¹⁵ consistent forms in 3 classes, of which 1 is kept." in text
    assert "met in a sample" in text
    assert "Its words are those of the question." in text
    assert "about 1.0 × 10¹⁵ (9.0 × 10¹⁴ to 1.1 × 10¹⁵) forms" in text
    assert explorer.locator(".classes code").all_inner_texts()[:2] == [HALE, BROOK]
    assert explorer.locator(".kept").count() == 1
    assert "qdmr –" in text
    assert explorer.locator("#said").text_content() == "Shown: How many goals did Hale kick?"


def marks(page: Any, selector: str) -> list[str]:
    texts: list[str] = page.locator(f"{selector} mark").all_text_contents()
    return texts


def test_marked_is_what_the_class_rests_on(written: Write, opened: Opened) -> None:
    page, said = opened(written(), "#q=q-hale")
    page.wait_for_selector("#question-title")
    assert marks(page, ".paragraph") == ["Hale", "3 goals"]
    assert page.locator(".paragraph").text_content() == GOALS
    assert marks(page, "#question tbody tr:nth-child(2)") == ["Hale", "3 goals"]
    page.get_by_role("radio").nth(2).check()
    assert marks(page, ".paragraph") == ["3 days"]
    page.get_by_role("radio").nth(2).press("ArrowUp")
    assert marks(page, ".paragraph") == ["3 goals"]
    assert page.locator(".paragraph").text_content() == GOALS
    assert said == []


def test_what_tells_two_classes_apart(written: Write, opened: Opened) -> None:
    page, _ = opened(written(), "#q=q-hale")
    page.wait_for_selector("#question-title")
    compare = page.get_by_label("Compare with")
    text = page.locator("#question")
    assert "2 of 2 fictitious tables tell class 1 from class 2." in text.inner_text()
    assert "Class 1 gives 8, class 2 3." in text.inner_text()
    row = page.get_by_role("row", name="2 kicked obj 3 goals 8 goals")
    assert row.locator("mark").all_text_contents() == ["8"]
    assert not page.get_by_role("row", name="3 fell fell dropped").is_visible()
    page.get_by_text("Fictitious table 2: row 3 is dropped").click()
    assert page.get_by_role("row", name="3 fell fell dropped").is_visible()
    compare.select_option(label="class 3")
    assert "Class 1 gives 3, class 3 undefined." in text.inner_text()
    # The changed cell that neither of them rests on is folded up.
    page.get_by_text("Fictitious table 2: row 3 is dropped").click()
    page.get_by_text("1 other changed cell", exact=True).click()
    assert page.get_by_role("row", name="1 kicked obj 3 goals 5 goals").is_visible()
    page.get_by_role("radio").nth(1).check()
    # The first class that fared otherwise comes first.
    assert compare.evaluate("select => select.selectedOptions[0].text") == "class 1"
    compare.select_option(label="class 3")
    assert "1 of 2 fictitious tables tells class 2 from class 3." in text.inner_text()
    assert page.get_by_role("row", name="3 fell fell dropped").count() == 1
    page.get_by_text("Denotations on every fictitious table").click()
    assert page.get_by_role("row", name="3 dropped 3 3 undefined").is_visible()


def test_schemes_are_links_of_their_own(written: Write, opened: Opened) -> None:
    page, _ = opened(written(), "#q=q-hale&scheme=openie")
    page.wait_for_selector("#question-title")
    assert "No form reaches the answer." in page.locator("#question").inner_text()
    assert "The cache no longer has this table." in page.locator("#question").inner_text()
    page.get_by_role("group", name="Scheme").get_by_role("link", name="syndep").click()
    page.wait_for_selector(".classes")
    assert page.evaluate("document.activeElement.textContent") == "syndep"
    page.go_back()
    page.wait_for_function("!document.querySelector('.classes')")


def test_the_filter_chooses_the_scheme(explorer: Any) -> None:
    explorer.get_by_label("Scheme", exact=True).select_option(label="openie")
    explorer.get_by_role("link", name="How many goals did Hale kick?").click()
    explorer.wait_for_selector("#question-title")
    assert explorer.locator(".tabs [aria-current]").inner_text() == "openie"


def test_any_text_stays_text(written: Write, opened: Opened) -> None:
    page, said = opened(written(), "#q=" + "q%20%26%20%3Ci%3E%3D%2B")
    page.wait_for_selector("#question-title")
    assert shown(page) == "How many <b>boats</b> did Ada sell?"
    assert page.locator(".paragraph").text_content() == HOSTILE
    assert marks(page, ".paragraph") == ["15 boats"]
    assert "The search was stopped" not in page.locator("#question").inner_text()
    assert page.locator("img, b b, i").count() == 0
    assert "broken in" not in page.title()
    page.evaluate("location.hash = '#q=<img src=x onerror=alert(1)>'")
    page.wait_for_selector("#question [role=alert]")
    assert "This page has no question <img" in page.locator("#question").inner_text()
    assert said == []


def test_back_and_forward(explorer: Any) -> None:
    for link in ("How many goals did Hale kick?", "Who kicked goals?"):
        explorer.get_by_role("link", name=link).click()
        explorer.wait_for_function(
            "text => document.querySelector('#question-title')?.textContent === text", arg=link
        )
    explorer.go_back()
    explorer.wait_for_function("document.querySelector('#question-title').textContent.includes('Hale')")
    assert "Hale" in explorer.locator("#questions [aria-current]").inner_text()


# ---- Keys, eyes and paper ----


def test_by_keyboard_alone(explorer: Any) -> None:
    keyboard = explorer.keyboard
    keyboard.press("/")
    assert explorer.evaluate("document.activeElement.id") == "find"
    keyboard.type("kick")
    keyboard.press("ArrowDown")
    explorer.wait_for_selector("#question-title")
    keyboard.press("ArrowDown")
    explorer.wait_for_function(
        "document.querySelector('#question-title').textContent === 'Who kicked goals?'"
    )
    assert explorer.evaluate("document.activeElement.getAttribute('aria-current')") == "true"
    keyboard.press("ArrowUp")
    keyboard.press("Enter")
    explorer.wait_for_selector("#question-title:focus")
    assert shown(explorer) == "How many goals did Hale kick?"
    keyboard.press("Escape")
    assert explorer.evaluate("document.activeElement.firstChild.data") == "How many goals did Hale kick?"
    keyboard.press("ArrowUp")
    keyboard.press("Escape")
    assert explorer.locator("#find").input_value() == ""
    assert len(listed(explorer)) == 4


CONTRASTS = """() => {
  // The WCAG contrast of every text with the nearest background that is painted behind it.
  const luminance = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).map(Number).map((c) => c / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const painted = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (color !== "rgba(0, 0, 0, 0)") return color;
    }
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.matches("button:disabled")) continue;
    const [a, b] = [luminance(getComputedStyle(element).color), luminance(painted(element))].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), walker.currentNode.data]);
  }
  return found;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_can_be_read(written: Write, opened: Opened, scheme: str) -> None:
    page, _ = opened(written(), "#q=q-hale")
    page.wait_for_selector("#question-title")
    page.emulate_media(color_scheme=scheme)
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
    assert dark == (scheme == "dark")
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 100
    assert min(contrasts)[0] >= 4.5, min(contrasts)


@pytest.mark.parametrize("width", [1280, 640, 360])
def test_nothing_is_wider_than_the_window(written: Write, opened: Opened, width: int) -> None:
    page, _ = opened(written(), "#q=q-hale")
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_selector("#question-title")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_every_control_has_a_name(written: Write, opened: Opened) -> None:
    page, _ = opened(written(), "#q=q-hale")
    page.wait_for_selector("#question-title")
    for role, number in {"searchbox": 1, "combobox": 4, "radio": 3, "button": 2, "navigation": 1}.items():
        controls = page.get_by_role(role)
        assert controls.count() == number, role
        assert page.get_by_role(role, name=re.compile(r"\w")).count() == number, role
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(element => element.id)")
    assert len(ids) == len(set(ids))


def test_on_paper(written: Write, opened: Opened) -> None:
    """All of the summary and the chosen question, with nothing folded up, and no controls."""
    page, _ = opened(written(), "#q=q-hale")
    page.wait_for_selector("#question-title")
    page.locator("main details summary").click()
    page.emulate_media(media="print")
    assert not page.locator("#finder").is_visible()
    assert not page.get_by_label("Compare with").is_visible()
    for text in ("By scheme", "Classes of a question", GOALS, "tell class 1 from class 2"):
        assert page.get_by_text(text).first.is_visible(), text
    folded = "document.querySelectorAll('details:not([open])').length"
    assert page.evaluate(folded) == 3
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(folded) == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(folded) == 3
