"""_wire.py: members, queries and answers of the API as Python values. What both clients share; no input or output."""
from __future__ import annotations

import datetime
import json
import math
import os
import random
import socket
import urllib.parse
from typing import (Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Protocol, Sequence, Tuple, Type, TypeVar,
                    Union)

from ._errors import EventqError, UnknownOutcome, error_of

Tags = Union[str, Sequence[str]]
EventName = Union[int, str]  # an event's number or its event_id; a string of digits is the number
Time = Union[str, datetime.datetime]
Entry = Dict[str, Any]  # an audit log entry, as the server shows it

DEFAULT_URL = "http://127.0.0.1:8080"
WAIT_MAX = 60  # seconds of one call; proxies close connections that are silent for longer
SILENCE_MAX = 45.0  # seconds without a byte before a stream reconnects; the server sends a byte every 15
SIGN_OFF_SECONDS = 5.0  # time limit of a stopping worker's last call
TEXT_BYTES_MAX = 16384
DETAIL_BYTES_MAX = 65536
REASON_CHARACTERS_MAX = 1000
LAST_FAILURE = ("max-retries-exceeded", "failed-permanently")  # the report was recorded, and no retry follows


class Flag(Protocol):
    """What threading.Event and asyncio.Event have in common here."""

    def set(self) -> object:
        """Wakes all that wait for the flag."""


class EventMembers(Dict[str, Any]):
    """An event as the server shows it, with its tags as a list. The usual members are also attributes."""

    lost: Flag  # for handlers: set when the lease is lost, or when stop() no longer waits

    def __init__(self, members: Mapping[str, Any]) -> None:
        super().__init__(members)
        if isinstance(self.get("tags"), str):
            self["tags"] = self["tags"].split(",")

    @property
    def id(self) -> int:
        """The event's number."""
        return int(self["id"])

    @property
    def event_id(self) -> str:
        """The event's global name, given by its publisher or made by the server."""
        return str(self["event_id"])

    @property
    def title(self) -> str:
        """The event in a few words, for people."""
        return str(self["title"])

    @property
    def tags(self) -> List[str]:
        """The tags by which workers choose events."""
        tags: List[str] = self["tags"]
        return tags

    @property
    def payload(self) -> Any:
        """The data for the handler, any JSON value; None if there is none."""
        return self.get("payload")

    @property
    def status(self) -> str:
        """For example "PENDING" or "COMPLETED"; docs/api.md lists all."""
        return str(self["status"])

    @property
    def attempt(self) -> int:
        """The number of this claim, from 1; 0 if the event was not claimed by this call."""
        return int(self.get("attempt", 0))

    @property
    def result(self) -> Any:
        """What the handler returned, any JSON value; None if there is none."""
        return self.get("result")


E = TypeVar("E", bound=EventMembers)


class Request(NamedTuple):
    """One HTTP request, encoded."""

    method: str
    target: str
    data: Optional[bytes]
    headers: Dict[str, str]


class Address(NamedTuple):
    """Where a server listens."""

    url: str
    host: str
    port: int
    is_tls: bool


def address_of(url: str) -> Address:
    """Parses http://HOST:PORT. Raises ValueError for any other URL."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/") or parts.query:
        raise ValueError(f"The URL {url!r} is not http://HOST:PORT.")
    is_tls = parts.scheme == "https"
    return Address(url.rstrip("/"), parts.hostname, parts.port or (443 if is_tls else 80), is_tls)


def checked_tries(tries: int) -> int:
    """Returns `tries`. Raises ValueError if that is less than one."""
    if tries < 1:
        raise ValueError(f"tries is {tries}; it must be 1 or more.")
    return tries


def default_worker_id() -> str:
    """The worker id "{hostname}:{pid}"."""
    return f"{socket.gethostname()}:{os.getpid()}"


def quoted(name: EventName) -> str:
    """The name as a part of a path."""
    return urllib.parse.quote(str(name), safe="")


def without_none(members: Mapping[str, Any]) -> Dict[str, Any]:
    """The members that have a value."""
    return {name: value for name, value in members.items() if value is not None}


def arguments(local_names: Mapping[str, Any]) -> Dict[str, Any]:
    """The arguments of a method, from locals() in its first line."""
    return {name: value for name, value in local_names.items() if name != "self"}


def new_event(members: Mapping[str, Any]) -> Dict[str, Any]:
    """The body that publishes one event."""
    event = without_none(members)
    if isinstance(event.get("tags"), tuple):
        event["tags"] = list(event["tags"])
    if "title" not in event and event.get("tags"):
        event["title"] = (event["tags"] if isinstance(event["tags"], str) else ",".join(event["tags"]))[:200]
    for name in ("timestamp", "run_at"):
        if isinstance(event.get(name), datetime.datetime):
            event[name] = time_text(event[name])
    return event


def new_batch(events: Iterable[Mapping[str, Any]], correlation_id: Optional[str], ordered: bool,
              on_complete: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    """The body that publishes several events."""
    return without_none({
        "events": [new_event(event) for event in events], "correlation_id": correlation_id, "ordered": ordered or None,
        "on_complete": None if on_complete is None else new_event(on_complete)})


def time_text(time: datetime.datetime) -> str:
    """The time as the API writes it."""
    return time.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def with_events(answer: Dict[str, Any], event_type: Type[E]) -> Dict[str, Any]:
    """The answer with its events as `event_type`."""
    answer["events"] = [event_type(event) for event in answer["events"]]
    return answer


def encoded(method: str, path: str, body: Any = None, query: Optional[Mapping[str, Any]] = None,
            headers: Optional[Mapping[str, str]] = None) -> Request:
    """The request with its query and its body encoded."""
    members = {name: _parameter(value) for name, value in without_none(query or {}).items()}
    target = f"{path}?{urllib.parse.urlencode(members)}" if members else path
    if body is None:
        return Request(method, target, None, dict(headers or {}))
    data = json_text(body).encode("utf-8")
    return Request(method, target, data, {"Content-Type": "application/json", **(headers or {})})


def _parameter(value: Any) -> Union[str, int]:
    if isinstance(value, datetime.datetime):
        return time_text(value)
    return value if isinstance(value, (str, int)) else ",".join(value)


def json_text(value: Any) -> str:
    """The value as JSON without blanks. Raises ValueError, TypeError or RecursionError for a value that is not JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def checked(status: int, retry_after: Optional[str], text: bytes) -> Dict[str, Any]:
    """Returns the body of an answer. Raises the error for a status that is not 2xx."""
    is_success = 200 <= status < 300
    if status == 204:
        return {}
    try:
        body: Dict[str, Any] = json.loads(text)
    except ValueError as error:
        if is_success:
            raise UnknownOutcome("The answer is not JSON; is this an eventq server?", kind="no-answer") from error
        body = {}
    if is_success:
        return body
    raise error_of(status, body, retry_after)


def results_of(answer: Mapping[str, Any], body: Mapping[str, Any]) -> List[Union[Entry, EventqError]]:
    """The results of next(), each like the result of the single call."""
    reports = [report for kind in ("completed", "failed", "released", "alive") for report in body.get(kind, ())]
    return [_result(result, body["worker_id"], report) for result, report in zip(answer["results"], reports)]


def _result(result: Dict[str, Any], worker_id: str, report: Mapping[str, Any]) -> Union[Entry, EventqError]:
    status = result.pop("status", 200)
    if status == 200:
        return result
    error = error_of(status, {**result, "status": status})
    return last_failure(error.problem, worker_id, report) if error.kind in LAST_FAILURE else error


def last_failure(problem: Mapping[str, Any], worker_id: str, report: Mapping[str, Any]) -> Entry:
    """The entry of a final failure. The server recorded the report, so the call succeeded."""
    members = ("attempt", "status_code", "error_message", "execution_time_ms")
    return {"event_id": problem.get("event_id", report["id"]), "worker_id": worker_id, "action": "FAILED",
            "retry_scheduled": False, "next_retry_at": None, "retry_count": problem.get("retry_count"),
            "max_retries": problem.get("max_retries"),
            **{name: report[name] for name in members if name in report}}


def held_of(event: Union[Mapping[str, Any], EventName]) -> Mapping[str, Any]:
    """The members of an event that is given as itself or by its name."""
    return {"id": event} if isinstance(event, (int, str)) else event


def data_lines(lines: Iterable[str], data: List[str]) -> Iterable[Any]:
    """The JSON values of these lines of a stream. `data` keeps the lines of a value that is not complete."""
    for line in lines:
        if line.startswith("data:"):
            data.append(line[5:].lstrip(" "))
        elif not line and data:
            value = json.loads("\n".join(data))
            data.clear()
            yield value


def pause_seconds(failures: int, retry_after: Optional[int] = None) -> float:
    """Seconds before the next try, with full jitter."""
    return random.uniform(0, min(10.0, 0.1 * 2**failures)) + min(retry_after or 0, 10)


def seconds_of(text: str) -> float:
    """A time of the API in seconds since 1970."""
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=datetime.timezone.utc).timestamp()


def seconds_until(times: Iterable[float], now: float) -> Optional[float]:
    """Seconds until the first of these times; None if there is none."""
    first = min(times, default=math.inf)
    return None if first == math.inf else first - now


def wait_of(end: float, now: float) -> int:
    """The whole seconds that one call waits, if the caller waits until `end`."""
    return min(WAIT_MAX, max(0, math.ceil(end - now)))


def _bytes_of(text: str) -> bytes:
    """The text without characters that the server rejects."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace")


def short_text(text: str) -> str:
    """Shortens an error message to the server's limit."""
    return _bytes_of(text)[:TEXT_BYTES_MAX].decode("utf-8", "ignore")


def short_detail(text: str) -> str:
    """Shortens an error_detail to the server's limit. Keeps the end, because a stack trace ends with its cause."""
    return _bytes_of(text)[-DETAIL_BYTES_MAX:].decode("utf-8", "ignore")


def short_line(text: str) -> str:
    """Shortens a reason to the server's limit, in one line."""
    return short_text("".join(c if c.isprintable() else " " for c in text))[:REASON_CHARACTERS_MAX]
