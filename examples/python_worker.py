"""python_worker.py: a worker in Python. Handles events with the tag "email" until SIGTERM or Ctrl-C.

    pip install clients/python && python3 examples/python_worker.py
"""
import os
from typing import Dict

import eventq


def send_mail(event: eventq.Event) -> Dict[str, str]:
    if "to" not in (event.payload or {}):
        raise eventq.Permanent("The payload has no address in \"to\".")
    print(f"mail to {event.payload['to']}: event {event.id}, attempt {event.attempt}", flush=True)
    return {"sent_to": event.payload["to"]}  # the event's result


client = eventq.Client(os.environ.get("EVENTQ_URL", "http://127.0.0.1:8080"))
eventq.Worker(client, {"email": send_mail}, threads=4).run()
