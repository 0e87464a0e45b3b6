"""The noun that a number counts or measures, by the words that follow it. No tagger: word lists and endings.

- A noun joined by a hyphen is the unit as it stands: "45-yard field goal" is in yards.
- After a number other than one the unit is the first of the next words that looks like a plural or is a
  measure: "three late touchdowns", "two field goals" and "1500 French soldiers" give touchdown, goal,
  soldier, while "a 17-10 lead" gives none.
- After one, an ordinal or a fraction it is the next word that is not a known modifier: "first quarter",
  "one late touchdown".
- Punctuation and function words end the search: "three of the ships" has no unit.
"""

import re

#: Every character that joins two numbers or a number and its noun.
DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212"


def word_set(words: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(words.split())


#: Abbreviations and invariable nouns that may follow a number as they are.
MEASURES = word_set(
    """m km cm mm ft mi yd kg g lb mph kph hp ha oz kw mw sq km2 m2 yard mile foot meter metre kilometer
    kilometre aircraft cattle crew deer fish offspring people police sheep species yen yuan baht won rand
    infantry cavalry personnel"""
)
_IRREGULAR = {
    "men": "man",
    "women": "woman",
    "children": "child",
    "feet": "foot",
    "teeth": "tooth",
    "mice": "mouse",
    "geese": "goose",
    "lives": "life",
    "wives": "wife",
    "knives": "knife",
    "wolves": "wolf",
    "halves": "half",
    "thieves": "thief",
    "loaves": "loaf",
    "buses": "bus",
    "viruses": "virus",
    "campuses": "campus",
    "bonuses": "bonus",
    "movies": "movie",
    "zombies": "zombie",
    "cookies": "cookie",
    "shoes": "shoe",
    "canoes": "canoe",
    "crises": "crisis",
    "bases": "base",
    "yarders": "yard",
    "yarder": "yard",
    "yds": "yd",
    "lbs": "lb",
    "km²": "km",
}
#: Words that end the search for a unit.
_STOP = word_set(
    """fought struck sent met built grew fell rose stood brought bought sought drew flew wrote drove broke
    chose a an the this that these those his her its their our my your each every any all both some no
    such who whom whose which what when where why how while if then than as so too also only just even
    still yet already again ever never not nor and or but of in on at to by for from with without within
    into onto upon over under up down out off about above below after before against along among around
    across behind beside besides between beyond despite during except inside outside near past per plus
    since through throughout till until toward towards versus vs via like unlike because although though
    whether however thus hence instead perhaps sometimes always often once twice he she it they we you i
    him them us is was are were be been being am has have had do does did will would can could may might
    must shall should there here now ago away back home respectively alone together left remaining went
    came made took gave got led won lost ran threw beat kept said says became began held set put found
    saw hit caught kicked makes gives takes puts goes gets leads wins loses scores throws runs apiece
    overall max min etc afterwards afterward zero one two three four five six seven eight nine ten
    eleven twelve hundred thousand million billion first third fourth fifth non others strong"""
)
_MODIFIERS = word_set(
    """more other another additional further extra different consecutive straight separate late early
    short long big small large great good new old young own single final last next only such major minor
    main whole full entire little high low quick former latter key crucial official actual overall true
    real successful most least best worst few rushing passing scoring winning highest lowest largest
    biggest smallest longest shortest oldest youngest fastest"""
)
_NOT_PLURAL = re.compile(r".*(?:ss|us|is|'s|wards)$|.{0,2}$")
_JOINED = re.compile(rf"(?P<space>\s)?[{DASHES}](?(space)\s)(?P<word>[a-z]+)\b")
_WORD = re.compile(rf"(?:[{DASHES}]|\s++|&#160;|&nbsp;)([^\W\d_](?:[^\W_]|['\u2019](?=\w))*+)")
_VERBLIKE = re.compile(r".{2,}(?:[^e]ed|ied|ly|ing)$")
_NOUNS_LIKE_VERBS = word_set("family assembly rally ally anomaly king ring wing inning string spring")
_MAX_WORDS = 4


def singular(noun: str) -> str:
    """The singular of a lower-case English noun by rule; a word that is none comes back as it is."""
    if noun in _IRREGULAR:
        return _IRREGULAR[noun]
    if noun in MEASURES or _NOT_PLURAL.match(noun) or not noun.endswith("s"):
        return noun
    if noun.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y"
    if noun.endswith(("sses", "ches", "shes", "xes", "zzes", "oes")):
        return noun[:-2]
    return noun[:-1]


def is_plural(noun: str) -> bool:
    """Whether a lower-case word can be counted as it stands: a plural by its form, or a measure."""
    if noun in _STOP:
        return False
    return noun in MEASURES or noun in _IRREGULAR or (noun.endswith("s") and not _NOT_PLURAL.match(noun))


def counted(text: str, end: int) -> bool:
    """Whether the word right after ``end`` is a plural or a measure, so that a number before it counts."""
    word = _WORD.match(text, end)
    return word is not None and word.group(1) != "Games" and is_plural(word.group(1).lower())


def unit_after(text: str, end: int, *, many: bool) -> tuple[str | None, int]:
    """The unit of the number that ends at ``end``, and where its noun ends (``end`` where there is none).

    ``many``: the number is a count other than one, so that its noun is a plural or a measure.
    """
    if text.startswith("°", end) or text.startswith(" °", end):
        return "°", end + 1 + (text[end] == " ")
    place, power = end, ""
    if joined := _JOINED.match(text, end):
        word, place = joined.group("word"), joined.end()
        if word in _STOP or (_VERBLIKE.match(word) and word not in _NOUNS_LIKE_VERBS):
            return None, end
        if word not in _MODIFIERS:
            return singular(word), place
    for _ in range(_MAX_WORDS):
        match = _WORD.match(text, place)
        word = match.group(1).lower().replace("\u2019", "'") if match else ""
        if match is None or word in _STOP:
            break
        if word.endswith(("'s", "s'")):
            word = word.rstrip("s").rstrip("'")
        many = many or word == "few"
        if word in ("square", "cubic", "sq"):
            power = "square " if word == "sq" else word + " "
        elif _is_unit(word, match.group(1), many):
            return power + singular(word), match.end()
        place = match.end()
    return None, end


def _is_unit(word: str, surface: str, many: bool) -> bool:
    if many:
        return is_plural(word)
    if word in _MODIFIERS or surface[0].isupper():
        return False
    return word in _NOUNS_LIKE_VERBS or not _VERBLIKE.match(word)
