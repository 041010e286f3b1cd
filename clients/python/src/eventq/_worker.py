"""_worker.py: a worker whose handlers run in threads."""
from __future__ import annotations

import logging
import queue as queues
import signal
import threading
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

from . import _duties as duties
from . import _outcome as outcome
from . import _wire as wire
from ._client import Client, Event, Turn
from ._duties import Call, Duties, Held
from ._errors import EventqError
from ._handlers import Handlers
from ._outcome import Outcome, Returned
from ._wire import Tags

log = logging.getLogger("eventq")

# Returns the result, or a list of error messages for COMPLETED_WITH_ERRORS. An exception is a failure.
Handler = Callable[[Event], Returned]


class Worker:
    """Claims events, runs handlers in threads, extends the leases, and sends reports."""

    def __init__(self, client: Client, tags: Union[None, Tags, Mapping[str, Handler]], handler: Optional[Handler] = None, *,
                 threads: int = 4, prefetch: Optional[int] = None, queue: str = "main", stop_within: float = 30) -> None:
        """`tags` with one handler, or {tag: handler}: all handlers that match an event run, and the worst outcome counts.
        The worker holds `prefetch` events in addition to the running ones; the default is `threads`."""
        self._client = client
        self._handlers: Handlers[Handler] = Handlers(tags, handler, queue)
        self._threads = threads
        self._stop_within = stop_within
        self._changed = threading.Condition()  # guards self._duties; notified when they change
        capacity = duties.capacity_of(threads, prefetch, "threads")
        self._duties: Duties[Event] = Duties(capacity, self._changed.notify_all)
        self._started: List[threading.Thread] = []
        self._wake: "queues.SimpleQueue[Optional[BaseException]]" = queues.SimpleQueue()  # an item ends run()

    def run(self) -> bool:
        """Works until SIGTERM, SIGINT or stop(). A second signal is not caught. Returns the result of stop().
        Raises the error with which the server refused the worker, and errors of the worker itself.

        Threads: the main thread only, because it sets signal handlers."""
        before = {}
        for number in (signal.SIGTERM, signal.SIGINT):
            before[number] = signal.signal(number, lambda *_: self._wake.put(None))
        try:
            self.start()
            error = self._wake.get()
        finally:
            for number, old in before.items():
                signal.signal(number, signal.SIG_DFL if old is None else old)
        all_returned = self.stop()
        if error is not None:
            raise error
        return all_returned

    def start(self) -> None:
        """Starts the threads of the worker and returns. stop() ends them."""
        loops = [self._claim_loop, self._report_loop, self._heartbeat_loop, self._expiry_loop]
        loops += [self._handle_loop] * self._threads
        self._started = [threading.Thread(target=self._run, args=(loop,), daemon=True) for loop in loops]
        for thread in self._started:
            thread.start()

    def stop(self) -> bool:
        """Claims no more events, releases those that no handler has begun, and waits `stop_within` seconds for handlers.
        For each handler that still runs then it sets event.lost, releases the event and abandons the thread. Returns
        True if no thread was abandoned. At the end the worker signs off."""
        end = time.monotonic() + self._stop_within
        with self._changed:
            self._duties.stop()
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._duties.running(), max(0.0, end - time.monotonic()))
            self._duties.abandon()
            # Sending reports may take as long as one call, however long the handlers ran.
            self._changed.wait_for(self._duties.has_reported, self._client.timeout)
            self._duties.over = True
            self._changed.notify_all()
        for thread in self._started[:4]:
            thread.join(self._client.timeout)
        try:
            self._client.sign_off()
        except EventqError as error:
            log.info("The worker could not sign off: %s", error)
        self._wake.put(None)
        return self._duties.all_returned

    def _run(self, loop: Callable[[], None]) -> None:
        try:
            loop()
        except BaseException as error:  # without this thread the worker would hang, so end it
            log.critical("The worker stops after an unexpected error.", exc_info=True)
            self._wake.put(error)
        finally:
            self._client.close()

    def _claim_loop(self) -> None:
        """Polls for events while there is capacity."""
        failures = 0
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._duties.stopping or self._duties.may_claim())
                if self._duties.stopping:
                    return
                call = self._duties.claim()
            failures = self._after(failures, self._make(call))

    def _report_loop(self) -> None:
        """Sends all waiting reports in one call, which also claims events for the free capacity."""
        failures = 0
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._duties.over or self._duties.may_report())
                if not self._duties.finished:
                    return
                if self._duties.over and failures:
                    log.error("%d events were not reported; their leases will expire.", len(self._duties.finished))
                    return
                call = self._duties.report()
            failures = self._after(failures, self._make(call))

    def _after(self, failures: int, error: Optional[EventqError]) -> int:
        """Waits before the next try, longer after each failure in a row. Returns the number of failures in a row."""
        if error is None:
            return 0
        if not failures:
            log.warning("The call failed; retrying: %s", error)
        with self._changed:
            self._changed.wait_for(lambda: self._duties.over, wire.pause_seconds(failures + 1, error.retry_after))
        return failures + 1

    def _make(self, call: Call[Event]) -> Optional[EventqError]:
        """Makes one call. Returns an error if the call must be repeated."""
        turn, failure = Turn([], []), None
        try:
            turn = self._client._next(call.body(self._client.worker_id, self._handlers.claim), tries=1)
        except EventqError as error:
            failure = error
        except BaseException:  # stop() waits for the end of this call
            with self._changed:
                self._duties.forget(call)
            raise
        with self._changed:
            again = self._duties.failed(call, failure) if failure else self._duties.answered(call, *turn)
            refused = self._duties.refused
            self._changed.notify_all()
        if refused is not None:
            self._wake.put(refused)
        return again

    def _heartbeat_loop(self) -> None:
        """Extends each lease when a third of it has passed, in one call for all that are due."""
        while True:
            with self._changed:
                if self._duties.over:
                    return
                due = self._duties.due_heartbeats()
                if not due:
                    self._changed.wait(self._duties.until_heartbeat())
                    continue
            self._send_heartbeats(due)

    def _send_heartbeats(self, due: List[Held[Event]]) -> None:
        sent_at = time.monotonic()
        body = duties.heartbeat_body(self._client.worker_id, due)
        results: List[Any] = []
        try:
            results = self._client._next(body, tries=1, timeout=duties.heartbeat_timeout(due)).results
        except EventqError as error:
            log.info("Leases were not extended; retrying: %s", error)
        with self._changed:
            self._duties.beaten(due, sent_at, results)

    def _expiry_loop(self) -> None:
        """Sets event.lost when a lease has ended by our own clock."""
        with self._changed:
            while not self._duties.over:
                self._changed.wait(self._duties.expire())

    def _handle_loop(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._duties.stopping or self._duties.ready)
                if self._duties.stopping:
                    return
                held = self._duties.next_to_run()
            if held is None:
                continue
            kind, report = self._handle(held)
            with self._changed:
                self._duties.finish(held, kind, report)

    def _handle(self, held: Held[Event]) -> Tuple[str, Dict[str, Any]]:
        """Runs all handlers that match, while the event is not lost. Returns the report."""
        event, started = held.event, time.monotonic()
        matching = self._handlers.of(event)
        if not matching:
            return "failed", outcome.no_handler(event)
        result = Outcome(event)
        for handler in matching:
            if event.lost.is_set():
                return outcome.lease_ended()
            try:
                result.returned(handler(event))
            except BaseException as error:  # the thread must survive any exception of a handler
                result.raised(error)
        with self._changed:
            if not held.needs_report():  # so log no failure
                return outcome.lease_ended()
        try:
            return result.report(time.monotonic() - started)
        except BaseException as error:  # for example, str() of the exception raised
            return "failed", outcome.without_text(error)
