"""Run a function over batches of items: in this process, in local worker processes, or on a Dask cluster.

The function is a module-level callable, or a ``functools.partial`` of one with a small picklable description
of what it needs. What is expensive (a spaCy pipeline) it makes itself, once a worker, behind
``functools.cache``.
"""

import logging
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Value = TypeVar("Value")

#: Seconds to wait for a given scheduler, and for its first worker.
PATIENCE = 30


class JobError(ValueError):
    """The workers cannot be had, or were lost. The message is one sentence with the remedy."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why one item has no value, in one line. A job function may return it in place of a value."""

    reason: str


@dataclass(frozen=True, slots=True)
class Result(Generic[Item, Value]):
    """One item with what became of it."""

    item: Item
    outcome: Value | Failure


#: Takes a batch and returns one value, or ``Failure``, for each of its items, in order.
Function = Callable[[Sequence[Item]], Sequence[Value | Failure]]


def batched_by_cost(items: Iterable[Item], cost: Callable[[Item], int], limit: int) -> Iterator[list[Item]]:
    """Batches of consecutive items whose costs sum to ``limit`` at most; a dearer item is a batch of its own.

    An item costs 1 at least, so a batch is bounded whatever the costs. Read lazily.
    """
    batch: list[Item] = []
    total = 0
    for item in items:
        price = max(1, cost(item))
        if batch and total + price > limit:
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += price
    if batch:
        yield batch


def run_jobs(
    function: Function[Item, Value],
    batches: Iterable[Sequence[Item]],
    workers: int,
    cluster: str | None = None,
) -> Iterator[Result[Item, Value]]:
    """One result an item, in the order of the input, whatever the number of workers.

    ``workers=0`` runs in this process, ``workers >= 1`` in so many local processes; ``cluster`` is the
    address of a Dask scheduler to use instead. At most two batches a worker are under way or wait for their
    turn to be handed out, and ``batches`` is read no further than that. Stopping early, or an interrupt,
    closes the local workers within seconds: what was not yet handed out is lost, nothing else.

    A batch that raises, or whose worker dies, is tried again item by item; an item that fails alone is a
    ``Failure``. Where a worker died, the items run with nothing else under way, so that the blame is exact.

    Raises:
        JobError: Dask is not installed, the scheduler cannot be reached, has no worker, or is lost.
    """
    if workers < 0:
        raise JobError(f"The number of workers is {workers}: give 0 (this process) or more.")
    if workers == 0 and cluster is None:
        return (result for batch in batches for result in _pair(batch, _attempt(function, batch)))
    return _run_distributed(function, batches, workers, cluster)


def _attempt(function: Function[Item, Value], batch: Sequence[Item]) -> list[Value | Failure]:
    """The outcomes of a batch; after an exception, of its items one by one."""
    try:
        outcomes = list(function(batch))
        if len(outcomes) != len(batch):
            raise RuntimeError(f"{len(outcomes)} results for {len(batch)} items")
        return outcomes
    except Exception as error:
        if len(batch) == 1:
            return [failure_of(error)]
        return [outcome for item in batch for outcome in _attempt(function, [item])]


def failure_of(error: BaseException) -> Failure:
    """An exception in one line."""
    message = " ".join(str(error).split())
    return Failure(f"{type(error).__name__}: {message}" if message else type(error).__name__)


def _pair(batch: Sequence[Item], outcomes: Iterable[Value | Failure]) -> Iterator[Result[Item, Value]]:
    return (Result(item, outcome) for item, outcome in zip(batch, outcomes, strict=True))


def _run_distributed(
    function: Function[Item, Value], batches: Iterable[Sequence[Item]], workers: int, cluster: str | None
) -> Iterator[Result[Item, Value]]:
    distributed = _dask("distributed")
    with _client(workers, cluster) as client:
        window = 2 * sum(client.nthreads().values())
        submit = partial(client.submit, _attempt, function, pure=False)
        waiting: deque[tuple[Sequence[Item], Any]] = deque()

        def first() -> Iterator[Result[Item, Value]]:
            """The results of the batch that has waited longest."""
            batch, future = waiting.popleft()
            try:
                return _pair(batch, future.result())
            except distributed.CancelledError:
                raise
            except Exception:
                # A worker died, or an outcome could not be sent: find the item with nothing else under way.
                distributed.wait([other for _, other in waiting])
                return (Result(item, alone(item)) for item in batch)

        def alone(item: Item) -> Value | Failure:
            try:
                outcome: Value | Failure = submit([item]).result()[0]
                return outcome
            except distributed.CancelledError:
                raise
            except distributed.KilledWorker:
                return Failure("its worker process died each time it was tried")
            except Exception as error:
                return failure_of(error)

        try:
            for batch in batches:
                waiting.append((batch, submit(batch)))
                if len(waiting) == window:
                    yield from first()
            while waiting:
                yield from first()
        except distributed.CancelledError as error:
            raise JobError(
                "The connection to the workers was lost: start again, what was handed out is kept."
            ) from error


@contextmanager
def _client(workers: int, cluster: str | None) -> Iterator[Any]:
    """A Dask client of ``cluster``, or of local worker processes that live as long as the block."""
    config, distributed = _dask("dask.config"), _dask("distributed")
    if cluster is None:
        # A batch is given up when a worker dies over it for the second time.
        with (
            config.set({"distributed.scheduler.allowed-failures": 1}),
            distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
                preload=[__name__],
            ) as local,
            distributed.Client(local) as client,
        ):
            yield client
    else:
        with ExitStack() as stack:
            try:
                client = stack.enter_context(distributed.Client(cluster, timeout=PATIENCE))
                client.wait_for_workers(1, timeout=PATIENCE)
            except (OSError, TimeoutError, ValueError) as error:
                raise JobError(
                    f"No Dask scheduler with workers answers at {cluster!r} ({error}): check the address."
                ) from error
            yield client


def dask_setup(_: object) -> None:
    """Dask calls this in each local worker: an interrupt from the terminal is for the main process alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _dask(module: str) -> Any:
    """Dask is optional and slow to import, so it is imported when it is needed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise JobError(
            "Worker processes need Dask: run `pip install drop-parsing[cluster]`, or use 0 workers."
        ) from error
