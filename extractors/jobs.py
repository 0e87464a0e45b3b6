"""Run a function over batches of items: in this process, in local worker processes, or on a Dask cluster.

The function is a module-level callable, or a ``functools.partial`` of one with a small picklable description
of what it needs. What is expensive (a spaCy pipeline) it makes itself, once a worker, behind
``functools.cache``. Nothing here knows what the items are.
"""

import logging
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from types import FrameType
from typing import Any, Generic, Protocol, TypeVar

logger = logging.getLogger(__name__)

Item = TypeVar("Item")
Value = TypeVar("Value")
Tag = TypeVar("Tag")
Given = TypeVar("Given")
Asked = TypeVar("Asked", contravariant=True)

#: Seconds to wait for a given scheduler, and for its first worker.
PATIENCE = 30.0
#: Seconds that a job waits for a worker to come back after it has lost all of them.
LOST_PATIENCE = 300.0
#: Seconds for which the number of workers is taken for the same.
RENEWAL = 5.0
#: Batches under way for each thread of the workers: one runs, one is at hand when it ends.
AT_HAND = 2
#: Where results are wanted in order: batches in all that are under way or wait for an earlier one, for each
#: one under way.
AHEAD = 8


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
    address of a Dask scheduler to use instead. At most ``AT_HAND`` batches a thread are under way, and
    ``AHEAD`` times as many when those wait for an earlier one are counted; ``batches`` is read no further
    than that. Stopping early, or an interrupt, closes the local workers within seconds: what was not yet
    handed out is lost, nothing else.

    A batch that raises, or whose worker dies, is tried again item by item; an item that fails alone is a
    ``Failure``. Where a worker died, the items run with nothing else under way, so that the blame is exact.

    Raises:
        JobError: Dask is not installed, the scheduler cannot be reached, has no worker, or is lost.
    """
    _check(workers)
    return _in_turn(_completed(function, enumerate(batches), workers, cluster, in_order=True))


def run_groups(
    function: Function[Item, Value],
    groups: Iterable[Sequence[Item]],
    cost: Callable[[Item], int],
    limit: int,
    workers: int,
    cluster: str | None = None,
    progress: Callable[[int], None] = lambda items: None,
) -> Generator[list[Result[Item, Value]]]:
    """The same for groups of items that belong together: each group is handed out, whole and in its own order,
    when the last of its batches is done, whatever the groups before it. ``progress`` hears of each batch.

    Batches are cut inside a group (``batched_by_cost``), so a dear item delays its own group alone, and as
    many groups are open as batches are under way. What a group is made of never depends on time or workers.
    """
    _check(workers)
    cut = partial(batched_by_cost, cost=cost, limit=limit)
    return _whole_groups(function, groups, cut, workers, cluster, progress)


class Keeper(Protocol[Asked, Item, Value]):
    """Knows what there is already, and keeps what is new."""

    def unknown(self, group: Sequence[Asked], /) -> Sequence[Item]:
        """What is to be done for a group."""
        ...

    def keep(self, results: Sequence[Result[Item, Value]], /) -> None:
        """All that was to be done for a group."""
        ...


def keep_groups(
    keeper: Keeper[Given, Item, Value],
    function: Function[Item, Value],
    groups: Iterable[Sequence[Given]],
    cost: Callable[[Item], int],
    limit: int,
    workers: int,
    cluster: str | None = None,
    progress: Callable[[int], None] = lambda items: None,
) -> None:
    """``run_groups`` over what a keeper does not know of each group; it keeps a group's results when all are there.

    An interrupt ends it when the next batch is done at the latest, wherever it falls.
    """
    wanted = filter(None, map(keeper.unknown, groups))
    with _interrupts() as heed:

        def told(items: int) -> None:
            progress(items)
            heed()

        with closing(run_groups(function, wanted, cost, limit, workers, cluster, told)) as finished:
            for results in finished:
                keeper.keep(results)
                heed()


@contextmanager
def _interrupts() -> Iterator[Callable[[], None]]:
    """A call that raises an interrupt which Python has dropped, or would have: one in a finalizer or a callback of the
    garbage collector goes no further, and a job that takes hours would not have noticed it."""
    seen = False
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield lambda: None  # ignored, or for another thread
        return

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal seen
        seen = True
        if not _finalizes(frame):
            before(number, frame)

    def heed() -> None:
        if seen:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, note)
    try:
        yield heed
    finally:
        signal.signal(signal.SIGINT, before)


def _finalizes(frame: FrameType | None) -> bool:
    """Whether a finalizer is running: the futures of Dask have one, in which a job is often found."""
    while frame is not None:
        if frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False


def _check(workers: int) -> None:
    if workers < 0:
        raise JobError(f"The number of workers is {workers}: give 0 (this process) or more.")


#: A batch with the caller's name for it, and its outcomes.
_Done = tuple[Tag, Sequence[Item], Sequence[Value | Failure]]


def _in_turn(done: Generator[_Done[int, Item, Value]]) -> Iterator[Result[Item, Value]]:
    """The results of numbered batches by number."""
    early: dict[int, list[Result[Item, Value]]] = {}
    turn = 0
    with closing(done):
        for number, batch, outcomes in done:
            early[number] = _pair(batch, outcomes)
            while turn in early:
                yield from early.pop(turn)
                turn += 1


def _whole_groups(
    function: Function[Item, Value],
    groups: Iterable[Sequence[Item]],
    cut: Callable[[Sequence[Item]], Iterator[list[Item]]],
    workers: int,
    cluster: str | None,
    progress: Callable[[int], None],
) -> Generator[list[Result[Item, Value]]]:
    @dataclass(slots=True)
    class Group:
        missing: int
        parts: list[list[Result[Item, Value]]]

    def batches() -> Iterator[tuple[tuple[Group, int], list[Item]]]:
        for items in groups:
            cuts = list(cut(items))
            group = Group(len(cuts), [[] for _ in cuts])
            yield from (((group, place), batch) for place, batch in enumerate(cuts))

    with closing(_completed(function, batches(), workers, cluster, in_order=False)) as done:
        for (group, place), batch, outcomes in done:
            progress(len(batch))
            group.parts[place] = _pair(batch, outcomes)
            group.missing -= 1
            if not group.missing:
                yield [result for part in group.parts for result in part]


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


def _pair(batch: Sequence[Item], outcomes: Iterable[Value | Failure]) -> list[Result[Item, Value]]:
    return [Result(item, outcome) for item, outcome in zip(batch, outcomes, strict=True)]


def _completed(
    function: Function[Item, Value],
    batches: Iterable[tuple[Tag, Sequence[Item]]],
    workers: int,
    cluster: str | None,
    in_order: bool,
) -> Generator[_Done[Tag, Item, Value]]:
    """Every batch when it is done; ``in_order`` holds batches back that would be done long before another."""
    if workers == 0 and cluster is None:
        yield from ((tag, batch, _attempt(function, batch)) for tag, batch in batches)
        return
    distributed = _dask("distributed")
    with _client(workers, cluster) as client:
        try:
            pool: _Pool[Tag, Item, Value] = _Pool(client, function, in_order)
            for tag, batch in batches:
                pool.start(tag, batch)
                while pool.full:
                    yield from pool.finished()
            while pool.running:
                yield from pool.finished()
        except (distributed.CancelledError, distributed.client.ClosedClientError, OSError) as error:
            raise JobError(
                "The connection to the workers was lost: start again, what was handed out is kept."
            ) from error


class _Pool(Generic[Tag, Item, Value]):
    """The batches under way on the workers of a Dask client."""

    def __init__(self, client: Any, function: Function[Item, Value], in_order: bool) -> None:
        self.running: dict[Any, tuple[int, Tag, Sequence[Item]]] = {}
        self._client = client
        self._submit = partial(client.submit, _attempt, function, pure=False)
        self._in_order = in_order
        self._started = 0
        self._window = 0
        self._renewed = 0.0

    def start(self, tag: Tag, batch: Sequence[Item]) -> None:
        self.running[self._submit(batch)] = self._started, tag, batch
        self._started += 1

    @property
    def full(self) -> bool:
        """Whether the next batch has to wait. Workers that come or go count within some seconds."""
        if time.monotonic() > self._renewed + RENEWAL:
            self._window = max(1, AT_HAND * self._threads())
            self._renewed = time.monotonic()
        oldest = next(iter(self.running.values()), (self._started, None, ()))[0]
        ahead = self._in_order and self._started - oldest >= AHEAD * self._window
        return len(self.running) >= self._window or ahead

    def finished(self) -> Iterator[_Done[Tag, Item, Value]]:
        """Those that are done, one at least."""
        done = self._wait(self.running, "FIRST_COMPLETED")
        for future in [future for future in self.running if future in done]:
            _, tag, batch = self.running.pop(future)
            yield tag, batch, self._outcomes(future, batch)

    def _outcomes(self, future: Any, batch: Sequence[Item]) -> Sequence[Value | Failure]:
        try:
            outcomes: list[Value | Failure] = self._patiently(future.result)
            return outcomes
        except (_dask("distributed").CancelledError, JobError):
            raise
        except Exception:
            # A worker died, or an outcome could not be sent: find the item with nothing else under way.
            self._wait(self.running, "ALL_COMPLETED")
            return [self._alone(item) for item in batch]

    def _alone(self, item: Item) -> Value | Failure:
        distributed = _dask("distributed")
        try:
            future = self._submit([item])
            self._wait([future], "ALL_COMPLETED")
            outcome: Value | Failure = self._patiently(future.result)[0]
            return outcome
        except (distributed.CancelledError, JobError):
            raise
        except distributed.KilledWorker:
            return Failure("its worker process died each time it was tried")
        except Exception as error:
            return failure_of(error)

    def _wait(self, futures: Iterable[Any], until: str) -> set[Any]:
        """Those that are done by then."""
        pending = list(futures)
        if not pending:
            return set()
        done: set[Any] = self._patiently(
            lambda seconds: _dask("distributed").wait(pending, seconds, until).done
        )
        return done

    def _patiently(self, step: Callable[[float], Any]) -> Any:
        """What a step gives that may take so many seconds, tried until it is there. A worker may go at any moment, with
        what it has done. Raises JobError where no worker has been left for long."""
        seen = time.monotonic()
        while True:
            try:
                return step(min(PATIENCE, LOST_PATIENCE))
            except TimeoutError:
                if self._threads():
                    seen = time.monotonic()
                elif time.monotonic() > seen + LOST_PATIENCE:
                    raise JobError(
                        "All workers of the cluster have gone: start some and run again; "
                        "what was handed out is kept."
                    ) from None
                else:
                    logger.warning("all workers of the cluster have gone: waiting for one to come back")

    def _threads(self) -> int:
        return sum(self._client.nthreads().values())


@contextmanager
def _client(workers: int, cluster: str | None) -> Iterator[Any]:
    """A Dask client of ``cluster``, or of local worker processes that live as long as the block."""
    config, distributed = _dask("dask.config"), _dask("distributed")
    settings = {
        # A batch is given up when a worker dies over it for the second time.
        "distributed.scheduler.allowed-failures": 1,
        # In Dask's own settings a worker gives freed memory back at once, and large arrays are zeroed anew each time.
        "distributed.nanny.pre-spawn-environ": dict.fromkeys(
            ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), 1
        ),
        # Sampling the deep stacks of a search takes time from it.
        "distributed.worker.profile.enabled": False,
        # One long item is no reason for a warning.
        "distributed.admin.large-graph-warning-threshold": "1TB",
    }
    with ExitStack() as stack:
        stack.enter_context(config.set(settings))
        stack.enter_context(_silenced("distributed", "distributed.client"))
        if cluster is None:
            local = distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                # A share of the memory for each would stop workers whose models fill it; tasks keep nothing.
                memory_limit=None,
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
                preload=[__name__],
            )
            yield stack.enter_context(distributed.Client(stack.enter_context(local)))
            return
        try:
            client = stack.enter_context(distributed.Client(cluster, timeout=PATIENCE))
            client.wait_for_workers(1, timeout=PATIENCE)
        except (OSError, TimeoutError, ValueError) as error:
            raise JobError(
                f"No Dask scheduler with workers answers at {cluster!r} ({error}): check the address."
            ) from error
        try:
            client.run(failure_of, Exception())
        except Exception as error:  # of whatever kind the scheduler makes of it
            raise JobError(
                f"The workers at {cluster!r} cannot use this package ({error}): install the same version there."
            ) from error
        yield client


@contextmanager
def _silenced(*names: str) -> Iterator[None]:
    """Loggers without a word: what goes wrong between the processes is told by this module."""
    before = {name: logging.getLogger(name).level for name in names}
    try:
        for name in names:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


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
