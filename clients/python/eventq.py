"""eventq.py: publish events to an eventq server, and work on them.

One file, standard library only, Python 3.9 or newer: copy it to where it is needed.

    client = eventq.Client("http://127.0.0.1:8080")
    event = client.publish("email", {"to": "a@example.com"}, title="Welcome mail")
    eventq.Worker(client, "email", lambda event: print(event.payload)).run()

Delivery is at least once: make handlers idempotent.

Threads: every method may be called from any thread.
"""
from __future__ import annotations

import collections
import contextlib
import datetime
import functools
import http.client
import itertools
import json
import logging
import math
import os
import queue as queues
import random
import signal
import socket
import threading
import time
import urllib.parse
import uuid
from typing import (Any, Callable, Deque, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Type,
                    Union)

log = logging.getLogger("eventq")

Tags = Union[str, Sequence[str]]
EventName = Union[int, str]  # an event's number or its event_id; a string of digits is the number
Time = Union[str, datetime.datetime]
Entry = Dict[str, Any]  # an audit log entry, as the server shows it

WAIT_MAX = 60  # seconds of one call; proxies close connections that are silent for longer
SILENCE_MAX = 45.0  # seconds without a byte before a stream reconnects; the server sends a byte every 15
POLL_SECONDS = 1  # a worker's wait for events in one call; short, so that stop() returns soon
BEAT_SECONDS_MAX = 5.0  # time limit of a heartbeat call; a third of the lease if that is shorter
REPORTS_MAX = 1000  # in one call
TEXT_BYTES_MAX = 16384
REASON_CHARACTERS_MAX = 1000
DELAY_SECONDS_MAX = 31_536_000


class EventqError(Exception):
    """The server refused the call, or no answer arrived."""

    def __init__(self, message: str, status: int = 0, kind: str = "", problem: Optional[Mapping[str, Any]] = None,
                 retry_after: Optional[int] = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status  # 0: no answer arrived
        self.kind = kind  # for example "lease-lost"; docs/api.md lists all kinds
        self.problem = dict(problem or {})  # the whole body of the answer
        self.field: Optional[str] = self.problem.get("field")  # the member that is wrong
        self.retry_after = retry_after  # seconds


class InvalidRequest(EventqError):
    """The call is invalid; a retry cannot succeed."""

class TooLarge(EventqError):
    """The request exceeds a limit of docs/api.md."""

class NotFound(EventqError):
    """The event, correlation or queue does not exist."""

class Conflict(EventqError):
    """The status of the event or queue, or an earlier call, forbids this now."""

class LeaseLost(Conflict):
    """The worker does not hold the event, or not as this attempt."""

class QueueFull(EventqError):
    """The queue is at its maxQueueDepth."""

class TimedOut(EventqError):
    """The time limit of a wait has passed."""

class Unavailable(EventqError):
    """The server cannot be reached, or cannot answer. The call changed nothing."""

class UnknownOutcome(EventqError):
    """The change may or may not have been made. A call with an event_id or an attempt is safe to repeat."""

_KINDS: Dict[str, Type[EventqError]] = {
    "invalid-request": InvalidRequest, "too-large": TooLarge, "not-found": NotFound, "conflict": Conflict,
    "lease-lost": LeaseLost, "queue-full": QueueFull, "timeout": TimedOut, "store-unavailable": Unavailable,
    "overloaded": Unavailable, "disk-full": Unavailable, "outcome-unknown": UnknownOutcome}
_LAST_FAILURE = ("max-retries-exceeded", "failed-permanently")  # the report was recorded, and no retry follows


class Event(Dict[str, Any]):
    """An event as the server shows it, with its tags as a list. The usual members are also attributes."""

    def __init__(self, members: Mapping[str, Any]) -> None:
        super().__init__(members)
        if isinstance(self.get("tags"), str):
            self["tags"] = self["tags"].split(",")
        self.lost = threading.Event()  # for handlers: set when the lease is lost, or when stop() no longer waits

    id: int = property(lambda self: self["id"])  # type: ignore[assignment]
    event_id: str = property(lambda self: self["event_id"])  # type: ignore[assignment]
    title: str = property(lambda self: self["title"])  # type: ignore[assignment]
    tags: List[str] = property(lambda self: self["tags"])  # type: ignore[assignment]
    payload: Any = property(lambda self: self.get("payload"))
    status: str = property(lambda self: self["status"])  # type: ignore[assignment]
    attempt: Optional[int] = property(lambda self: self.get("attempt"))  # type: ignore[assignment]


class Turn(NamedTuple):
    results: List[Union[Entry, EventqError]]  # one per report, in this order: completed, failed, released, alive
    events: List[Event]  # the claimed events; may be empty


class Client:
    """Calls to one server. Keeps one connection per thread."""

    def __init__(self, url: str = "http://127.0.0.1:8080", worker_id: Optional[str] = None, timeout: float = 30,
                 tries: int = 5) -> None:
        """`timeout`: seconds for one answer, in addition to the wait of the call. `tries`: includes the first try."""
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/") or parts.query:
            raise ValueError(f"The URL {url!r} is not http://HOST:PORT.")
        if tries < 1:
            raise ValueError(f"tries is {tries}; it must be 1 or more.")
        self.url = url.rstrip("/")
        self.worker_id = worker_id or f"{socket.gethostname()}:{os.getpid()}"
        self.timeout, self.tries = timeout, tries
        made = http.client.HTTPConnection if parts.scheme == "http" else http.client.HTTPSConnection
        self._new_connection = functools.partial(made, parts.hostname, parts.port)
        self._local = threading.local()

    # Publish.

    def publish(self, tags: Tags, payload: Any = None, *, title: Optional[str] = None, description: Optional[str] = None,
                queue: Optional[str] = None, priority: Optional[int] = None, max_retries: Optional[int] = None,
                event_id: Optional[str] = None, correlation_id: Optional[str] = None, causation_id: Optional[str] = None,
                trace_id: Optional[str] = None, traceparent: Optional[str] = None, tracestate: Optional[str] = None,
                published_by: Optional[str] = None, pattern: Optional[str] = None, version: Optional[str] = None,
                source: Optional[Mapping[str, str]] = None, timestamp: Optional[Time] = None,
                ordering_key: Optional[str] = None, supersede_key: Optional[str] = None, run_at: Optional[Time] = None,
                delay: Optional[int] = None, retry: Optional[Mapping[str, Any]] = None) -> Event:
        """Stores one event. The default title is its tags. docs/api.md describes the members."""
        members = {name: value for name, value in locals().items() if name != "self"}
        return Event(self._publish("/events", _new_event(members)))

    def publish_batch(self, events: Iterable[Mapping[str, Any]], *, correlation_id: Optional[str] = None,
                      ordered: bool = False, on_complete: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
        """Stores all events or none: {"correlation_id", "events"}. The keys of an event are the arguments of publish()."""
        answer = self._publish("/events/batch", _without_none({
            "events": [_new_event(event) for event in events], "correlation_id": correlation_id, "ordered": ordered or None,
            "on_complete": None if on_complete is None else _new_event(on_complete)}))
        return _with_events(answer)

    # Work.

    def next(self, tags: Optional[Tags] = None, *, limit: int = 1, wait: int = 0, queue: Optional[str] = None,
             worker_id: Optional[str] = None, completed: Sequence[Mapping[str, Any]] = (),
             failed: Sequence[Mapping[str, Any]] = (), released: Sequence[Mapping[str, Any]] = (),
             alive: Sequence[Mapping[str, Any]] = ()) -> Turn:
        """One call of a worker: sends reports ({"id", "attempt", ...}), then claims up to `limit` events, waiting up to
        `wait` seconds. Each lease in `alive` is extended to one full lease from now."""
        return self._next(_without_none({
            "worker_id": worker_id or self.worker_id, "tags": tags, "limit": limit, "wait": wait or None, "queue": queue,
            "completed": list(completed) or None, "failed": list(failed) or None, "released": list(released) or None,
            "alive": list(alive) or None}))

    def complete(self, event: Union[Event, EventName], *, errors: Optional[Sequence[str]] = None,
                 status_code: Optional[int] = None, execution_time_ms: Optional[int] = None,
                 attempt: Optional[int] = None, worker_id: Optional[str] = None) -> Entry:
        return self._report("complete", event, attempt, worker_id, errors=errors, status_code=status_code,
                            execution_time_ms=execution_time_ms)

    def fail(self, event: Union[Event, EventName], error_message: Optional[str] = None, *, permanent: bool = False,
             status_code: Optional[int] = None, execution_time_ms: Optional[int] = None, attempt: Optional[int] = None,
             worker_id: Optional[str] = None) -> Entry:
        """`retry_scheduled` of the entry is False after the last failure."""
        return self._report("fail", event, attempt, worker_id, error_message=error_message, permanent=permanent or None,
                            status_code=status_code, execution_time_ms=execution_time_ms)

    def release(self, event: Union[Event, EventName], *, delay: Optional[int] = None, reason: Optional[str] = None,
                attempt: Optional[int] = None, worker_id: Optional[str] = None) -> Entry:
        """Releases the event; a worker can claim it after `delay` seconds. Counts no failure."""
        return self._report("release", event, attempt, worker_id, delay=delay, reason=reason)

    def heartbeat(self, event: Union[Event, EventName], *, attempt: Optional[int] = None,
                  worker_id: Optional[str] = None) -> Dict[str, Any]:
        """Extends the lease to one full lease from now."""
        return self._report("heartbeat", event, attempt, worker_id)

    def stream(self, tags: Optional[Tags] = None, prefetch: int = 1, *, queue: Optional[str] = None,
               worker_id: Optional[str] = None) -> "Stream":
        """Events that the server claims for this worker, at most `prefetch` of them unreported."""
        return Stream(self, {"worker_id": worker_id or self.worker_id, "tags": tags, "queue": queue, "prefetch": prefetch})

    # Read, wait, administer.

    def get(self, id: EventName) -> Event:
        return Event(self._request("GET", f"/events/{_named(id)}"))

    def log(self, id: EventName) -> List[Entry]:
        """The audit log entries of the event, oldest first."""
        return self._request("GET", f"/events/{_named(id)}", query={"include_logs": "true"})["logs"]

    def why(self, id: EventName) -> Dict[str, Any]:
        """Explains the status of the event: {"status", "reason", "explanation"}."""
        return self._request("GET", f"/events/{_named(id)}/why")

    def wait(self, id: EventName, timeout: float = 30) -> Event:
        """Waits for the end of the event and returns it. Raises TimedOut after `timeout` seconds."""
        return Event(self._wait(f"/events/{_named(id)}/wait", timeout))

    def list(self, *, status: Optional[str] = None, tags: Optional[Tags] = None, queue: Optional[str] = None,
             worker_id: Optional[str] = None, correlation_id: Optional[str] = None, limit: Optional[int] = None,
             offset: Optional[int] = None, after_id: Optional[int] = None,
             event_id: Optional[str] = None) -> Dict[str, Any]:
        """One page of events, without their payloads: {"events", "total", "total_exact", "limit", "offset"}."""
        query = {name: value for name, value in locals().items() if name != "self"}
        return _with_events(self._request("GET", "/events", query=query))

    def iterate(self, *, limit: int = 1000, after_id: int = 0, **filters: Any) -> Iterator[Event]:
        """All events that list() would show, `limit` per call."""
        while True:
            page = self.list(limit=limit, after_id=after_id or None, **filters)
            events = page["events"]
            yield from events
            if len(events) == limit:
                after_id = events[-1].id
            elif "scanned_to" in page:  # a time limit ended the page
                after_id = page["scanned_to"]
            else:
                return

    def correlation(self, name: str, *, limit: Optional[int] = None, after_id: Optional[int] = None) -> Dict[str, Any]:
        """The events with this correlation id, and counts: {"total", "completed", "failed", "pending", "events"}."""
        path = f"/events/correlation/{_quoted(name)}"
        return _with_events(self._request("GET", path, query={"limit": limit, "after_id": after_id}))

    def wait_correlation(self, name: str, timeout: float = 30) -> Dict[str, Any]:
        """Waits until none of these events is live, then returns the same as correlation(). Raises TimedOut."""
        return _with_events(self._wait(f"/events/correlation/{_quoted(name)}/wait", timeout))

    def reset(self, id: EventName, reason: Optional[str] = None, by: Optional[str] = None) -> Entry:
        """Makes the event pending. A worker that holds it loses its lease. `by` is the person, for the log."""
        return self._once(f"/events/{_named(id)}/reset", reason, by)

    def cancel(self, id: EventName, reason: Optional[str] = None, by: Optional[str] = None) -> Entry:
        return self._once(f"/events/{_named(id)}/cancel", reason, by)

    def worker(self, id: str) -> Dict[str, Any]:
        return self._request("GET", f"/workers/{_quoted(id)}")

    def worker_log(self, id: str, *, limit: Optional[int] = None, before: Optional[str] = None) -> Dict[str, Any]:
        """What a worker did, newest event first: {"entries", "next", "complete"}. Send `next` as `before` until it is None."""
        return self._request("GET", f"/workers/{_quoted(id)}/log", query={"limit": limit, "before": before})

    def queue(self, name: str) -> Dict[str, Any]:
        """The queue without its events; `config` has the current settings."""
        return self._request("GET", f"/queues/{_quoted(name)}", query={"events": 0})

    def queues(self) -> List[Dict[str, Any]]:
        return self._request("GET", "/queues")["queues"]

    def configure(self, name: str, settings: Mapping[str, Any]) -> Dict[str, Any]:
        """Replaces all settings of the queue. Creates the queue if it does not exist."""
        return self._request("PUT", f"/queues/{_quoted(name)}", settings)

    def close(self) -> None:
        """Closes this thread's connection. The next call opens a new one."""
        connection, self._local.connection = getattr(self._local, "connection", None), None
        if connection is not None:
            connection.close()

    # Implementation of the calls.

    def _publish(self, path: str, body: Any) -> Any:
        # All tries share one key, so the server stores the events once.
        return self._request("POST", path, body, headers={"Idempotency-Key": str(uuid.uuid4())})

    def _once(self, path: str, reason: Optional[str], by: Optional[str]) -> Entry:
        # A second try could take the event from its new worker. Close the kept connection first, because _try() sends
        # again when the server has closed it.
        self.close()
        return self._request("POST", path, query={"reason": reason, "by": by}, tries=1)

    def _next(self, body: Mapping[str, Any], tries: Optional[int] = None, timeout: Optional[float] = None) -> Turn:
        answer = self._request("POST", "/events/next", body, wait=body.get("wait", 0), tries=tries, timeout=timeout)
        reports = [report for kind in ("completed", "failed", "released", "alive") for report in body.get(kind, ())]
        results = [_result(result, body["worker_id"], report) for result, report in zip(answer["results"], reports)]
        return Turn(results, [Event(event) for event in answer["events"]])

    def _report(self, action: str, event: Union[Event, EventName], attempt: Optional[int], worker_id: Optional[str],
                **members: Any) -> Entry:
        held: Mapping[str, Any] = event if isinstance(event, dict) else {"id": event}
        worker = worker_id or held.get("worker_id") or self.worker_id
        body = _without_none({"worker_id": worker, "attempt": held.get("attempt") if attempt is None else attempt, **members})
        try:
            return self._request("POST", f"/events/{_named(held['id'])}/{action}", body)
        except EventqError as error:
            if error.kind not in _LAST_FAILURE:
                raise
            return _last_failure(error.problem, worker, {**body, "id": held["id"]})

    def _wait(self, path: str, timeout: float) -> Any:
        end = time.monotonic() + timeout
        while True:
            seconds = min(WAIT_MAX, max(0, math.ceil(end - time.monotonic())))
            try:
                return self._request("POST", path, query={"timeout": seconds}, wait=seconds)
            except TimedOut:
                if time.monotonic() >= end:
                    raise

    def _request(self, method: str, path: str, body: Any = None, *, query: Optional[Mapping[str, Any]] = None,
                 headers: Optional[Mapping[str, str]] = None, wait: float = 0, tries: Optional[int] = None,
                 timeout: Optional[float] = None) -> Any:
        """Repeats the call until it succeeds, or fails with an error that a retry would not change."""
        target, data, headers = _encoded(path, body, query, headers)
        tried = 0
        while True:
            tried += 1
            try:
                return self._try(method, target, data, headers, (timeout or self.timeout) + wait)
            except EventqError as error:
                # After a broken connection (0) the server may have processed the call. A repetition is safe, because calls
                # carry an idempotency key or an attempt.
                transient = error.status in (0, 429, 503) and error.problem.get("outcome") != "unknown"
                if not transient or tried == (tries or self.tries):
                    raise
                pause = _pause(tried) + min(error.retry_after or 0, 10)
            time.sleep(pause)

    def _try(self, method: str, target: str, data: Optional[bytes], headers: Mapping[str, str], timeout: float) -> Any:
        connection, fresh = self._connection(timeout)
        try:
            # The server may answer and close before it has read the whole request.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.request(method, target, data, dict(headers))
            response = connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            if not fresh and not isinstance(error, socket.timeout):
                # The server closes idle connections, so a broken kept connection is not a failure.
                return self._try(method, target, data, headers, timeout)
            # A GET changes nothing, so its outcome is known.
            lost = Unavailable if method == "GET" else UnknownOutcome
            raise lost(f"No answer from {self.url}: {error!r}", kind="no-answer") from error
        if response.will_close:
            self.close()
        return _checked(response, text)

    def _connection(self, timeout: float) -> Tuple[http.client.HTTPConnection, bool]:
        """Returns this thread's connection, and whether it is new."""
        connection = getattr(self._local, "connection", None)
        if connection is not None and self._local.pid == os.getpid():  # a forked process must not share it
            connection.sock.settimeout(timeout)
            return connection, False
        connection = self._connect(timeout)
        self._local.connection, self._local.pid = connection, os.getpid()
        return connection, True

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        connection = self._new_connection(timeout=timeout)
        try:
            connection.connect()
        except OSError as error:
            raise Unavailable(f"Cannot connect to {self.url}: {error}", kind="no-connection") from error
        return connection


class Stream:
    """Events as the server pushes them: iterate over it. Reconnects when the connection breaks.

    Threads: iterate in one thread; close() from any thread.
    """

    def __init__(self, client: Client, query: Mapping[str, Any]) -> None:
        self._client = client
        self._target, _, self._headers = _encoded("/events/stream", None, query, {"Accept": "text/event-stream"})
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._connection: Optional[http.client.HTTPConnection] = None

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Ends the iteration. Unreported events stay leased to this worker until their leases end."""
        self._closed.set()
        with self._lock:
            if self._connection is not None and self._connection.sock is not None:
                with contextlib.suppress(OSError):  # the other side may have closed it
                    self._connection.sock.shutdown(socket.SHUT_RDWR)  # wakes the reading thread

    def __iter__(self) -> Iterator[Event]:
        failures = 0
        while not self._closed.is_set():
            try:
                for event in self._events():
                    failures = 0
                    yield event
            except EventqError as error:
                if error.status not in (0, 429, 503):
                    raise
            except (OSError, http.client.HTTPException):
                pass  # the connection broke
            failures += 1
            self._closed.wait(_pause(failures))

    def _events(self) -> Iterator[Event]:
        connection = self._client._connect(SILENCE_MAX)
        with self._lock:
            self._connection = connection
        try:
            if self._closed.is_set():
                return
            connection.request("GET", self._target, headers=dict(self._headers))
            response = connection.getresponse()
            if response.status != 200:
                _checked(response, response.read())
            data: List[str] = []
            for raw in response:
                line = raw.decode("utf-8").rstrip("\r\n")
                if line.startswith("data:"):
                    data.append(line[5:].lstrip(" "))
                elif not line and data:
                    yield Event(json.loads("\n".join(data)))
                    data = []
        finally:
            with self._lock:
                connection.close()


class Permanent(Exception):
    """Raised by a handler: the event fails without a retry."""


class Later(Exception):
    """Raised by a handler: the worker releases the event with this delay. Counts no failure."""

    def __init__(self, seconds: Union[float, datetime.timedelta], reason: str = "") -> None:
        super().__init__(reason)
        self.seconds = float(seconds.total_seconds() if isinstance(seconds, datetime.timedelta) else seconds)
        if math.isnan(self.seconds):
            raise ValueError("The seconds of Later must be a number.")
        self.reason = str(reason)


# Returns None, or a list of error messages for COMPLETED_WITH_ERRORS. An exception is a failure.
Handler = Callable[[Event], Optional[Sequence[str]]]


class _Held:
    """An event that the worker holds: waiting, running, or finished and not yet reported."""

    def __init__(self, event: Event, sent_at: float) -> None:
        self.event = event
        self.lease_seconds = _seconds(event["lease_until"]) - _seconds(event["updated_at"])
        self.lease_end = time.monotonic() + self.lease_seconds  # by our clock; starts when the answer arrives
        self.beat_at = sent_at + self.lease_seconds / 3  # already past if the call waited longer than that
        self.running = False
        self.gone = False  # the server answered that the lease is lost: there is nothing to report
        self.kind = ""  # of the report: completed, failed or released; empty: not finished
        self.report: Dict[str, Any] = {}


class Worker:
    """Claims events, runs handlers in threads, extends the leases, and sends reports."""

    def __init__(self, client: Client, tags: Union[None, Tags, Mapping[str, Handler]], handler: Optional[Handler] = None, *,
                 threads: int = 4, prefetch: Optional[int] = None, queue: str = "main", stop_within: float = 30) -> None:
        """`tags` with one handler, or {tag: handler}: all handlers that match an event run, and the worst result counts.
        The worker holds `prefetch` events in addition to the running ones; the default is `threads`."""
        if isinstance(tags, Mapping) == (handler is not None):
            raise ValueError("A worker needs tags and a handler, or a mapping of tags to handlers.")
        if not 1 <= threads <= 1000 or (prefetch or 0) < 0:
            raise ValueError(f"threads is {threads} and prefetch {prefetch}; threads must be 1 to 1000, prefetch 0 or more.")
        self._client = client
        self._handlers: List[Tuple[str, Any]] = [("", handler)]
        if isinstance(tags, Mapping):
            self._handlers = [(tag.strip(" \t"), each) for tag, each in tags.items()]  # the server trims tags, too
            tags = [tag for tag, _ in self._handlers]
        self._claim = _without_none({"tags": tags, "queue": queue})
        self._threads = threads
        self._capacity = min(1000, threads + (threads if prefetch is None else prefetch))
        self._stop_within = stop_within

        self._changed = threading.Condition()  # guards the members below; notified when one changes
        self._held: Dict[Tuple[int, int], _Held] = {}  # by id and attempt
        self._ready: Deque[_Held] = collections.deque()
        self._finished: List[_Held] = []  # waiting to be reported
        self._requested = 0  # events that pending calls may still return
        self._reporting = False
        self._alone = 0  # this many reports are sent one by one, because a call with all of them was refused
        self._stopping = self._over = False
        self._all_returned = True
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
        self.stop()
        if error is not None:
            raise error
        return self._all_returned

    def start(self) -> None:
        loops = [self._claim_loop, self._report_loop, self._heartbeat_loop, self._expiry_loop]
        loops += [self._handle_loop] * self._threads
        self._started = [threading.Thread(target=self._run, args=(loop,), daemon=True) for loop in loops]
        for thread in self._started:
            thread.start()

    def stop(self) -> bool:
        """Claims no more events, releases those that no handler has begun, and waits `stop_within` seconds for handlers.
        For each handler that still runs then it sets event.lost, releases the event and abandons the thread. Returns
        True if no thread was abandoned."""
        end = time.monotonic() + self._stop_within
        with self._changed:
            self._stopping = True
            while self._ready:
                self._finish(self._ready.popleft(), "released", {"reason": "the worker stops"})
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._running(), max(0.0, end - time.monotonic()))
            for held in self._running():
                self._all_returned = False
                held.event.lost.set()
                self._finish(held, "released", {"reason": "the worker stops; its handler had not returned"})
            # Sending reports may take as long as one call, however long the handlers ran.
            self._changed.wait_for(lambda: not (self._finished or self._reporting or self._requested), self._client.timeout)
            self._over = True
            self._changed.notify_all()
        for thread in self._started[:4]:
            thread.join(self._client.timeout)
        self._wake.put(None)
        return self._all_returned

    def _run(self, loop: Callable[[], None]) -> None:
        try:
            loop()
        except BaseException as error:  # without this thread the worker would hang, so end it
            log.critical("The worker stops after an unexpected error.", exc_info=True)
            self._wake.put(error)
        finally:
            self._client.close()

    def _running(self) -> List[_Held]:
        return [held for held in self._held.values() if held.running and not held.kind]

    def _free_capacity(self) -> int:
        if self._stopping:
            return 0
        working = sum(1 for held in self._held.values() if not held.kind)
        return max(0, self._capacity - working - self._requested)

    def _finish(self, held: _Held, kind: str, report: Dict[str, Any]) -> None:
        """Records the result, unless there is one. REQUIRES: self._changed is locked."""
        if held.kind:
            return
        held.kind, held.report = kind, {"id": held.event.id, "attempt": held.event.attempt, **report}
        if held.gone:
            del self._held[held.event.id, held.event.attempt]
        else:
            self._finished.append(held)
        self._changed.notify_all()

    def _claim_loop(self) -> None:
        """Polls for events while there is capacity. Pauses while reports are waiting, because their call claims as well."""
        failures = 0
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: self._stopping or (self._free_capacity() and not self._finished and not self._reporting))
                if self._stopping:
                    return
                free = self._free_capacity()
                self._requested += free
            failures = self._after(failures, self._turn(free, POLL_SECONDS, []))

    def _report_loop(self) -> None:
        """Sends all waiting reports in one call, which also claims events for the free capacity."""
        failures = 0
        while True:
            with self._changed:
                # While the worker stops, wait for its last poll first. Otherwise that poll could claim the released events.
                self._changed.wait_for(lambda: self._over or (self._finished and not (self._stopping and self._requested)))
                if not self._finished:
                    return
                if self._over and failures:
                    log.error("%d events were not reported; their leases will expire.", len(self._finished))
                    return
                count = 1 if self._alone else REPORTS_MAX
                reports, self._finished = self._finished[:count], self._finished[count:]
                free = 0 if self._alone else self._free_capacity()
                self._requested += free
                self._reporting = True
            failures = self._after(failures, self._turn(free, 0, reports))

    def _after(self, failures: int, error: Optional[EventqError]) -> int:
        """Waits before the next try, longer after each failure in a row. Returns the number of failures in a row."""
        if error is None:
            return 0
        if not failures:
            log.warning("The call failed; retrying: %s", error)
        pause = _pause(failures + 1) + min(error.retry_after or 0, 10)
        with self._changed:
            self._changed.wait_for(lambda: self._over, pause)
        return failures + 1

    def _turn(self, free: int, wait: int, reports: List[_Held]) -> Optional[EventqError]:
        """Makes one call. Returns an error if the call must be repeated."""
        reports.sort(key=lambda held: held.kind)  # the server answers in this order
        body: Dict[str, Any] = {"worker_id": self._client.worker_id, "limit": free}
        if free:
            body.update(self._claim, wait=wait)
        for held in reports:
            body.setdefault(held.kind, []).append(held.report)
        sent_at = time.monotonic()
        turn, failure, again = Turn([], []), None, None
        try:
            turn = self._client._next(body, tries=1)
        except EventqError as error:
            failure = error
        except BaseException:  # stop() waits for these counters, so reset them first
            with self._changed:
                self._requested, self._reporting = self._requested - free, self._reporting and not reports
            raise
        final = failure is not None and failure.status in (400, 413)
        with self._changed:
            self._requested -= free
            if reports:
                self._reporting = False
            if final and (len(reports) > 1 or (reports and free)):
                self._alone, self._finished = len(reports), reports + self._finished
            elif final or failure is None:
                self._alone = max(0, self._alone - len(reports))
                again = self._settle(reports, [failure] * len(reports) if failure else turn.results)
            else:
                self._finished = reports + self._finished
            for event in turn.events:
                held = self._held[event.id, event.attempt] = _Held(event, sent_at)
                if self._stopping:
                    self._finish(held, "released", {"reason": "the worker stops"})
                else:
                    self._ready.append(held)
            self._changed.notify_all()
        if final and not reports:
            self._wake.put(failure)
        return None if final and reports else failure or again

    def _settle(self, reports: List[_Held], results: Sequence[Union[Entry, EventqError]]) -> Optional[EventqError]:
        """Removes the events whose reports were answered for good. Returns an error if some reports must be repeated.
        REQUIRES: self._changed is locked."""
        again = None
        for held, result in itertools.zip_longest(reports, results, fillvalue=Unavailable("No answer.")):
            if isinstance(result, EventqError) and result.status not in (400, 404, 409, 413):
                self._finished.append(held)
                again = result
                continue
            del self._held[held.event.id, held.event.attempt]
            if isinstance(result, EventqError):
                held.event.lost.set()
                log.warning("The report on event %d was refused: %s", held.event.id, result)
        return again

    def _heartbeat_loop(self) -> None:
        """Extends each lease when a third of it has passed, in one call for all that are due."""
        while True:
            with self._changed:
                if self._over:
                    return
                now = time.monotonic()
                kept = [held for held in self._held.values() if not held.gone]
                due = [held for held in kept if held.beat_at <= now][:REPORTS_MAX]
                if not due:
                    self._changed.wait(_until((held.beat_at for held in kept), now))
                    continue
            self._send_heartbeats(due)

    def _send_heartbeats(self, due: List[_Held]) -> None:
        sent_at = time.monotonic()
        body = {"worker_id": self._client.worker_id, "limit": 0,
                "alive": [{"id": held.event.id, "attempt": held.event.attempt} for held in due]}
        results: Sequence[Union[Entry, EventqError]] = ()
        try:
            shortest = min(held.lease_seconds for held in due)
            results = self._client._next(body, tries=1, timeout=min(shortest / 3, BEAT_SECONDS_MAX)).results
        except EventqError as error:
            log.info("Leases were not extended; retrying: %s", error)
        with self._changed:
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

    def _expiry_loop(self) -> None:
        """Sets event.lost when a lease has ended by our own clock. The server may still accept the report."""
        with self._changed:
            while not self._over:
                now = time.monotonic()
                for held in [held for held in self._held.values() if held.lease_end <= now]:
                    held.event.lost.set()
                    if held in self._ready:
                        self._ready.remove(held)
                        self._release_expired(held)
                ends = (held.lease_end for held in self._held.values() if held.lease_end > now)
                self._changed.wait(_until(ends, now))

    def _release_expired(self, held: _Held) -> None:
        """Releases an event whose lease ended before a handler began. REQUIRES: self._changed is locked."""
        self._finish(held, "released", {"reason": "the lease ended before a handler began"})

    def _handle_loop(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopping or self._ready)
                if self._stopping:
                    return
                held = self._ready.popleft()
                if held.gone or held.lease_end <= time.monotonic():
                    self._release_expired(held)
                    continue
                held.running = True
            started = time.monotonic()
            try:
                kind, report = self._handle(held.event)
            except BaseException as error:  # for example, str() of the exception raised
                kind, report = "failed", {"error_message": f"Formatting the handler's error raised {type(error).__name__}."}
            if kind != "released":
                report["execution_time_ms"] = int((time.monotonic() - started) * 1000)
            with self._changed:
                self._finish(held, kind, report)

    def _handle(self, event: Event) -> Tuple[str, Dict[str, Any]]:
        """Runs all handlers that match. The worst result decides, in this order: permanent, retry, later, done."""
        errors: List[str] = []
        raised: List[BaseException] = []
        matching = [handler for tag, handler in self._handlers if not tag or tag in event.tags]
        if not matching:
            return "failed", {"error_message": f"No handler here matches the tags {', '.join(event.tags)}."}
        for handler in matching:
            try:
                returned = handler(event)
                errors += map(str, returned if isinstance(returned, (list, tuple)) else ())
            except BaseException as error:  # the thread must survive any exception of a handler
                if not isinstance(error, (Permanent, Later)):
                    log.info("The handler of event %d failed.", event.id, exc_info=True)
                raised.append(error)
        failures = [error for error in raised if not isinstance(error, Later)]
        if failures:
            message = "\n".join([_message(error) for error in failures] + errors)
            permanent = any(isinstance(error, Permanent) for error in failures)
            return "failed", {"error_message": _text(message), **({"permanent": True} if permanent else {})}
        laters = [error for error in raised if isinstance(error, Later)]
        if laters:
            seconds = min(DELAY_SECONDS_MAX, max(0, *(later.seconds for later in laters)))
            reason = _line("; ".join(later.reason for later in laters if later.reason))
            return "released", {"delay": math.ceil(seconds), **({"reason": reason} if reason else {})}
        return "completed", {"errors": [_text(error) for error in errors[:100]]} if errors else {}


# Encoding of members, answers and times.

_quoted = functools.partial(urllib.parse.quote, safe="")


def _named(id: EventName) -> str:
    """The event as a part of a path."""
    return _quoted(str(id))


def _without_none(members: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _new_event(members: Mapping[str, Any]) -> Dict[str, Any]:
    event = _without_none(members)
    if isinstance(event.get("tags"), tuple):
        event["tags"] = list(event["tags"])
    if "title" not in event and event.get("tags"):
        event["title"] = (event["tags"] if isinstance(event["tags"], str) else ",".join(event["tags"]))[:200]
    for name in ("timestamp", "run_at"):
        if isinstance(event.get(name), datetime.datetime):
            event[name] = event[name].astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    return event


def _with_events(answer: Dict[str, Any]) -> Dict[str, Any]:
    answer["events"] = [Event(event) for event in answer["events"]]
    return answer


def _encoded(path: str, body: Any, query: Optional[Mapping[str, Any]],
             headers: Optional[Mapping[str, str]]) -> Tuple[str, Optional[bytes], Dict[str, str]]:
    members = {name: value if isinstance(value, (str, int)) else ",".join(value)
               for name, value in _without_none(query or {}).items()}
    target = f"{path}?{urllib.parse.urlencode(members)}" if members else path
    if body is None:
        return target, None, dict(headers or {})
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return target, text.encode("utf-8"), {"Content-Type": "application/json", **(headers or {})}


def _checked(response: http.client.HTTPResponse, text: bytes) -> Any:
    """Returns the body of the answer. Raises the error for a status that is not 2xx."""
    is_success = 200 <= response.status < 300
    try:
        body = json.loads(text)
    except ValueError as error:
        if is_success:
            raise UnknownOutcome("The answer is not JSON; is this an eventq server?", kind="no-answer") from error
        body = {}
    if is_success:
        return body
    raise _error(response.status, body, response.headers.get("Retry-After"))


def _error(status: int, problem: Mapping[str, Any], retry_after: Optional[str] = None) -> EventqError:
    kind = str(problem.get("type", "")).rpartition(":")[2]
    message = problem.get("error") or f"The server answered {status}."
    seconds = int(retry_after) if retry_after and retry_after.isdigit() else None
    return _KINDS.get(kind, Unavailable if status == 503 else EventqError)(message, status, kind, problem, seconds)


def _result(result: Dict[str, Any], worker_id: str, report: Mapping[str, Any]) -> Union[Entry, EventqError]:
    """Converts one result of next() to the result of the corresponding single call."""
    status = result.pop("status", 200)
    if status == 200:
        return result
    error = _error(status, {**result, "status": status})
    return _last_failure(error.problem, worker_id, report) if error.kind in _LAST_FAILURE else error


def _last_failure(problem: Mapping[str, Any], worker_id: str, report: Mapping[str, Any]) -> Entry:
    """The entry of a final failure. The server recorded the report, so the call succeeded."""
    members = ("attempt", "status_code", "error_message", "execution_time_ms")
    return {"event_id": problem.get("event_id", report["id"]), "worker_id": worker_id, "action": "FAILED",
            "retry_scheduled": False, "next_retry_at": None, "retry_count": problem.get("retry_count"),
            "max_retries": problem.get("max_retries"),
            **{name: report[name] for name in members if name in report}}


def _pause(failures: int) -> float:
    """Seconds before the next try, with full jitter."""
    return random.uniform(0, min(10.0, 0.1 * 2**failures))


def _until(times: Iterable[float], now: float) -> Optional[float]:
    """Seconds until the first of these times; None if there is none."""
    first = min(times, default=math.inf)
    return None if first == math.inf else first - now


def _seconds(text: str) -> float:
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=datetime.timezone.utc).timestamp()


def _message(error: BaseException) -> str:
    return str(error) if isinstance(error, Permanent) else f"{type(error).__name__}: {error}"


def _text(text: str) -> str:
    """Shortens the text to the server's limit, and replaces characters that the server rejects."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace")[:TEXT_BYTES_MAX].decode("utf-8", "ignore")


def _line(text: str) -> str:
    return _text("".join(c if c.isprintable() else " " for c in text))[:REASON_CHARACTERS_MAX]
