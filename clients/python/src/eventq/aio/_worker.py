"""_worker.py: a worker whose handlers are coroutines."""
from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import signal
import time
from typing import Any, Awaitable, Callable, Coroutine, Dict, List, Mapping, Optional, Set, Tuple, Union

from .. import _duties as duties
from .. import _outcome as outcome
from .. import _wire as wire
from .._duties import Call, Duties, Held
from .._errors import EventqError
from .._handlers import Handlers
from .._outcome import Outcome, Returned
from .._wire import Tags
from ._client import Client, Event, Turn

log = logging.getLogger("eventq")

# Returns the result, or a list of error messages for COMPLETED_WITH_ERRORS. An exception is a failure.
Handler = Callable[[Event], Awaitable[Returned]]


class Worker:
    """Claims events, runs handlers as tasks, extends the leases, and sends reports.

    A handler must not block the event loop, because the worker then cannot extend its leases.
    """

    def __init__(self, client: Client, tags: Union[None, Tags, Mapping[str, Handler]], handler: Optional[Handler] = None, *,
                 concurrency: int = 4, prefetch: Optional[int] = None, queue: str = "main", stop_within: float = 30) -> None:
        """`tags` with one handler, or {tag: handler}: all handlers that match an event run, and the worst outcome counts.
        The worker holds `prefetch` events in addition to the running ones; the default is `concurrency`."""
        self._client = client
        self._handlers: Handlers[Handler] = Handlers(tags, handler, queue)
        self._concurrency = concurrency
        self._stop_within = stop_within
        self._duties: Duties[Event] = Duties(duties.capacity_of(concurrency, prefetch, "concurrency"), self._notify)
        self._waiters: Set[asyncio.Future[None]] = set()
        self._loops: List[asyncio.Task[None]] = []
        self._tasks: Dict[Held[Event], asyncio.Task[None]] = {}  # of handlers
        self._signalled = False
        self._failure: Optional[BaseException] = None  # the server refused this worker, or a loop raised

    async def run(self) -> bool:
        """Works until SIGTERM, SIGINT or stop(). A second signal is not caught. Returns the result of stop().
        Raises the error with which the server refused the worker, and errors of the worker itself.

        Threads: the main thread only, because it sets signal handlers."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(NotImplementedError):  # this system has no signals
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, self._on_signal)
        try:
            self.start()
            await self._until(lambda: self._signalled or self._duties.stopping or self._failure is not None)
        finally:
            with contextlib.suppress(NotImplementedError):
                for number in (signal.SIGTERM, signal.SIGINT):
                    loop.remove_signal_handler(number)
            all_returned = await self.stop()
        if self._failure is not None:
            raise self._failure
        return all_returned

    def start(self) -> None:
        """Starts the tasks of the worker and returns. stop() ends them. REQUIRES: an event loop runs."""
        loops = (self._claim_loop(), self._report_loop(), self._heartbeat_loop(), self._expiry_loop())
        self._loops = [asyncio.ensure_future(self._run(loop)) for loop in loops]

    async def stop(self) -> bool:
        """Claims no more events, releases those that no handler has begun, and waits `stop_within` seconds for handlers.
        For each handler that still runs then it sets event.lost, releases the event and cancels the task. Returns True if
        no task was cancelled. At the end the worker signs off."""
        self._duties.stop()
        self._notify()
        await self._until(lambda: not self._duties.running(), self._stop_within)
        for held in self._duties.abandon():
            self._tasks[held].cancel()
        # Sending reports may take as long as one call, however long the handlers ran.
        await self._until(self._duties.has_reported, self._client.timeout)
        self._duties.over = True
        self._notify()
        if self._loops:
            await asyncio.wait(self._loops, timeout=self._client.timeout)
        try:
            await self._client.sign_off()
        except EventqError as error:
            log.info("The worker could not sign off: %s", error)
        return self._duties.all_returned

    def _on_signal(self) -> None:
        self._signalled = True
        self._notify()

    async def _run(self, loop: Coroutine[Any, Any, None]) -> None:
        try:
            await loop
        except Exception as error:  # without this loop the worker would hang, so end it
            log.critical("The worker stops after an unexpected error.", exc_info=True)
            self._failure = self._failure or error
            self._notify()

    def _notify(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def _until(self, holds: Callable[[], object], seconds: Optional[float] = None) -> None:
        """Returns when holds() is true, or after `seconds`."""
        end = None if seconds is None else time.monotonic() + seconds
        while not holds():
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                return
            await self._change(left)

    async def _change(self, seconds: Optional[float]) -> None:
        """Returns after the next _notify(), or after `seconds`."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        try:
            await asyncio.wait([waiter], timeout=seconds)
        finally:
            self._waiters.discard(waiter)

    async def _claim_loop(self) -> None:
        """Polls for events while there is capacity."""
        failures = 0
        while True:
            await self._until(lambda: self._duties.stopping or self._duties.may_claim())
            if self._duties.stopping:
                return
            failures = await self._after(failures, await self._make(self._duties.claim()))

    async def _report_loop(self) -> None:
        """Sends all waiting reports in one call, which also claims events for the free capacity."""
        failures = 0
        while True:
            await self._until(lambda: self._duties.over or self._duties.may_report())
            if not self._duties.finished:
                return
            if self._duties.over and failures:
                log.error("%d events were not reported; their leases will expire.", len(self._duties.finished))
                return
            failures = await self._after(failures, await self._make(self._duties.report()))

    async def _after(self, failures: int, error: Optional[EventqError]) -> int:
        """Waits before the next try, longer after each failure in a row. Returns the number of failures in a row."""
        if error is None:
            return 0
        if not failures:
            log.warning("The call failed; retrying: %s", error)
        await self._until(lambda: self._duties.over, wire.pause_seconds(failures + 1, error.retry_after))
        return failures + 1

    async def _make(self, call: Call[Event]) -> Optional[EventqError]:
        """Makes one call. Returns an error if the call must be repeated."""
        turn, failure = Turn([], []), None
        try:
            turn = await self._client._next(call.body(self._client.worker_id, self._handlers.claim), tries=1)
        except EventqError as error:
            failure = error
        except BaseException:  # stop() waits for the end of this call
            self._duties.forget(call)
            raise
        again = self._duties.failed(call, failure) if failure else self._duties.answered(call, *turn)
        self._failure = self._failure or self._duties.refused
        self._start_handlers()
        self._notify()
        return again

    async def _heartbeat_loop(self) -> None:
        """Extends each lease when a third of it has passed, in one call for all that are due."""
        while not self._duties.over:
            due = self._duties.due_heartbeats()
            if due:
                await self._send_heartbeats(due)
            else:
                await self._change(self._duties.until_heartbeat())

    async def _send_heartbeats(self, due: List[Held[Event]]) -> None:
        sent_at = time.monotonic()
        body = duties.heartbeat_body(self._client.worker_id, due)
        results: List[Any] = []
        try:
            results = (await self._client._next(body, tries=1, timeout=duties.heartbeat_timeout(due))).results
        except EventqError as error:
            log.info("Leases were not extended; retrying: %s", error)
        self._duties.beaten(due, sent_at, results)

    async def _expiry_loop(self) -> None:
        """Sets event.lost when a lease has ended by our own clock."""
        while not self._duties.over:
            await self._change(self._duties.expire())

    def _start_handlers(self) -> None:
        while len(self._duties.running()) < self._concurrency:
            held = self._duties.next_to_run()
            if held is None:
                return
            self._tasks[held] = asyncio.ensure_future(self._hold(held))

    async def _hold(self, held: Held[Event]) -> None:
        """Runs the handlers of one event, and records the report."""
        kind, report = await self._handle(held)
        del self._tasks[held]
        self._duties.finish(held, kind, report)
        self._start_handlers()

    async def _handle(self, held: Held[Event]) -> Tuple[str, Dict[str, Any]]:
        """Runs all handlers that match, one after the other, while the event is not lost. Returns the report."""
        event, started = held.event, time.monotonic()
        matching = self._handlers.of(event)
        if not matching:
            return "failed", outcome.no_handler(event)
        result = Outcome(event)
        for handler in matching:
            if event.lost.is_set():
                return outcome.lease_ended()
            try:
                returned = handler(event)
                if not inspect.isawaitable(returned):
                    raise TypeError("A handler of eventq.aio must be a coroutine function: async def.")
                result.returned(await returned)
            except BaseException as error:  # the worker must survive any exception of a handler
                result.raised(error)
                if isinstance(error, asyncio.CancelledError):
                    break
        if not held.needs_report():  # so log no failure: stop() may have cancelled this task
            return outcome.lease_ended()
        try:
            return result.report(time.monotonic() - started)
        except BaseException as error:  # for example, str() of the exception raised
            return "failed", outcome.without_text(error)
