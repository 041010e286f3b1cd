"""eventq.aio: the client and the worker of eventq for asyncio. Handlers are coroutines.

    async def send(event: aio.Event) -> None:
        await deliver(event.payload["to"])

    async def main() -> None:
        async with aio.Client("http://127.0.0.1:8080") as client:
            await client.publish("email", {"to": "a@example.com"}, title="Welcome mail")
            await aio.Worker(client, {"email": send}, concurrency=100).run()

The errors, and `Done`, `Later` and `Permanent`, are those of `eventq`.

Threads: use a client and a worker in one event loop.
"""
from ._client import Client, Event, Turn
from ._worker import Handler, Worker

__all__ = ["Client", "Event", "Handler", "Turn", "Worker"]
