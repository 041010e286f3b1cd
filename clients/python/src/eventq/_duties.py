"""_duties.py: the events that a worker holds, and what it must do next: claim, report, extend leases. What both workers
share; no input or output.

Threads: not locked. Worker calls it under its lock, aio.Worker in its event loop.
"""
from __future__ import annotations

import collections
import itertools
import logging
import math
import time
from typing import Any, Callable, Deque, Dict, Generic, List, Mapping, Optional, Sequence, Tuple, Union

from . import _wire as wire
from ._errors import Conflict, EventqError, NotFound, Unavailable
from ._wire import E, Entry

log = logging.getLogger("eventq")

POLL_SECONDS = 1  # a worker's wait for events in one call; short, so that stop() returns soon
BEAT_SECONDS_MAX = 5.0  # time limit of a heartbeat call; a third of the lease if that is shorter
REPORTS_MAX = 1000  # in one call
REPORT_BYTES_MAX = 4 * 1024 * 1024  # in one call, about; a request has a limit of 32 MiB


class Held(Generic[E]):
    """An event that the worker holds: waiting, running, or finished and not yet reported."""

    def __init__(self, event: E, sent_at: float) -> None:
        self.event = event
        self.lease_seconds = wire.seconds_of(event["lease_until"]) - wire.seconds_of(event["updated_at"])
        self.lease_end = time.monotonic() + self.lease_seconds  # by our clock; starts when the answer arrives
        self.beat_at = sent_at + self.lease_seconds / 3  # already past if the call waited longer than that
        self.running = False
        self.gone = False  # the server answered that the lease is lost: there is nothing to report
        self.kind = ""  # of the report: completed, failed or released; empty: not finished
        self.report: Dict[str, Any] = {}

    def needs_report(self) -> bool:
        """Whether a report is still to be made: the lease is not known to be lost, and the worker has not released the event."""
        return not self.gone and not self.kind

    def size(self) -> int:
        """The bytes of the report, about."""
        return len(wire.json_text(self.report))


class Call(Generic[E]):
    """One call of next() that claims up to `free` events and sends `reports`."""

    def __init__(self, free: int, wait: int, reports: List[Held[E]]) -> None:
        self.free, self.wait = free, wait
        self.reports = sorted(reports, key=lambda held: held.kind)  # the server answers in this order
        self.sent_at = time.monotonic()

    def body(self, worker_id: str, claim: Mapping[str, Any]) -> Dict[str, Any]:
        """The body of the request."""
        body: Dict[str, Any] = {"worker_id": worker_id, "limit": self.free}
        if self.free:
            body.update(claim, wait=self.wait)
        for held in self.reports:
            body.setdefault(held.kind, []).append(held.report)
        return body


class Duties(Generic[E]):
    """The events that one worker holds, and its calls that wait for an answer."""

    def __init__(self, capacity: int, notify: Callable[[], None]) -> None:
        """`notify` wakes the loops of the worker when a report is there to be sent."""
        self.held: Dict[Tuple[int, int], Held[E]] = {}  # by id and attempt
        self.ready: Deque[Held[E]] = collections.deque()
        self.finished: List[Held[E]] = []  # waiting to be reported
        self.requested = 0  # events that pending calls may still return
        self.reporting = False
        self.alone = 0  # this many reports are sent one by one, because a call with all of them was refused
        self.stopping = self.over = False
        self.all_returned = True
        self.refused: Optional[EventqError] = None  # the server refused a claim, so the worker must end
        self._capacity, self._notify = capacity, notify

    # What to do next.

    def free_capacity(self) -> int:
        """The events to claim now."""
        if self.stopping:
            return 0
        working = sum(1 for held in self.held.values() if not held.kind)
        return max(0, self._capacity - working - self.requested)

    def may_claim(self) -> bool:
        """Whether to poll. Not while reports are waiting, because their call claims as well."""
        return bool(self.free_capacity()) and not self.finished and not self.reporting

    def may_report(self) -> bool:
        """Whether to send reports. While the worker stops, its last poll ends first, because that poll could claim the
        released events."""
        return bool(self.finished) and not (self.stopping and self.requested)

    def has_reported(self) -> bool:
        """Whether no report and no call is left."""
        return not (self.finished or self.reporting or self.requested)

    def running(self) -> List[Held[E]]:
        """The events whose handlers have not returned."""
        return [held for held in self.held.values() if held.running and not held.kind]

    def next_to_run(self) -> Optional[Held[E]]:
        """Takes the next event that a handler can begin. Releases events whose leases have ended."""
        while self.ready:
            held = self.ready.popleft()
            if not held.gone and held.lease_end > time.monotonic():
                held.running = True
                return held
            self._release_expired(held)
        return None

    # Calls.

    def claim(self) -> Call[E]:
        """Begins a call that only claims."""
        free = self.free_capacity()
        self.requested += free
        return Call(free, POLL_SECONDS, [])

    def report(self) -> Call[E]:
        """Begins a call that sends all waiting reports, and claims events for the free capacity."""
        count = 1 if self.alone else self._reports_at_once()
        reports, self.finished = self.finished[:count], self.finished[count:]
        free = 0 if self.alone else self.free_capacity()
        self.requested += free
        self.reporting = True
        return Call(free, 0, reports)

    def _reports_at_once(self) -> int:
        sizes = itertools.accumulate(held.size() for held in self.finished[:REPORTS_MAX])
        return max(1, sum(1 for size in sizes if size <= REPORT_BYTES_MAX))

    def forget(self, call: Call[E]) -> None:
        """The call ended, in whatever way."""
        self.requested -= call.free
        if call.reports:
            self.reporting = False

    def answered(self, call: Call[E], results: Sequence[Union[Entry, EventqError]], events: Sequence[E]) -> Optional[EventqError]:
        """The call was answered. Returns an error if some reports must be repeated."""
        self.forget(call)
        self.alone = max(0, self.alone - len(call.reports))
        again = self._settle(call.reports, results)
        for event in events:
            held = self.held[event.id, event.attempt] = Held(event, call.sent_at)
            if self.stopping:
                self.finish(held, "released", {"reason": "the worker stops"})
            else:
                self.ready.append(held)
        return again

    def failed(self, call: Call[E], error: EventqError) -> Optional[EventqError]:
        """The call failed. Returns the error if the call must be repeated."""
        self.forget(call)
        reports = call.reports
        if error.status not in (400, 413):
            self.finished = reports + self.finished
            return error
        if len(reports) > 1 or (reports and call.free):
            self.alone, self.finished = len(reports), reports + self.finished
        elif reports:
            self.alone = max(0, self.alone - 1)
            self._settle(reports, [error])
        else:
            self.refused = error
        return None if reports else error

    def _settle(self, reports: List[Held[E]], results: Sequence[Union[Entry, EventqError]]) -> Optional[EventqError]:
        """Removes the events whose reports were answered for good. Returns an error if some reports must be repeated."""
        again = None
        for held, answer in itertools.zip_longest(reports, results):
            result = Unavailable("No answer.") if answer is None else answer
            if isinstance(result, EventqError) and result.status not in (400, 404, 409, 413):
                self.finished.append(held)
                again = result
                continue
            del self.held[held.event.id, held.event.attempt]
            if isinstance(result, EventqError):
                held.event.lost.set()
                log.warning("The report on event %d was refused: %s", held.event.id, result)
        return again

    # Ends of events.

    def finish(self, held: Held[E], kind: str, report: Mapping[str, Any]) -> None:
        """Records the report, unless there is one."""
        if held.kind:
            return
        held.kind, held.report = kind, {"id": held.event.id, "attempt": held.event.attempt, **report}
        if held.gone:
            del self.held[held.event.id, held.event.attempt]
        else:
            self.finished.append(held)
        self._notify()

    def stop(self) -> None:
        """Claims no more events, and releases those that no handler has begun."""
        self.stopping = True
        while self.ready:
            self.finish(self.ready.popleft(), "released", {"reason": "the worker stops"})

    def abandon(self) -> List[Held[E]]:
        """Releases the events whose handlers still run. Returns these events."""
        abandoned = self.running()
        for held in abandoned:
            self.all_returned = False
            held.event.lost.set()
            self.finish(held, "released", {"reason": "the worker stops; its handler had not returned"})
        return abandoned

    def _release_expired(self, held: Held[E]) -> None:
        self.finish(held, "released", {"reason": "the lease ended before a handler began"})

    # Leases.

    def due_heartbeats(self) -> List[Held[E]]:
        """The events whose leases to extend now: a third of each has passed."""
        now = time.monotonic()
        return [held for held in self.held.values() if not held.gone and held.beat_at <= now][:REPORTS_MAX]

    def until_heartbeat(self) -> Optional[float]:
        """Seconds until the next lease is to be extended; None if there is none."""
        return wire.seconds_until((held.beat_at for held in self.held.values() if not held.gone), time.monotonic())

    def beaten(self, due: Sequence[Held[E]], sent_at: float, results: Sequence[Union[Entry, EventqError]]) -> None:
        """The call that extends these leases has ended, with these results; none if it failed."""
        for held, result in itertools.zip_longest(due, results):
            third = held.lease_seconds / 3
            if isinstance(result, dict):
                held.lease_end, held.beat_at = sent_at + held.lease_seconds, sent_at + third
            elif isinstance(result, (Conflict, NotFound)):
                held.beat_at = math.inf
                if not held.kind:  # otherwise the report has just ended the lease
                    log.warning("The lease is lost: %s", result)
                    held.gone = True
                    held.event.lost.set()
            else:
                held.beat_at = time.monotonic() + third / 4

    def expire(self) -> Optional[float]:
        """Sets `lost` of the events whose leases have ended by our own clock. The server may still accept their reports.
        Returns the seconds until the next lease ends; None if there is none."""
        now = time.monotonic()
        for held in [held for held in self.held.values() if held.lease_end <= now]:
            held.event.lost.set()
            if held in self.ready:
                self.ready.remove(held)
                self._release_expired(held)
        return wire.seconds_until((held.lease_end for held in self.held.values() if held.lease_end > now), now)


def heartbeat_body(worker_id: str, due: Sequence[Held[E]]) -> Dict[str, Any]:
    """The body of the call that extends these leases."""
    return {"worker_id": worker_id, "limit": 0,
            "alive": [{"id": held.event.id, "attempt": held.event.attempt} for held in due]}


def heartbeat_timeout(due: Sequence[Held[E]]) -> float:
    """Seconds that the call may take that extends these leases."""
    return min(min(held.lease_seconds for held in due) / 3, BEAT_SECONDS_MAX)


def capacity_of(running: int, prefetch: Optional[int], name: str) -> int:
    """The events that a worker holds at most. `name` is the name of the argument `running`, for errors."""
    if not 1 <= running <= 1000 or (prefetch or 0) < 0:
        raise ValueError(f"{name} is {running} and prefetch {prefetch}; {name} must be 1 to 1000, prefetch 0 or more.")
    return min(1000, running + (running if prefetch is None else prefetch))
