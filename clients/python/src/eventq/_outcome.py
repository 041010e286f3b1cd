"""_outcome.py: from what handlers return and raise to the report on their event. What both workers share."""
from __future__ import annotations

import datetime
import itertools
import json
import logging
import math
import re
import traceback
from typing import Any, Dict, List, Mapping, Sequence, Tuple, Union

from . import _wire as wire
from ._wire import EventMembers

log = logging.getLogger("eventq")

DELAY_SECONDS_MAX = 31_536_000
ERRORS_MAX = 100
RESULT_BYTES_MAX = 65536
RESULT_LEVELS_MAX = 61  # the server reads 64, and the request has three around a result


class Permanent(Exception):
    """Raised by a handler: the event fails without a retry."""


class Later(Exception):
    """Raised by a handler: the worker releases the event with this delay. Counts no failure."""

    def __init__(self, seconds: Union[float, datetime.timedelta], reason: str = "") -> None:
        super().__init__(reason)
        self.seconds = float(seconds.total_seconds() if isinstance(seconds, datetime.timedelta) else seconds)
        if math.isnan(self.seconds):
            raise ValueError("The seconds of Later must be a number.")
        if self.seconds < 0:
            raise ValueError(f"The seconds of Later are {self.seconds}; they must be 0 or more.")
        self.reason = str(reason)


class Done:
    """Returned by a handler: the event is completed with this result, any JSON value, and with these errors."""

    def __init__(self, result: Any = None, errors: Sequence[str] = ()) -> None:
        self.result, self.errors = result, errors


# What a handler may return. A list of error messages makes the event COMPLETED_WITH_ERRORS. Each other value is the
# event's result; a result that is a list is returned as Done(result). Another list, or a tuple, fails the event, because it
# could be meant as either.
Returned = Union[None, Done, List[str], Mapping[str, Any], str, float, bool]


class Outcome:
    """What the handlers of one event have returned and raised so far."""

    def __init__(self, event: EventMembers) -> None:
        self._event = event
        self._errors: List[str] = []
        self._result: Any = None
        self._fault = ""  # of what a handler returned
        self._failures: List[BaseException] = []
        self._laters: List[Later] = []

    def returned(self, value: Any) -> None:
        """A handler returned `value`. If several handlers return results, the last one counts."""
        fault = _fault_of(value)
        if fault:
            self._fault = self._fault or fault
            return
        done = value if isinstance(value, Done) else Done(errors=value) if isinstance(value, list) else Done(value)
        self._errors += done.errors
        if done.result is not None:
            self._result = done.result

    def raised(self, error: BaseException) -> None:
        """A handler raised `error`."""
        if isinstance(error, Later):
            self._laters.append(error)
        else:
            self._failures.append(error)

    def report(self, seconds: float) -> Tuple[str, Dict[str, Any]]:
        """The kind and members of the report on handlers that ran for `seconds`. The worst outcome decides, in this order:
        permanent, retry, later, done."""
        timed = {"execution_time_ms": int(seconds * 1000)}
        if self._failures:
            return "failed", {**timed, **self._failure()}
        if self._laters:
            delay = min(DELAY_SECONDS_MAX, max(later.seconds for later in self._laters))
            reason = wire.short_line("; ".join(later.reason for later in self._laters if later.reason))
            return "released", {"delay": math.ceil(delay), **({"reason": reason} if reason else {})}
        try:
            return "completed", {**timed, **self._completion()}
        except ValueError as error:  # permanent, because the handler would return the same again
            log.warning("Event %d (%s) failed: %s", self._event.id, ",".join(self._event.tags), error)
            return "failed", {**timed, "error_message": wire.short_text(str(error)), "permanent": True}

    def _failure(self) -> Dict[str, Any]:
        message = "\n".join([_message(error) for error in self._failures] + self._errors)
        last = self._failures[-1]
        shown = None if isinstance(last, Permanent) else last
        log.warning("Event %d (%s) failed: %s", self._event.id, ",".join(self._event.tags), message, exc_info=shown)
        is_permanent = any(isinstance(error, Permanent) for error in self._failures)
        return {"error_message": wire.short_text(message), "error_detail": wire.short_detail(_stack(last)),
                **({"permanent": True} if is_permanent else {})}

    def _completion(self) -> Dict[str, Any]:
        """Raises ValueError for a returned value that is wrong, and for a result that the server would refuse."""
        if self._fault:
            raise ValueError(self._fault)
        # The server refuses an empty text.
        errors = [wire.short_text(error) or "An error without a message." for error in self._errors[:ERRORS_MAX]]
        result = None if self._result is None else _checked_result(self._result)
        return wire.without_none({"errors": errors or None, "result": result})


def no_handler(event: EventMembers) -> Dict[str, Any]:
    """The failure of an event that no handler matches."""
    return {"error_message": f"No handler here matches the tags {', '.join(event.tags)}."}


def lease_ended() -> Tuple[str, Dict[str, Any]]:
    """The report on an event that the worker lost while its handlers ran."""
    return "released", {"reason": "the lease ended while the handlers ran"}


def without_text(error: BaseException) -> Dict[str, Any]:
    """The failure of an event whose exception cannot be formatted."""
    return {"error_message": f"Formatting the handler's error raised {type(error).__name__}."}


def _message(error: BaseException) -> str:
    name, text = type(error).__name__, str(error)
    if not text:
        return name
    return text if isinstance(error, Permanent) else f"{name}: {text}"


def _stack(error: BaseException) -> str:
    """The stack trace from the handler on."""
    trace = error.__traceback__ and error.__traceback__.tb_next  # without the frame of the worker
    return "".join(traceback.format_exception(type(error), error, trace))


def _fault_of(returned: Any) -> str:
    """What is wrong with the errors that a handler returned; empty if nothing is."""
    if isinstance(returned, Done):
        return "" if _are_texts(returned.errors) else "The errors of Done must be a list of texts."
    if not isinstance(returned, (list, tuple)) or (isinstance(returned, list) and _are_texts(returned)):
        return ""
    what = "a tuple" if isinstance(returned, tuple) else "a list of other values than texts"
    return f"The handler returned {what}. Return error messages as a list of texts, and a list that is the result as Done(list)."


def _are_texts(values: Any) -> bool:
    return isinstance(values, (list, tuple)) and all(isinstance(value, str) for value in values)


def _checked_result(result: Any) -> Any:
    """The result as JSON has it: the handler may still change its own."""
    try:
        text = wire.json_text(result)
        size = len(text.encode("utf-8"))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"The result is not JSON: {error}") from error
    if size > RESULT_BYTES_MAX:
        raise ValueError(f"The result has {size} bytes; at most {RESULT_BYTES_MAX} are allowed.")
    levels = _levels_of(text)
    if levels > RESULT_LEVELS_MAX:
        raise ValueError(f"The result is nested {levels} levels deep; at most {RESULT_LEVELS_MAX} are allowed.")
    return json.loads(text)


def _levels_of(text: str) -> int:
    """How deep the lists and objects of a JSON text are nested."""
    without_strings = re.sub(r'"[^"\\]*(?:\\.[^"\\]*)*"', "", text)
    steps = (1 if bracket in "[{" else -1 for bracket in re.findall(r"[\[\]{}]", without_strings))
    return max(itertools.accumulate(steps), default=0)
