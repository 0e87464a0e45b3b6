"""The best one-to-one matching of two lists under a matrix of scores, exact at any size."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def align(scores: Sequence[Sequence[float]]) -> list[float]:
    """The score that each row gets in a matching of rows and columns with the greatest sum.

    ``scores`` is rows x columns, none negative; a row left without a column gets 0.
    """
    best = [max(row, default=0.0) for row in scores]
    if len(scores) <= 1:
        return best
    wanted = [row.index(score) for row, score in zip(scores, best, strict=True) if score > 0]
    if len(set(wanted)) == len(wanted):  # every row can have its favourite
        return best
    if len(scores[0]) == 1:
        first = best.index(max(best))
        return [score if row == first else 0.0 for row, score in enumerate(best)]
    return _hungarian(np.asarray(scores, dtype=np.float64))


def _hungarian(scores: npt.NDArray[np.float64]) -> list[float]:
    """Shortest augmenting paths with potentials, O(rows^2 x columns) (Jonker and Volgenant 1987)."""
    if scores.shape[0] > scores.shape[1]:
        matched = np.zeros(len(scores))
        for column, row in enumerate(_assign(-scores.T)):
            matched[row] = scores[row, column]
        return [float(score) for score in matched]
    return [float(scores[row, column]) for row, column in enumerate(_assign(-scores))]


def _assign(costs: npt.NDArray[np.float64]) -> list[int]:
    """The column of each row in the cheapest matching; there are at least as many columns as rows."""
    rows, columns = costs.shape
    row_potential = np.zeros(rows)
    column_potential = np.zeros(columns)
    owner = np.full(columns, -1)
    for start in range(rows):
        distance = np.full(columns, np.inf)
        previous = np.full(columns, -1)
        done = np.zeros(columns, dtype=bool)
        row, column, shortest = start, -1, 0.0
        visited: list[tuple[int, float]] = []
        while True:
            visited.append((row, shortest))
            reduced = shortest + costs[row] - row_potential[row] - column_potential
            closer = ~done & (reduced < distance)
            distance[closer] = reduced[closer]
            previous[closer] = column
            column = int(np.argmin(np.where(done, np.inf, distance)))
            shortest = float(distance[column])
            done[column] = True
            if owner[column] < 0:
                break
            row = int(owner[column])
        for reached, at in visited:
            row_potential[reached] += shortest - at
        column_potential[done] -= shortest - distance[done]
        while column >= 0:
            before = int(previous[column])
            owner[column] = owner[before] if before >= 0 else start
            column = before
    assigned = [0] * rows
    for column, row in enumerate(owner):
        if row >= 0:
            assigned[row] = column
    return assigned
