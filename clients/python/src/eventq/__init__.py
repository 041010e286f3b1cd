"""eventq: publish events to an eventq server, and work on them.

    client = eventq.Client("http://127.0.0.1:8080")
    event = client.publish("email", {"to": "a@example.com"}, title="Welcome mail")
    eventq.Worker(client, "email", lambda event: print(event.payload)).run()

Standard library only, Python 3.9 or newer. Delivery is at least once: make handlers idempotent. `eventq.aio` has the same
client and worker for asyncio.

Threads: every method may be called from any thread.
"""
from ._client import Client, Event, Stream, Turn
from ._errors import (Conflict, EventqError, InvalidRequest, LeaseLost, NotFound, QueueFull, TimedOut, TooLarge, Unavailable,
                      UnknownOutcome)
from ._outcome import Done, Later, Permanent
from ._wire import Entry, EventName, Tags, Time
from ._worker import Handler, Worker

__all__ = ["Client", "Conflict", "Done", "Entry", "Event", "EventName", "EventqError", "Handler", "InvalidRequest", "Later",
           "LeaseLost", "NotFound", "Permanent", "QueueFull", "Stream", "Tags", "Time", "TimedOut", "TooLarge", "Turn",
           "Unavailable", "UnknownOutcome", "Worker"]

for _class in (Conflict, Done, EventqError, InvalidRequest, Later, LeaseLost, NotFound, Permanent, QueueFull, TimedOut, TooLarge,
               Unavailable, UnknownOutcome):
    _class.__module__ = __name__  # stack traces then have the name that a program imports
