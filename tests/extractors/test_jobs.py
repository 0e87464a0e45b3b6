"""The job runner: every item comes back, in order, whatever happens to its worker."""

import itertools
import os
import signal
import subprocess
import sys
import textwrap
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extractors import jobs
from extractors.jobs import Failure, JobError, Result, batched_by_cost, keep_groups, run_jobs

Double = Callable[[Sequence[int]], Sequence[int | Failure]]


def double(fatal: frozenset[int] = frozenset()) -> Double:
    """Doubles numbers, refuses 13, raises at 7, and kills its process at a fatal one.

    A closure, because Dask sends closures by value: workers cannot import a test file.
    """

    def function(batch: Sequence[int]) -> Sequence[int | Failure]:
        if fatal.intersection(batch):
            os._exit(1)
        if 7 in batch:
            raise ValueError("seven\nis too much")
        return [Failure("unlucky") if item == 13 else 2 * item for item in batch]

    return function


def expected(item: int, fatal: frozenset[int] = frozenset()) -> Result[int, int]:
    if item in fatal:
        return Result(item, Failure("its worker process died each time it was tried"))
    special = {7: Failure("ValueError: seven is too much"), 13: Failure("unlucky")}
    return Result(item, special.get(item, 2 * item))


def in_threes(count: int) -> list[list[int]]:
    return [list(range(start, min(start + 3, count))) for start in range(0, count, 3)]


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_results_do_not_depend_on_the_number_of_workers(workers: int) -> None:
    results = list(run_jobs(double(), in_threes(20), workers))
    assert results == [expected(item) for item in range(20)]


def test_a_worker_that_dies_takes_only_its_item_along() -> None:
    fatal = frozenset({4, 8, 9})
    results = list(run_jobs(double(fatal), in_threes(14), workers=2))
    assert results == [expected(item, fatal) for item in range(14)]


@pytest.mark.parametrize(("workers", "ahead"), [(0, 0), (2, 4 * jobs.AHEAD)])
def test_an_endless_input_is_read_no_further_than_needed(workers: int, ahead: int) -> None:
    read = 0

    def endless() -> Iterator[list[int]]:
        nonlocal read
        for read in itertools.count(1):
            yield [100 + read]

    results = run_jobs(double(), endless(), workers)
    assert read == 0
    for taken in range(1, 9):
        assert next(results) == Result(100 + taken, 2 * (100 + taken))
        assert read <= taken + ahead
    results.close()  # type: ignore[attr-defined]


def test_a_value_that_cannot_be_sent_back_fails_alone() -> None:
    def function(batch: Sequence[int]) -> Sequence[Any]:
        return [threading.Lock() if item == 2 else item for item in batch]

    first, second, third = run_jobs(function, [[1, 2, 3]], workers=1)
    assert (first, third) == (Result(1, 1), Result(3, 3))
    assert isinstance(second.outcome, Failure)


def test_a_wrong_count_of_results_is_a_failure() -> None:
    [result] = run_jobs(lambda batch: [*batch, 0], [[5]], workers=0)
    assert result == Result(5, Failure("RuntimeError: 2 results for 1 items"))


def test_an_interrupt_reaches_the_caller() -> None:
    def interrupted(_: Sequence[int]) -> Sequence[int]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(run_jobs(interrupted, [[1]], workers=0))


class Finalized:
    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def finalize() -> None:
    Finalized()


class Watched:
    pass


def call_back() -> None:
    """In a callback of a weak reference, which Python calls as it calls a finalizer."""
    watched = Watched()
    reference = weakref.ref(watched, lambda _: signal.raise_signal(signal.SIGINT))
    del watched
    assert reference() is None


@pytest.mark.parametrize(("drop", "told"), [(finalize, []), (call_back, [KeyboardInterrupt])])
@pytest.mark.parametrize("workers", [0, 1])
def test_an_interrupt_that_python_drops_ends_the_job(
    monkeypatch: pytest.MonkeyPatch, drop: Callable[[], None], told: list[type], workers: int
) -> None:
    dropped: list[type[BaseException] | None] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda event: dropped.append(event.exc_type))

    class Kept(list[int]):
        def unknown(self, group: Sequence[int]) -> Sequence[int]:
            return group

        def keep(self, results: Sequence[Result[int, int]]) -> None:
            drop()
            self.extend(result.item for result in results)

    kept = Kept()
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        keep_groups(kept, double(), [[1], [2], [3]], lambda item: item, 1, workers)
    assert dropped == told
    assert len(kept) == 1
    assert signal.getsignal(signal.SIGINT) is before


def test_a_given_cluster_is_used_and_left_running(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed: Any = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as local:
        address = local.scheduler_address
        for _ in range(2):
            results = list(run_jobs(double(), in_threes(8), workers=0, cluster=address))
            assert results == [expected(item) for item in range(8)]
        rest = run_jobs(double(), ([item] for item in itertools.count(20)), workers=0, cluster=address)
        assert next(rest) == expected(20)
    with pytest.raises(JobError, match="connection to the workers was lost"):
        list(itertools.islice(rest, 100))
    monkeypatch.setattr(jobs, "PATIENCE", 0.2)
    with pytest.raises(JobError, match=f"No Dask scheduler with workers answers at '{address}'"):
        list(run_jobs(double(), [[1]], workers=0, cluster=address))


def test_without_dask_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(JobError, match=r"pip install drop-parsing\[cluster\]"):
        list(run_jobs(double(), [[1]], workers=1))
    assert list(run_jobs(double(), [[1]], workers=0)) == [Result(1, 2)]


def test_a_negative_number_of_workers_is_refused() -> None:
    with pytest.raises(JobError, match="number of workers is -1"):
        run_jobs(double(), [], workers=-1)


@given(st.lists(st.integers(0, 12)), st.integers(1, 10))
def test_batches_keep_order_and_stay_within_the_limit(costs: list[int], limit: int) -> None:
    batches = list(batched_by_cost(costs, lambda cost: cost, limit))
    assert list(itertools.chain(*batches)) == costs
    prices = [[max(1, cost) for cost in batch] for batch in batches]
    assert all(sum(batch) <= limit or len(batch) == 1 for batch in prices)
    # No batch could have taken the next item as well.
    assert all(sum(left) + right[0] > limit for left, right in itertools.pairwise(prices))


def test_batching_is_lazy() -> None:
    batches = batched_by_cost(itertools.count(), lambda _: 0, limit=3)
    assert list(itertools.islice(batches, 2)) == [[0, 1, 2], [3, 4, 5]]


def test_an_interrupt_ends_busy_workers_quietly_and_soon() -> None:
    script = textwrap.dedent(
        """
        import time
        from extractors.jobs import run_jobs

        def sleepy(batch):
            time.sleep(60 * batch[0])
            return batch

        if __name__ == "__main__":
            for result in run_jobs(sleepy, [[0], [1], [1]], workers=2):
                print(result.item, flush=True)
        """
    )
    repository = Path(__file__).resolve().parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=repository,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "0\n"
        psutil: Any = pytest.importorskip("psutil")
        family = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=30)

    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert errors.count("Traceback") == 1
    _, alive = psutil.wait_procs(family, timeout=10)
    assert [child for child in alive if child.status() != psutil.STATUS_ZOMBIE] == []
