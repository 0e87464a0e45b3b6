"""How near the rows of a table are to a question, by the vectors of a pretrained encoder: evidence for rescoring.

A row stands for what it says where nothing of the question's wording is in it ("won" and "victory"): its vector is the
mean of its words' vectors in the context of the whole paragraph, that of a question the mean of all its words'.
"""

import re

import numpy as np
import numpy.typing as npt

from drop_parsing.reader.contextual_encoders import ContextualEncoder, Halves
from extractors.table import Table

Floats = npt.NDArray[np.float32]

_WORD = re.compile(r"\w+|[^\w\s]")


class RowVectors:
    """The vectors of a table's rows, to be made once for all its questions."""

    def __init__(self, text: str, table: Table, encoder: ContextualEncoder) -> None:
        words = list(_WORD.finditer(text))
        vectors = encoder.encode([word[0] for word in words]).astype(np.float32)
        starts = np.array([word.start() for word in words])
        self.rows = np.zeros((len(table.rows), encoder.width), dtype=np.float32)
        for made, row in zip(self.rows, table.rows, strict=True):
            inside = np.zeros(len(words), dtype=bool)
            for _, cell in row.cells():
                inside |= (starts >= cell.start) & (starts < cell.end)
            if inside.any():
                made[:] = _unit(vectors[inside].mean(0))

    def similar(self, question: Halves) -> Floats:
        """(R,) the cosine of each row and a question, whose words' vectors are (L, C)."""
        if not len(question):
            return np.zeros(len(self.rows), dtype=np.float32)
        found: Floats = self.rows @ _unit(question.astype(np.float32).mean(0))
        return found


def _unit(vector: Floats) -> Floats:
    made: Floats = vector / max(float(np.linalg.norm(vector)), 1e-6)
    return made
