"""_errors.py: a class per kind of refusal, and for calls without an answer."""
from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Type


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


def error_of(status: int, problem: Mapping[str, Any], retry_after: Optional[str] = None) -> EventqError:
    """The error for an answer with this status and body."""
    kind = str(problem.get("type", "")).rpartition(":")[2]
    message = problem.get("error") or f"The server answered {status}."
    seconds = int(retry_after) if retry_after and retry_after.isdigit() else None
    return _KINDS.get(kind, Unavailable if status == 503 else EventqError)(message, status, kind, problem, seconds)


def is_transient(error: EventqError) -> bool:
    """Whether a retry may succeed. After a broken connection (0) the server may have processed the call. A repetition
    is safe, because calls carry an idempotency key or an attempt."""
    return error.status in (0, 429, 503) and error.problem.get("outcome") != "unknown"


def no_answer(url: str, method: str, error: BaseException) -> EventqError:
    """The error for a connection that broke, or a time limit that passed, before the answer."""
    # A GET changes nothing, so its outcome is known.
    lost = Unavailable if method == "GET" else UnknownOutcome
    return lost(f"No answer from {url}: {error!r}", kind="no-answer")


def no_connection(url: str, error: BaseException) -> Unavailable:
    """The error for a server that cannot be reached."""
    return Unavailable(f"Cannot connect to {url}: {error}", kind="no-connection")
