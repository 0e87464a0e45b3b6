"""Any spaCy pipeline as a parser, transformer ones included: what one lacks is made up for, as far as it can be."""

import hashlib
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc, Token

from extractors.annotate import SpacyAnnotator, load_pipeline

#: Components that pad the documents of a batch to one length.
TRANSFORMERS = frozenset({"transformer", "curated_transformer"})

# fmt: off
#: Penn tag -> universal part of speech.
PENN = {
    "$": "SYM", "''": "PUNCT", ",": "PUNCT", "-LRB-": "PUNCT", "-RRB-": "PUNCT", ".": "PUNCT",
    ":": "PUNCT", "ADD": "X", "AFX": "ADJ", "CC": "CCONJ", "CD": "NUM", "DT": "DET", "EX": "PRON",
    "FW": "X", "HYPH": "PUNCT", "IN": "ADP", "JJ": "ADJ", "JJR": "ADJ", "JJS": "ADJ", "LS": "X",
    "MD": "AUX", "NFP": "PUNCT", "NN": "NOUN", "NNP": "PROPN", "NNPS": "PROPN", "NNS": "NOUN",
    "PDT": "DET", "POS": "PART", "PRP": "PRON", "PRP$": "PRON", "RB": "ADV", "RBR": "ADV",
    "RBS": "ADV", "RP": "ADP", "SYM": "SYM", "TO": "PART", "UH": "INTJ", "VB": "VERB",
    "VBD": "VERB", "VBG": "VERB", "VBN": "VERB", "VBP": "VERB", "VBZ": "VERB", "WDT": "PRON",
    "WP": "PRON", "WP$": "PRON", "WRB": "ADV", "XX": "X", "``": "PUNCT",
}
#: Dependency label, ClearNLP or universal -> the part of speech that it most often has.
LABELS = {
    "ROOT": "VERB", "acl": "VERB", "acl:relcl": "VERB", "acomp": "ADJ", "advcl": "VERB",
    "advmod": "ADV", "agent": "ADP", "amod": "ADJ", "aux": "AUX", "aux:pass": "AUX",
    "auxpass": "AUX", "case": "ADP", "cc": "CCONJ", "ccomp": "VERB", "cop": "AUX", "det": "DET",
    "expl": "PRON", "intj": "INTJ", "mark": "SCONJ", "neg": "PART", "nummod": "NUM",
    "parataxis": "VERB", "pcomp": "VERB", "prep": "ADP", "prt": "ADP", "punct": "PUNCT",
    "quantmod": "ADV", "relcl": "VERB", "xcomp": "VERB",
}
# fmt: on


def spacy_annotator(name: str | None = None) -> SpacyAnnotator:
    """The annotator over the pipeline of that name or path, or over the first default that is installed.

    Raises ``PipelineError`` where there is none or it does not parse.
    """
    nlp = load_pipeline(name)
    nlp.add_pipe("missing_pos")
    if any(nlp.get_pipe_meta(pipe).factory in TRANSFORMERS for pipe in nlp.pipe_names):
        nlp.batch_size = 1  # Padding to a neighbour's length changes the last digits of what they see.
    annotator = SpacyAnnotator(nlp)
    if name is not None and Path(name).is_dir():
        # A package has a version of its own; what a user trains is called "pipeline 0.0.0" every time.
        annotator.version += f"-{_hash(Path(name))}"
    return annotator


@Language.component("missing_pos")
def missing_pos(doc: Doc) -> Doc:
    """Give a token without a part of speech that of its Penn tag, or else of its label."""
    if not doc.has_annotation("POS", require_complete=True):
        for token in doc:
            if not token.pos:
                token.pos_ = PENN.get(token.tag_) or _guess(token)
    return doc


def _guess(token: Token) -> str:
    """The part of speech by the token's place in the tree; what a copula hangs on is no verb."""
    pos = LABELS.get(token.dep_, "NOUN")
    return "ADJ" if pos == "VERB" and any(child.dep_ == "cop" for child in token.children) else pos


def _hash(folder: Path) -> str:
    hashed = hashlib.blake2b(digest_size=4)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        hashed.update(str(path.relative_to(folder)).encode("utf-8", "surrogateescape") + b"\0")
        with path.open("rb") as file:
            hashed.update(hashlib.file_digest(file, "blake2b").digest())
    return hashed.hexdigest()
