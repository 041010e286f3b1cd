"""_client.py: calls to one server from any thread, each over the connection of its thread."""
from __future__ import annotations

import contextlib
import functools
import http.client
import os
import socket
import threading
import time
import uuid
from typing import Any, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import _wire as wire
from ._errors import EventqError, TimedOut, is_transient, no_answer, no_connection
from ._wire import Entry, EventMembers, EventName, Tags, Time


class Event(EventMembers):
    """An event as the server shows it, with its tags as a list. The usual members are also attributes."""

    lost: threading.Event  # for handlers: set when the lease is lost, or when stop() no longer waits

    def __init__(self, members: Mapping[str, Any]) -> None:
        super().__init__(members)
        self.lost = threading.Event()


class Turn(NamedTuple):
    """The answer to next()."""

    results: List[Union[Entry, EventqError]]  # one per report, in this order: completed, failed, released, alive
    events: List[Event]  # the claimed events; may be empty


class Client:
    """Calls to one server. Keeps one connection per thread."""

    def __init__(self, url: str = wire.DEFAULT_URL, worker_id: Optional[str] = None, timeout: float = 30,
                 tries: int = 5) -> None:
        """`timeout`: seconds for one answer, in addition to the wait of the call. `tries`: includes the first try."""
        address = wire.address_of(url)
        self.url = address.url
        self.worker_id = worker_id or wire.default_worker_id()
        self.timeout, self.tries = timeout, wire.checked_tries(tries)
        made = http.client.HTTPSConnection if address.is_tls else http.client.HTTPConnection
        self._new_connection = functools.partial(made, address.host, address.port)
        self._local = threading.local()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Publish.

    def publish(self, tags: Tags, payload: Any = None, *, title: Optional[str] = None, description: Optional[str] = None,
                queue: Optional[str] = None, priority: Optional[int] = None, max_retries: Optional[int] = None,
                max_attempts: Optional[int] = None, event_id: Optional[str] = None, correlation_id: Optional[str] = None,
                causation_id: Optional[str] = None, trace_id: Optional[str] = None, traceparent: Optional[str] = None,
                tracestate: Optional[str] = None, published_by: Optional[str] = None, pattern: Optional[str] = None,
                version: Optional[str] = None, source: Optional[Mapping[str, str]] = None, timestamp: Optional[Time] = None,
                ordering_key: Optional[str] = None, supersede_key: Optional[str] = None, run_at: Optional[Time] = None,
                delay: Optional[int] = None, retry: Optional[Mapping[str, Any]] = None) -> Event:
        """Stores one event. The default title is its tags. docs/api.md describes the members."""
        return Event(self._publish("/events", wire.new_event(wire.arguments(locals()))))

    def publish_batch(self, events: Iterable[Mapping[str, Any]], *, correlation_id: Optional[str] = None,
                      ordered: bool = False, on_complete: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
        """Stores all events or none: {"correlation_id", "events"}. The keys of an event are the arguments of publish()."""
        body = wire.new_batch(events, correlation_id, ordered, on_complete)
        return wire.with_events(self._publish("/events/batch", body), Event)

    # Work.

    def next(self, tags: Optional[Tags] = None, *, limit: int = 1, wait: int = 0, queue: Optional[str] = None,
             worker_id: Optional[str] = None, completed: Sequence[Mapping[str, Any]] = (),
             failed: Sequence[Mapping[str, Any]] = (), released: Sequence[Mapping[str, Any]] = (),
             alive: Sequence[Mapping[str, Any]] = ()) -> Turn:
        """One call of a worker: sends reports ({"id", "attempt", ...}), then claims up to `limit` events, waiting up to
        `wait` seconds. Each lease in `alive` is extended to one full lease from now."""
        return self._next(wire.without_none({
            "worker_id": worker_id or self.worker_id, "tags": tags, "limit": limit, "wait": wait or None, "queue": queue,
            "completed": list(completed) or None, "failed": list(failed) or None, "released": list(released) or None,
            "alive": list(alive) or None}))

    def complete(self, event: Union[Event, EventName], *, result: Any = None, errors: Optional[Sequence[str]] = None,
                 status_code: Optional[int] = None, execution_time_ms: Optional[int] = None,
                 attempt: Optional[int] = None, worker_id: Optional[str] = None) -> Entry:
        """Completes the event. `result` is any JSON value. With `errors` its status becomes COMPLETED_WITH_ERRORS."""
        return self._report("complete", event, attempt, worker_id, result=result, errors=errors, status_code=status_code,
                            execution_time_ms=execution_time_ms)

    def fail(self, event: Union[Event, EventName], error_message: Optional[str] = None, *,
             error_detail: Optional[str] = None, permanent: bool = False,
             status_code: Optional[int] = None, execution_time_ms: Optional[int] = None, attempt: Optional[int] = None,
             worker_id: Optional[str] = None) -> Entry:
        """`error_detail` is, for example, a stack trace; of a long one the end is kept. `retry_scheduled` of the entry is
        False after the last failure."""
        error_detail = None if error_detail is None else wire.short_detail(error_detail)
        return self._report("fail", event, attempt, worker_id, error_message=error_message, error_detail=error_detail,
                            permanent=permanent or None, status_code=status_code, execution_time_ms=execution_time_ms)

    def release(self, event: Union[Event, EventName], *, delay: Optional[int] = None, reason: Optional[str] = None,
                attempt: Optional[int] = None, worker_id: Optional[str] = None) -> Entry:
        """Releases the event; a worker can claim it after `delay` seconds. Counts no failure."""
        return self._report("release", event, attempt, worker_id, delay=delay, reason=reason)

    def heartbeat(self, event: Union[Event, EventName], *, attempt: Optional[int] = None,
                  worker_id: Optional[str] = None) -> Dict[str, Any]:
        """Extends the lease to one full lease from now."""
        return self._report("heartbeat", event, attempt, worker_id)

    def stream(self, tags: Optional[Tags] = None, prefetch: int = 1, *, queue: Optional[str] = None,
               worker_id: Optional[str] = None) -> Stream:
        """Events that the server claims for this worker, at most `prefetch` of them unreported."""
        return Stream(self, {"worker_id": worker_id or self.worker_id, "tags": tags, "queue": queue,
                             "prefetch": prefetch})

    # Read, wait, administer.

    def get(self, id: EventName) -> Event:
        """The event with all its members."""
        return Event(self._request("GET", f"/events/{wire.quoted(id)}"))

    def log(self, id: EventName) -> List[Entry]:
        """The audit log entries of the event, oldest first."""
        entries: List[Entry] = self._request("GET", f"/events/{wire.quoted(id)}", query={"include_logs": "true"})["logs"]
        return entries

    def why(self, id: EventName) -> Dict[str, Any]:
        """Explains the status of the event: {"status", "reason", "explanation"}."""
        return self._request("GET", f"/events/{wire.quoted(id)}/why")

    def wait(self, id: EventName, timeout: float = 30) -> Event:
        """Waits for the end of the event and returns it. Raises TimedOut after `timeout` seconds."""
        return Event(self._wait(f"/events/{wire.quoted(id)}/wait", timeout))

    def list(self, *, status: Optional[str] = None, tags: Optional[Tags] = None, queue: Optional[str] = None,
             worker_id: Optional[str] = None, correlation_id: Optional[str] = None, event_id: Optional[str] = None,
             pattern: Optional[str] = None, since: Optional[Time] = None, until: Optional[Time] = None,
             filter: Optional[str] = None, order: Optional[str] = None, include: Union[None, str, Sequence[str]] = None,
             limit: Optional[int] = None, offset: Optional[int] = None, after_id: Optional[int] = None,
             before_id: Optional[int] = None, cursor: Optional[str] = None) -> Dict[str, Any]:
        """One page of events: {"events", "total", "total_exact", "limit", "offset", "next"}. Send `next` as `cursor` for the
        next page, until it is None. Events have no payload, unless `include` names it. docs/api.md has all parameters."""
        return wire.with_events(self._request("GET", "/events", query=wire.arguments(locals())), Event)

    def iterate(self, *, limit: int = 1000, **parameters: Any) -> Iterator[Event]:
        """All events that list() would show, page by page, with `limit` events per call."""
        while True:
            page = self.list(limit=limit, **parameters)
            yield from page["events"]
            if page["next"] is None:
                return
            parameters.update(cursor=page["next"], offset=None)

    def correlation(self, name: str, *, limit: Optional[int] = None, after_id: Optional[int] = None) -> Dict[str, Any]:
        """The events with this correlation id, and counts: {"total", "completed", "failed", "pending", "events"}."""
        path = f"/events/correlation/{wire.quoted(name)}"
        return wire.with_events(self._request("GET", path, query={"limit": limit, "after_id": after_id}), Event)

    def wait_correlation(self, name: str, timeout: float = 30) -> Dict[str, Any]:
        """Waits until none of these events is live, then returns the same as correlation(). Raises TimedOut."""
        return wire.with_events(self._wait(f"/events/correlation/{wire.quoted(name)}/wait", timeout), Event)

    def reset(self, id: EventName, reason: Optional[str] = None, by: Optional[str] = None) -> Entry:
        """Makes the event pending. A worker that holds it loses its lease. `by` is the person, for the log."""
        return self._once(f"/events/{wire.quoted(id)}/reset", reason, by)

    def cancel(self, id: EventName, reason: Optional[str] = None, by: Optional[str] = None) -> Entry:
        """Ends the event as CANCELLED. A worker that holds it loses its lease. `by` is the person, for the log."""
        return self._once(f"/events/{wire.quoted(id)}/cancel", reason, by)

    def worker(self, id: str) -> Dict[str, Any]:
        """What the server knows about a worker: when it was last seen, the events it holds, and its counts."""
        return self._request("GET", f"/workers/{wire.quoted(id)}")

    def workers(self) -> List[Dict[str, Any]]:
        """All workers, as worker() shows each. `state` is active, idle, stale or gone."""
        workers: List[Dict[str, Any]] = self._request("GET", "/workers")["workers"]
        return workers

    def failures(self) -> List[Dict[str, Any]]:
        """Failed events in groups with the same cause, the largest first: {"cause", "sample", "events", ...}."""
        failures: List[Dict[str, Any]] = self._request("GET", "/failures")["failures"]
        return failures

    def worker_log(self, id: str, *, limit: Optional[int] = None, before: Optional[str] = None) -> Dict[str, Any]:
        """What a worker did, newest event first: {"entries", "next", "complete"}. Send `next` as `before` until it is None."""
        return self._request("GET", f"/workers/{wire.quoted(id)}/log", query={"limit": limit, "before": before})

    def sign_off(self, worker_id: Optional[str] = None) -> None:
        """Says that a worker has stopped. A stopping Worker does this itself. An older server ignores it."""
        path = f"/workers/{wire.quoted(worker_id or self.worker_id)}"
        try:
            self._request("DELETE", path, tries=1, timeout=wire.SIGN_OFF_SECONDS)
        except EventqError as error:
            if error.status not in (404, 405):
                raise

    def overview(self) -> Dict[str, Any]:
        """Queues, workers, failures and rates in one call, as `eventq top` shows them."""
        return self._request("GET", "/overview")

    def queue(self, name: str) -> Dict[str, Any]:
        """The queue without its events; `config` has the current settings."""
        return self._request("GET", f"/queues/{wire.quoted(name)}", query={"events": 0})

    def queues(self) -> List[Dict[str, Any]]:
        """All queues, as queue() shows each."""
        queues: List[Dict[str, Any]] = self._request("GET", "/queues")["queues"]
        return queues

    def configure(self, name: str, settings: Mapping[str, Any]) -> Dict[str, Any]:
        """Replaces all settings of the queue. Creates the queue if it does not exist."""
        return self._request("PUT", f"/queues/{wire.quoted(name)}", settings)

    def close(self) -> None:
        """Closes this thread's connection. The next call opens a new one."""
        connection, self._local.connection = getattr(self._local, "connection", None), None
        if connection is not None:
            connection.close()

    # Implementation of the calls.

    def _publish(self, path: str, body: Mapping[str, Any]) -> Dict[str, Any]:
        # All tries share one key, so the server stores the events once.
        return self._request("POST", path, body, headers={"Idempotency-Key": str(uuid.uuid4())})

    def _once(self, path: str, reason: Optional[str], by: Optional[str]) -> Entry:
        # A second try could take the event from its new worker. Close the kept connection first, because _try() sends
        # again when the server has closed it.
        self.close()
        return self._request("POST", path, query={"reason": reason, "by": by}, tries=1)

    def _next(self, body: Mapping[str, Any], tries: Optional[int] = None, timeout: Optional[float] = None) -> Turn:
        answer = self._request("POST", "/events/next", body, wait=body.get("wait", 0), tries=tries, timeout=timeout)
        return Turn(wire.results_of(answer, body), [Event(event) for event in answer["events"]])

    def _report(self, action: str, event: Union[EventMembers, EventName], attempt: Optional[int],
                worker_id: Optional[str], **members: Any) -> Entry:
        held = wire.held_of(event)
        worker = worker_id or held.get("worker_id") or self.worker_id
        attempt = held.get("attempt") if attempt is None else attempt
        body = wire.without_none({"worker_id": worker, "attempt": attempt, **members})
        try:
            return self._request("POST", f"/events/{wire.quoted(held['id'])}/{action}", body)
        except EventqError as error:
            if error.kind not in wire.LAST_FAILURE:
                raise
            return wire.last_failure(error.problem, worker, {**body, "id": held["id"]})

    def _wait(self, path: str, timeout: float) -> Dict[str, Any]:
        end = time.monotonic() + timeout
        while True:
            seconds = wire.wait_of(end, time.monotonic())
            try:
                return self._request("POST", path, query={"timeout": seconds}, wait=seconds)
            except TimedOut:
                if time.monotonic() >= end:
                    raise

    def _request(self, method: str, path: str, body: Any = None, *, query: Optional[Mapping[str, Any]] = None,
                 headers: Optional[Mapping[str, str]] = None, wait: float = 0, tries: Optional[int] = None,
                 timeout: Optional[float] = None) -> Dict[str, Any]:
        """Repeats the call until it succeeds, or fails with an error that a retry would not change."""
        request = wire.encoded(method, path, body, query, headers)
        tried = 0
        while True:
            tried += 1
            try:
                return self._try(request, (timeout or self.timeout) + wait)
            except EventqError as error:
                if not is_transient(error) or tried == (tries or self.tries):
                    raise
                pause = wire.pause_seconds(tried, error.retry_after)
            time.sleep(pause)

    def _try(self, request: wire.Request, timeout: float) -> Dict[str, Any]:
        connection, fresh = self._connection(timeout)
        try:
            # The server may answer and close before it has read the whole request.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.request(*request)
            response = connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            if not fresh and not isinstance(error, socket.timeout):
                # The server closes idle connections, so a broken kept connection is not a failure.
                return self._try(request, timeout)
            raise no_answer(self.url, request.method, error) from error
        if response.will_close:
            self.close()
        return wire.checked(response.status, response.headers.get("Retry-After"), text)

    def _connection(self, timeout: float) -> Tuple[http.client.HTTPConnection, bool]:
        """Returns this thread's connection, and whether it is new."""
        connection: Optional[http.client.HTTPConnection] = getattr(self._local, "connection", None)
        if connection is not None and self._local.pid == os.getpid():  # a forked process must not share it
            connection.sock.settimeout(timeout)
            return connection, False
        connection = self._connect(timeout)
        self._local.connection, self._local.pid = connection, os.getpid()
        return connection, True

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        connection: http.client.HTTPConnection = self._new_connection(timeout=timeout)
        try:
            connection.connect()
        except OSError as error:
            raise no_connection(self.url, error) from error
        return connection


class Stream:
    """Events as the server pushes them: iterate over it. Reconnects when the connection breaks.

    Threads: iterate in one thread; close() from any thread.
    """

    def __init__(self, client: Client, query: Mapping[str, Any]) -> None:
        self._client = client
        self._request = wire.encoded("GET", "/events/stream", None, query, {"Accept": "text/event-stream"})
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._connection: Optional[http.client.HTTPConnection] = None

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
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
            self._closed.wait(wire.pause_seconds(failures))

    def _events(self) -> Iterator[Event]:
        connection = self._client._connect(wire.SILENCE_MAX)
        with self._lock:
            self._connection = connection
        try:
            if self._closed.is_set():
                return
            connection.request(*self._request)
            response = connection.getresponse()
            if response.status != 200:
                wire.checked(response.status, response.headers.get("Retry-After"), response.read())
            lines = (raw.decode("utf-8").rstrip("\r\n") for raw in response)
            yield from map(Event, wire.data_lines(lines, []))
        finally:
            with self._lock:
                connection.close()
