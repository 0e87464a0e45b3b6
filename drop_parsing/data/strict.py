"""The DROP metric with the faults of the official one mended: ``--metric strict``.

It tells right from wrong better and is not comparable with published figures. What it mends is listed in
:func:`score_answer`.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from drop_parsing.data.alignment import align
from drop_parsing.data.types import Answer, AnswerDate

_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2212"
_PLAIN_DASHES = str.maketrans(_DASHES, "-" * len(_DASHES))
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+"
_TOKEN = re.compile(rf"(?<![\w.])-(?:{_NUMBER})(?!\w)|(?<![\w.]),?(?:{_NUMBER})(?![\w])|[^\W_]+(?:'[^\W_]+)*")
_WHOLE_NUMBER = re.compile(rf"[-+]?[$£€]?(?:{_NUMBER})\s?%?\.?")
_ARTICLES = frozenset(("a", "an", "the"))
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split(" ")
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ")
