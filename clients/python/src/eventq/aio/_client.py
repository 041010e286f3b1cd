"""_client.py: calls to one server from an event loop. Each method has the arguments of the threaded client."""
from __future__ import annotations

import asyncio
import time
import uuid
from typing import Any, AsyncGenerator, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Union

from .. import _wire as wire
from .._errors import EventqError, TimedOut, is_transient, no_answer, no_connection
from .._wire import Entry, EventMembers, EventName, Tags, Time
from ._connection import Connection


class Event(EventMembers):
    """An event as the server shows it, with its tags as a list. The usual members are also attributes."""

    lost: asyncio.Event  # for handlers: set when the lease is lost, or when stop() no longer waits

    def __init__(self, members: Mapping[str, Any]) -> None:
        super().__init__(members)
        self.lost = asyncio.Event()


class Turn(NamedTuple):
    """The answer to next()."""

    results: List[Union[Entry, EventqError]]  # one per report, in this order: completed, failed, released, alive
    events: List[Event]  # the claimed events; may be empty


class Client:
    """Calls to one server. Keeps the connections that no call uses now."""

    def __init__(self, url: str = wire.DEFAULT_URL, worker_id: Optional[str] = None, timeout: float = 30,
                 tries: int = 5) -> None:
        """`timeout`: seconds for one answer, in addition to the wait of the call. `tries`: includes the first try."""
        address = wire.address_of(url)
        self.url = address.url
        self.worker_id = worker_id or wire.default_worker_id()
        self.timeout, self.tries = timeout, wire.checked_tries(tries)
        self._address = address
        self._idle: List[Connection] = []

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    # Publish.

    async def publish(self, tags: Tags, payload: Any = None, *, title: Optional[str] = None, description: Optional[str] = None,
                queue: Optional[str] = None, priority: Optional[int] = None, max_retries: Optional[int] = None,
                max_attempts: Optional[int] = None, event_id: Optional[str] = None, correlation_id: Optional[str] = None,
                causation_id: Optional[str] = None, trace_id: Optional[str] = None, traceparent: Optional[str] = None,
                tracestate: Optional[str] = None, published_by: Optional[str] = None, pattern: Optional[str] = None,
                version: Optional[str] = None, source: Optional[Mapping[str, str]] = None, timestamp: Optional[Time] = None,
                ordering_key: Optional[str] = None, supersede_key: Optional[str] = None, run_at: Optional[Time] = None,
                delay: Optional[int] = None, retry: Optional[Mapping[str, Any]] = None) -> Event:
        """Stores one event. The default title is its tags. docs/api.md describes the members."""
        return Event(await self._publish("/events", wire.new_event(wire.arguments(locals()))))

    async def publish_batch(self, events: Iterable[Mapping[str, Any]], *, correlation_id: Optional[str] = None,
                      ordered: bool = False, on_complete: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
        """Stores all events or none: {"correlation_id", "events"}. The keys of an event are the arguments of publish()."""
        body = wire.new_batch(events, correlation_id, ordered, on_complete)
        return wire.with_events(await self._publish("/events/batch", body), Event)

    # Work.

    async def next(self, tags: Optional[Tags] = None, *, limit: int = 1, wait: int = 0, queue: Optional[str] = None,
             worker_id: Optional[str] = None, completed: Sequence[Mapping[str, Any]] = (),
             failed: Sequence[Mapping[str, Any]] = (), released: Sequence[Mapping[str, Any]] = (),
             alive: Sequence[Mapping[str, Any]] = ()) -> Turn:
        """One call of a worker: sends reports ({"id", "attempt", ...}), then claims up to `limit` events, waiting up to
        `wait` seconds. Each lease in `alive` is extended to one full lease from now."""
        return await self._next(wire.without_none({
            "worker_id": worker_id or self.worker_id, "tags": tags, "limit": limit, "wait": wait or None, "queue": queue,
            "completed": list(completed) or None, "failed": list(failed) or None, "released": list(released) or None,
            "alive": list(alive) or None}))

    async def complete(self, event: Union[Event, EventName], *, result: Any = None, errors: Optional[Sequence[str]] = None,
                 status_code: Optional[int] = None, execution_time_ms: Optional[int] = None,
                 attempt: Optional[int] = None, worker_id: Optional[str] = None) -> Entry:
        """Completes the event. `result` is any JSON value. With `errors` its status becomes COMPLETED_WITH_ERRORS."""
        return await self._report("complete", event, attempt, worker_id, result=result, errors=errors, status_code=status_code,
                            execution_time_ms=execution_time_ms)

    async def fail(self, event: Union[Event, EventName], error_message: Optional[str] = None, *,
             error_detail: Optional[str] = None, permanent: bool = False,
             status_code: Optional[int] = None, execution_time_ms: Optional[int] = None, attempt: Optional[int] = None,
             worker_id: Optional[str] = None) -> Entry:
        """`error_detail` is, for example, a stack trace; of a long one the end is kept. `retry_scheduled` of the entry is
        False after the last failure."""
        error_detail = None if error_detail is None else wire.short_detail(error_detail)
        return await self._report("fail", event, attempt, worker_id, error_message=error_message, error_detail=error_detail,
                            permanent=permanent or None, status_code=status_code, execution_time_ms=execution_time_ms)

    async def release(self, event: Union[Event, EventName], *, delay: Optional[int] = None, reason: Optional[str] = None,
                attempt: Optional[int] = None, worker_id: Optional[str] = None) -> Entry:
        """Releases the event; a worker can claim it after `delay` seconds. Counts no failure."""
        return await self._report("release", event, attempt, worker_id, delay=delay, reason=reason)

    async def heartbeat(self, event: Union[Event, EventName], *, attempt: Optional[int] = None,
                  worker_id: Optional[str] = None) -> Dict[str, Any]:
        """Extends the lease to one full lease from now."""
        return await self._report("heartbeat", event, attempt, worker_id)

    async def stream(self, tags: Optional[Tags] = None, prefetch: int = 1, *, queue: Optional[str] = None,
                     worker_id: Optional[str] = None) -> AsyncGenerator[Event, None]:
        """Events that the server claims for this worker, at most `prefetch` of them unreported. Reconnects when the
        connection breaks. aclose() ends it."""
        query = {"worker_id": worker_id or self.worker_id, "tags": tags, "queue": queue, "prefetch": prefetch}
        request = wire.encoded("GET", "/events/stream", None, query, {"Accept": "text/event-stream"})
        failures = 0
        while True:
            try:
                async for event in self._stream_once(request):
                    failures = 0
                    yield event
            except EventqError as error:
                if error.status not in (0, 429, 503):
                    raise
            except (OSError, asyncio.TimeoutError):
                pass  # the connection broke
            failures += 1
            await asyncio.sleep(wire.pause_seconds(failures))

    # Read, wait, administer.

    async def get(self, id: EventName) -> Event:
        """The event with all its members."""
        return Event(await self._request("GET", f"/events/{wire.quoted(id)}"))

    async def log(self, id: EventName) -> List[Entry]:
        """The audit log entries of the event, oldest first."""
        event = await self._request("GET", f"/events/{wire.quoted(id)}", query={"include_logs": "true"})
        entries: List[Entry] = event["logs"]
        return entries

    async def why(self, id: EventName) -> Dict[str, Any]:
        """Explains the status of the event: {"status", "reason", "explanation"}."""
        return await self._request("GET", f"/events/{wire.quoted(id)}/why")

    async def wait(self, id: EventName, timeout: float = 30) -> Event:
        """Waits for the end of the event and returns it. Raises TimedOut after `timeout` seconds."""
        return Event(await self._wait(f"/events/{wire.quoted(id)}/wait", timeout))

    async def list(self, *, status: Optional[str] = None, tags: Optional[Tags] = None, queue: Optional[str] = None,
             worker_id: Optional[str] = None, correlation_id: Optional[str] = None, event_id: Optional[str] = None,
             pattern: Optional[str] = None, since: Optional[Time] = None, until: Optional[Time] = None,
             filter: Optional[str] = None, order: Optional[str] = None, include: Union[None, str, Sequence[str]] = None,
             limit: Optional[int] = None, offset: Optional[int] = None, after_id: Optional[int] = None,
             before_id: Optional[int] = None, cursor: Optional[str] = None) -> Dict[str, Any]:
        """One page of events: {"events", "total", "total_exact", "limit", "offset", "next"}. Send `next` as `cursor` for the
        next page, until it is None. Events have no payload, unless `include` names it. docs/api.md has all parameters."""
        return wire.with_events(await self._request("GET", "/events", query=wire.arguments(locals())), Event)

    async def iterate(self, *, limit: int = 1000, **parameters: Any) -> AsyncGenerator[Event, None]:
        """All events that list() would show, page by page, with `limit` events per call."""
        while True:
            page = await self.list(limit=limit, **parameters)
            for event in page["events"]:
                yield event
            if page["next"] is None:
                return
            parameters.update(cursor=page["next"], offset=None)

    async def correlation(self, name: str, *, limit: Optional[int] = None, after_id: Optional[int] = None) -> Dict[str, Any]:
        """The events with this correlation id, and counts: {"total", "completed", "failed", "pending", "events"}."""
        path = f"/events/correlation/{wire.quoted(name)}"
        return wire.with_events(await self._request("GET", path, query={"limit": limit, "after_id": after_id}), Event)

    async def wait_correlation(self, name: str, timeout: float = 30) -> Dict[str, Any]:
        """Waits until none of these events is live, then returns the same as correlation(). Raises TimedOut."""
        return wire.with_events(await self._wait(f"/events/correlation/{wire.quoted(name)}/wait", timeout), Event)

    async def reset(self, id: EventName, reason: Optional[str] = None, by: Optional[str] = None) -> Entry:
        """Makes the event pending. A worker that holds it loses its lease. `by` is the person, for the log."""
        return await self._once(f"/events/{wire.quoted(id)}/reset", reason, by)

    async def cancel(self, id: EventName, reason: Optional[str] = None, by: Optional[str] = None) -> Entry:
        """Ends the event as CANCELLED. A worker that holds it loses its lease. `by` is the person, for the log."""
        return await self._once(f"/events/{wire.quoted(id)}/cancel", reason, by)

    async def worker(self, id: str) -> Dict[str, Any]:
        """What the server knows about a worker: when it was last seen, the events it holds, and its counts."""
        return await self._request("GET", f"/workers/{wire.quoted(id)}")

    async def workers(self) -> List[Dict[str, Any]]:
        """All workers, as worker() shows each. `state` is active, idle, stale or gone."""
        workers: List[Dict[str, Any]] = (await self._request("GET", "/workers"))["workers"]
        return workers

    async def failures(self) -> List[Dict[str, Any]]:
        """Failed events in groups with the same cause, the largest first: {"cause", "sample", "events", ...}."""
        failures: List[Dict[str, Any]] = (await self._request("GET", "/failures"))["failures"]
        return failures

    async def worker_log(self, id: str, *, limit: Optional[int] = None, before: Optional[str] = None) -> Dict[str, Any]:
        """What a worker did, newest event first: {"entries", "next", "complete"}. Send `next` as `before` until it is None."""
        return await self._request("GET", f"/workers/{wire.quoted(id)}/log", query={"limit": limit, "before": before})

    async def sign_off(self, worker_id: Optional[str] = None) -> None:
        """Says that a worker has stopped. A stopping Worker does this itself. An older server ignores it."""
        path = f"/workers/{wire.quoted(worker_id or self.worker_id)}"
        try:
            await self._request("DELETE", path, tries=1, timeout=wire.SIGN_OFF_SECONDS)
        except EventqError as error:
            if error.status not in (404, 405):
                raise

    async def overview(self) -> Dict[str, Any]:
        """Queues, workers, failures and rates in one call, as `eventq top` shows them."""
        return await self._request("GET", "/overview")

    async def queue(self, name: str) -> Dict[str, Any]:
        """The queue without its events; `config` has the current settings."""
        return await self._request("GET", f"/queues/{wire.quoted(name)}", query={"events": 0})

    async def queues(self) -> List[Dict[str, Any]]:
        """All queues, as queue() shows each."""
        queues: List[Dict[str, Any]] = (await self._request("GET", "/queues"))["queues"]
        return queues

    async def configure(self, name: str, settings: Mapping[str, Any]) -> Dict[str, Any]:
        """Replaces all settings of the queue. Creates the queue if it does not exist."""
        return await self._request("PUT", f"/queues/{wire.quoted(name)}", settings)

    def close(self) -> None:
        """Closes the kept connections. The next call opens a new one."""
        while self._idle:
            self._idle.pop().close()

    # Implementation of the calls.

    async def _publish(self, path: str, body: Mapping[str, Any]) -> Dict[str, Any]:
        # All tries share one key, so the server stores the events once.
        return await self._request("POST", path, body, headers={"Idempotency-Key": str(uuid.uuid4())})

    async def _once(self, path: str, reason: Optional[str], by: Optional[str]) -> Entry:
        # A second try could take the event from its new worker. Close the kept connection first, because _try() sends
        # again when the server has closed it.
        self.close()
        return await self._request("POST", path, query={"reason": reason, "by": by}, tries=1)

    async def _next(self, body: Mapping[str, Any], tries: Optional[int] = None, timeout: Optional[float] = None) -> Turn:
        answer = await self._request("POST", "/events/next", body, wait=body.get("wait", 0), tries=tries, timeout=timeout)
        return Turn(wire.results_of(answer, body), [Event(event) for event in answer["events"]])

    async def _report(self, action: str, event: Union[EventMembers, EventName], attempt: Optional[int],
                worker_id: Optional[str], **members: Any) -> Entry:
        held = wire.held_of(event)
        worker = worker_id or held.get("worker_id") or self.worker_id
        attempt = held.get("attempt") if attempt is None else attempt
        body = wire.without_none({"worker_id": worker, "attempt": attempt, **members})
        try:
            return await self._request("POST", f"/events/{wire.quoted(held['id'])}/{action}", body)
        except EventqError as error:
            if error.kind not in wire.LAST_FAILURE:
                raise
            return wire.last_failure(error.problem, worker, {**body, "id": held["id"]})

    async def _wait(self, path: str, timeout: float) -> Dict[str, Any]:
        end = time.monotonic() + timeout
        while True:
            seconds = wire.wait_of(end, time.monotonic())
            try:
                return await self._request("POST", path, query={"timeout": seconds}, wait=seconds)
            except TimedOut:
                if time.monotonic() >= end:
                    raise

    async def _request(self, method: str, path: str, body: Any = None, *, query: Optional[Mapping[str, Any]] = None,
                 headers: Optional[Mapping[str, str]] = None, wait: float = 0, tries: Optional[int] = None,
                 timeout: Optional[float] = None) -> Dict[str, Any]:
        """Repeats the call until it succeeds, or fails with an error that a retry would not change."""
        request = wire.encoded(method, path, body, query, headers)
        tried = 0
        while True:
            tried += 1
            try:
                return await self._try(request, (timeout or self.timeout) + wait)
            except EventqError as error:
                if not is_transient(error) or tried == (tries or self.tries):
                    raise
                pause = wire.pause_seconds(tried, error.retry_after)
            await asyncio.sleep(pause)

    async def _try(self, request: wire.Request, timeout: float) -> Dict[str, Any]:
        kept = self._kept()
        connection = kept or await self._connect(timeout)
        try:
            return await asyncio.wait_for(self._exchange(connection, request), timeout)
        except asyncio.TimeoutError as error:
            raise no_answer(self.url, request.method, error) from error
        except OSError as error:
            if kept is not None:
                # The server closes idle connections, so a broken kept connection is not a failure.
                return await self._try(request, timeout)
            raise no_answer(self.url, request.method, error) from error
        finally:
            if connection.is_reusable:
                self._idle.append(connection)
            else:
                connection.close()

    @staticmethod
    async def _exchange(connection: Connection, request: wire.Request) -> Dict[str, Any]:
        reusable, connection.is_reusable = connection.is_reusable, False  # until the whole answer was read
        connection.send(request)
        head = await connection.head()
        text = b"".join([part async for part in connection.body(head)])
        connection.is_reusable = reusable
        return wire.checked(head.status, head.headers.get("retry-after"), text)

    def _kept(self) -> Optional[Connection]:
        """Takes a connection that no call uses; None if there is none."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_reusable and connection.loop is asyncio.get_running_loop():
                return connection
        return None

    async def _connect(self, timeout: float) -> Connection:
        opening = asyncio.get_running_loop().create_connection(
            lambda: Connection(self._address.url.partition("//")[2]), self._address.host, self._address.port,
            ssl=True if self._address.is_tls else None)
        try:
            _, connection = await asyncio.wait_for(opening, timeout)
        except (OSError, asyncio.TimeoutError) as error:
            raise no_connection(self.url, error) from error
        return connection

    async def _stream_once(self, request: wire.Request) -> AsyncGenerator[Event, None]:
        """The events of one connection."""
        connection = await self._connect(self.timeout)
        try:
            connection.send(request)
            head = await asyncio.wait_for(connection.head(), wire.SILENCE_MAX)
            parts = connection.body(head)
            if head.status != 200:
                wire.checked(head.status, head.headers.get("retry-after"), b"".join([part async for part in parts]))
            rest, data = b"", []  # type: bytes, List[str]
            while True:
                rest += await asyncio.wait_for(parts.__anext__(), wire.SILENCE_MAX)
                *lines, rest = rest.split(b"\n")
                for members in wire.data_lines((line.decode("utf-8").rstrip("\r") for line in lines), data):
                    yield Event(members)
        except StopAsyncIteration:
            return  # the server ended the stream
        finally:
            connection.close()
