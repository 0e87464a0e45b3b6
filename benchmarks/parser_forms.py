"""Whether a trained parser ever decodes a form that is none: every form of every beam is checked and executed.

    python benchmarks/parser_forms.py RUN dev.json [--beam 10] [--cache data_cache]

A violation is a form that the type checker of the question's language refuses, or whose execution raises. Prints how
many forms there were, how many of them have no denotation (which is no violation), and the violations.
"""

import argparse
import json
from pathlib import Path

from drop_parsing.data.reading import read_all
from drop_parsing.parser.answering import parse_questions
from drop_parsing.parser.predicting import read_for
from drop_parsing.parser.run_files import load_parser
from extractors.remote import place_of
from grammar.executor import execute
from grammar.forms import Form
from grammar.language import Language


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path)
    parser.add_argument("input", type=Path)
    parser.add_argument("--beam", type=int, default=10)
    parser.add_argument("--cache", default="data_cache")
    given = parser.parse_args()
    setup, model = load_parser(given.run)
    passages = read_all([given.input])[0]
    asked = read_for(given.run, setup, passages, place_of(given.cache))[0].questions
    forms = undefined = 0
    violations: list[dict[str, str]] = []
    parses = parse_questions(model, setup.collator(), asked, given.beam)
    for (question, language), parsed in zip(asked, parses, strict=True):
        for candidate in parsed.beam:
            forms += 1
            undefined += not candidate.denotation
            fault = violation(candidate.form, language)
            if fault:
                violations.append({"question": question.id, "form": str(candidate.form), "fault": fault})
    print(json.dumps({"questions": len(asked), "forms": forms, "undefined": undefined}))
    print(json.dumps({"violations": len(violations), "first": violations[:10]}))


def violation(form: Form, language: Language) -> str | None:
    """Why a form is none of the language, or cannot be executed; None where it is and can."""
    try:
        execute(language.check(str(form)), language)
    except Exception as error:  # of whatever kind: each is a violation
        return f"{type(error).__name__}: {error}"
    return None


if __name__ == "__main__":
    main()
