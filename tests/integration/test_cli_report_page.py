"""The page of ``search --report``: self-contained, safe with any text, and right in a real browser."""

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

Write = Callable[[str, Any], Path]
INJECTIONS = (
    "<script>document.title = 'broken in'</script>",
    '"><img src=x onerror="document.title = \'broken in\'">',
    "'><svg/onload=alert(1)>",
    "</title></style></details><b>bold</b>",
    "{{ 7 * 191 }}{% raw %}",
    "&lt;i&gt;",
)


class Elements(HTMLParser):
    """Every element with its attributes, and the text outside of ``style``."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.elements[-1:] and self.elements[-1][0] != "style":
            self.text += data


def injected(injection: str) -> dict[str, Any]:
    """One covered and one uncovered question with the injection in every string."""
    passage = f"Ada sold 15 boats {injection} in 1914. Bram sold 81 boats."
    pairs = [
        {"query_id": f"q{injection}", "question": f"Who {injection} sold?", "answer": {"spans": ["Bram"]}},
        {"query_id": f"n{injection}", "question": f"Why {injection}?", "answer": {"spans": [injection]}},
        {"query_id": f"m{injection}", "question": "How many?", "answer": {"spans": [f"{injection} 1 2 3"]}},
    ]
    return {f"p{injection}": {"passage": passage, "qa_pairs": pairs}}


@pytest.mark.parametrize("injection", INJECTIONS)
def test_text_stays_text(run: Callable[..., Any], write: Write, tmp_path: Path, injection: str) -> None:
    path = write("injected.json", injected(injection))
    done = run("search", path, "--max-size", "1", "--report", "page.html", "--json")
    assert done.code == 0
    assert done.json["covered"] >= 1
    page = (tmp_path / "page.html").read_text()
    found = Elements(page)
    assert {tag for tag, _ in found.elements}.isdisjoint({"script", "img", "svg", "iframe", "object", "link"})
    assert not any(name.startswith("on") for _, attributes in found.elements for name in attributes)
    assert f"Who {injection} sold?" in found.text
    assert f"Why {injection}?" in found.text
    assert f"boats {injection} in 1914" in found.text
    assert str(7 * 191) not in found.text
    assert page.count("</title>") == 1


def test_the_page_needs_nothing_else(run: Callable[..., Any], small: Path, tmp_path: Path) -> None:
    done = run("search", small, "--max-size", "1", "--report", "deep/er/page.html")
    assert done.code == 0
    assert done.err == "report: deep/er/page.html\n"
    page = (tmp_path / "deep/er/page.html").read_text()
    assert not re.search(r"https?://|//\w+\.\w+/|@import|url\(", page)
    found = Elements(page)
    assert not any(name in attributes for _, attributes in found.elements for name in ("src", "href"))
    policies = [a["content"] for tag, a in found.elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert len(policies) == 1
    assert policies[0] is not None
    assert "default-src 'none'" in policies[0]
    ids = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_the_same_search_gives_the_same_page(run: Callable[..., Any], small: Path, tmp_path: Path) -> None:
    pages = []
    for cache in ("fresh", "fresh", "other"):
        run("search", small, "--max-size", "1", "--report", "page.html", "--cache", cache)
        pages.append((tmp_path / "page.html").read_text())
    assert pages[0] == pages[1] == pages[2].replace("--cache other", "--cache fresh")


def test_the_page_names_what_makes_it(run: Callable[..., Any], small: Path, tmp_path: Path) -> None:
    run("search", "small.json", "--max-size", "1", "--report", "a page.html")
    text = Elements((tmp_path / "a page.html").read_text()).text
    assert "drop-parsing search small.json --max-size 1 --report 'a page.html'" in text


def test_in_a_browser(
    run: Callable[..., Any], small: Path, tmp_path: Path, opened: Callable[[Path], tuple[Any, list[str]]]
) -> None:
    figures = run("search", small, "--max-size", "1", "--report", "page.html", "--json").json
    page, said = opened(tmp_path / "page.html")
    assert said == []
    assert "small.json" in page.title()
    assert page.get_attribute("html", "lang") == "en"
    assert page.locator("h1").count() == 1
    assert page.locator("body > details").count() == figures["covered"]
    assert f"{figures['coverage']:.1f}%" in page.locator("table").first.inner_text()
    assert "Zanzibar" in page.locator("body > ul").inner_text()
    # By keyboard: the first stop is the first question, which opens and closes.
    question = page.locator("body > details").first
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    assert question.get_attribute("open") is None
    page.keyboard.press("Enter")
    assert question.get_attribute("open") == ""
    assert question.locator("mark").first.is_visible()
    page.keyboard.press("Space")
    assert question.get_attribute("open") is None
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.set_viewport_size({"width": 360, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_marked_is_what_the_form_rests_on(
    run: Callable[..., Any], small: Path, tmp_path: Path, opened: Callable[[Path], tuple[Any, list[str]]]
) -> None:
    run("search", small, "--max-size", "1", "--report", "page.html")
    page, _ = opened(tmp_path / "page.html")
    text = json.loads(small.read_text())["boats"]["passage"]
    forms = page.locator("#syndep-q-sum > details:has(code)")
    assert forms.count() >= 1
    for i in range(forms.count()):
        form = forms.nth(i).locator("code").text_content()
        pieces = (
            forms.nth(i)
            .locator("p")
            .evaluate("p => [...p.childNodes].map(node => [node.textContent, node.nodeName === 'MARK'])")
        )
        assert "".join(piece for piece, _ in pieces) == text
        marked = [mark for piece, mark in pieces for _ in piece]
        cells = [
            (cell["start"], cell["end"])
            for step in run("execute", form, small, "--passage", "boats", "--json").json["steps"]
            for cell in step["cells"]
        ]
        assert cells
        assert marked == [any(start <= i < end for start, end in cells) for i in range(len(text))]
        assert all(number in "".join(piece for piece, mark in pieces if mark) for number in ("15", "81"))


def test_injections_in_a_browser(
    run: Callable[..., Any], write: Write, tmp_path: Path, opened: Callable[[Path], tuple[Any, list[str]]]
) -> None:
    documents = {id: document for injection in INJECTIONS for id, document in injected(injection).items()}
    run("search", write("injected.json", documents), "--max-size", "1", "--report", "page.html")
    page, said = opened(tmp_path / "page.html")
    assert said == []
    assert "broken in" not in page.title()
    assert page.locator("script, img, svg").count() == 0
    text = page.locator("body").text_content()
    assert all(injection in text for injection in INJECTIONS)
