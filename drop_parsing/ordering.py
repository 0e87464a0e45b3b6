"""Which forms suit a question, without learning: the agenda of the original baseline as a score.

A form is liked for what it shares with the question (its words, numbers and dates, the functions that its words call
for) and disliked for each function in it, so that of forms that share as much the shortest comes first. The scores of
a parser stand in the same place (``grammar.ranking.Scorer``).
"""

import re
from collections.abc import Mapping

from grammar.ranking import Scorer

#: Functions with what in a question calls for them.
TRIGGERS: Mapping[str, str] = {
    "count_structures": r"how many|number of",
    "count_phrases": r"how many (?!points|yards|years|months|days|percent)|number of",
    "count_entities": r"how many (?!points|yards|years|months|days|percent)",
    "sum": r"total|combined|altogether|in all|sum\b|how many (points|yards|goals)",
    "average": r"average|mean\b|on average",
    "diff": r"differen|how many \w* ?(more|fewer|less|longer|shorter)|how much (more|less|larger)|left\b|than\b",
    "add": r"total|combined|together|\band\b|either|\bor\b",
    "complement": r"\bnot\b|n't\b|percent.*\b(non|other)\b",
    "max": r"most\b|largest|longest|highest|greatest|biggest|maximum",
    "argmax": r"most\b|largest|longest|highest|greatest|biggest|latest|last\b",
    "min": r"least\b|smallest|shortest|lowest|fewest|minimum",
    "argmin": r"least\b|smallest|shortest|lowest|fewest|earliest|first\b",
    "first": r"\bfirst|\binitial|\btop\b|begin|start",
    "last": r"\blast\b|\bfinal|\bend\b",
    "previous": r"previous|before|above|prior",
    "next": r"next|after|below|then\b",
    "filter_number_greater": r"(more|greater|larger|longer|over|above)\b",
    "filter_number_greater_equals": r"at least|or more|or longer|no (less|fewer)",
    "filter_number_lesser": r"(less|fewer|smaller|shorter|under|below)\b",
    "filter_number_lesser_equals": r"at most|or less|or fewer|no (more|greater|larger)",
    "filter_date_greater": r"after|since|later",
    "filter_date_lesser": r"before|until|earlier",
    "filter_not_in": r"\bnot\b|n't\b|other than|besides|except",
    "compare_greater": r"\bor\b.*|more|larger|longer|greater|higher",
    "compare_lesser": r"\bor\b.*(less|fewer|smaller|shorter|lower)",
    "compare_earlier": r"first\b|earlier|before",
    "compare_later": r"last\b|later|after|second\b",
    "compare_more": r"more\b|most\b",
    "year_diff": r"how (many years|long)|years (passed|between|after|before|did)",
    "month_diff": r"how many months",
    "day_diff": r"how many days",
    "year": r"(what|which) year",
    "extract_date": r"\bwhen\b|(what|which) (date|day|month|year)",
    "both": r"\band\b|both|which \w+s\b|who\b.*and",
}
#: What a question rarely means: rows without a word, and a whole clause where an argument would do.
EVASIVE = frozenset(
    {"filter_not_in", "filter_number_not_equals", "filter_date_not_equals", "union", "relation:clause"}
)

_FUNCTION, _CALLED, _NAMED, _LONGER, _EVASIVE = -1.0, 1.5, 2.0, 0.5, -1.0


def agenda(question: str) -> Scorer:
    """The score of forms for a question."""
    asked = question.lower()
    called = {name for name, pattern in TRIGGERS.items() if re.search(pattern, asked)}

    def score(name: str, leaves: tuple[str, ...]) -> float:
        total = _FUNCTION + _CALLED * (name in called) + _EVASIVE * (name in EVASIVE)
        for leaf in leaves:
            total += _EVASIVE * (leaf in EVASIVE)
            if not leaf.startswith(("relation:", "part:")) and name not in EVASIVE:
                total += _NAMED + _LONGER * leaf.count("_")
        return total

    return score
