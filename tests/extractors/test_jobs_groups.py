"""Groups of items: whole, in their own order, and as soon as each is done."""

import itertools
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extractors import jobs
from extractors.jobs import Failure, JobError, Result, run_groups, run_jobs


def double(batch: Sequence[int]) -> Sequence[int]:
    if 7 in batch:
        raise ValueError("seven")
    return [2 * item for item in batch]


def expected(group: Sequence[int]) -> list[Result[int, int]]:
    return [Result(i, Failure("ValueError: seven") if i == 7 else 2 * i) for i in group]


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=6), max_size=5), st.integers(1, 12))
@settings(deadline=None)
def test_groups_come_whole_whatever_the_batches(groups: list[list[int]], limit: int) -> None:
    heard: list[int] = []
    done = list(run_groups(double, groups, lambda item: item, limit, 0, progress=heard.append))
    assert done == [expected(group) for group in groups]
    assert sum(heard) == sum(map(len, groups))


def test_a_slow_item_delays_its_own_group_alone() -> None:
    def sleepy(batch: Sequence[int]) -> Sequence[int]:
        if 1 in batch:
            time.sleep(2)
        return batch

    groups = [[0, 1, 2], *([i, i + 1] for i in range(10, 40, 2))]
    done = [
        [result.item for result in group]
        for group in run_groups(sleepy, groups, lambda item: 1, 2, workers=2)
    ]
    assert sorted(done) == groups
    # One that was at hand behind it, on the same worker, may come later.
    assert done.index([0, 1, 2]) >= len(groups) - 1 - jobs.AT_HAND


def test_groups_are_read_no_further_than_needed() -> None:
    read = 0

    def endless() -> Iterator[list[int]]:
        nonlocal read
        for read in itertools.count(1):
            yield [100 + read, 200 + read]

    with closing(run_groups(lambda batch: batch, endless(), lambda item: 1, 5, workers=2)) as groups:
        for taken in range(1, 9):
            next(groups)
            assert read <= taken + 2 * jobs.AT_HAND


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A cluster of one worker, and little patience with its loss."""
    distributed: Any = pytest.importorskip("distributed")
    monkeypatch.setattr(jobs, "LOST_PATIENCE", 0.5)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        yield cluster


def test_a_job_without_workers_ends_with_a_sentence(local: Any) -> None:
    results = run_jobs(lambda batch: batch, ([item] for item in range(1000)), 0, local.scheduler_address)
    assert next(results) == Result(0, 0)
    local.sync(local.workers[0].close)
    with pytest.raises(JobError, match="All workers of the cluster have gone"):
        list(results)


def test_a_worker_that_goes_with_what_it_has_done_is_told(
    local: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed: Any = pytest.importorskip("distributed")
    wait = distributed.wait

    def wait_then_lose(*given: Any) -> Any:
        done = wait(*given)
        for worker in local.workers.values():
            local.sync(worker.close)
        return done

    monkeypatch.setattr(distributed, "wait", wait_then_lose)
    results = run_jobs(lambda batch: batch, ([item] for item in range(9)), 0, local.scheduler_address)
    with pytest.raises(JobError, match="All workers of the cluster have gone"):
        list(results)


def test_workers_that_come_later_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed: Any = pytest.importorskip("distributed")
    monkeypatch.setattr(jobs, "RENEWAL", 0.0)
    read = 0

    def endless() -> Iterator[list[int]]:
        nonlocal read
        for read in itertools.count(1):
            yield [read]

    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as local:
        groups = run_groups(lambda batch: batch, endless(), lambda item: 1, 1, 0, local.scheduler_address)
        with closing(groups):
            next(groups)
            assert read == jobs.AT_HAND
            local.scale(3)
            local.wait_for_workers(3)
            next(groups)
            next(groups)
            assert read >= 3 * jobs.AT_HAND


def test_workers_without_the_package_are_told_at_once(tmp_path: Any) -> None:
    pytest.importorskip("distributed")
    script = "\n".join(
        [
            "import distributed, sys, time",
            "sys.modules['extractors'] = None",
            "if __name__ == '__main__':",
            "    local = distributed.LocalCluster(",
            "        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=':0', protocol='tcp'",
            "    )",
            "    print(local.scheduler_address, flush=True)",
            "    time.sleep(60)",
        ]
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            with pytest.raises(
                JobError, match=r"cannot use this package \(.*extractors.*\): install the same"
            ):
                list(run_jobs(double, [[1]], 0, address))
        finally:
            process.kill()
