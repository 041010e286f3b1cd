"""python_async_worker.py: a worker with asyncio. Handles events with the tag "email" until SIGTERM or Ctrl-C.

    pip install clients/python && python3 examples/python_async_worker.py
"""
import asyncio
import os
from typing import Dict

import eventq
from eventq import aio


async def send_mail(event: aio.Event) -> Dict[str, str]:
    if "to" not in (event.payload or {}):
        raise eventq.Permanent("The payload has no address in \"to\".")
    await asyncio.sleep(0)  # here: await the mail server
    print(f"mail to {event.payload['to']}: event {event.id}, attempt {event.attempt}", flush=True)
    return {"sent_to": event.payload["to"]}  # the event's result


async def main() -> None:
    async with aio.Client(os.environ.get("EVENTQ_URL", "http://127.0.0.1:8080")) as client:
        await aio.Worker(client, {"email": send_mail}, concurrency=100).run()


asyncio.run(main())
