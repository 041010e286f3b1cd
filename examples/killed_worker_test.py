"""killed_worker_test.py: tests that another worker gets the event of a killed worker.

usage: killed_worker_test.py COMMAND [ARGUMENT]...

Starts the command and publishes an event with the tag "email". Its address fills the pipe that the worker prints to, so the
worker cannot finish. The test checks that the worker keeps its lease, kills the worker, and checks that a second worker
gets the event. EVENTQ_URL names a server with a lease of two seconds.
"""
import os
import signal
import subprocess
import sys

import eventq

LEASE = 2  # seconds
ENOUGH = 30

client = eventq.Client(os.environ["EVENTQ_URL"], worker_id="other")
for number in (signal.SIGTERM, signal.SIGKILL):
    worker = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
    event = client.publish("email", {"to": "x" * 200_000}, title="Mail that cannot be printed")
    try:
        worker.stdout.read(1)  # the handler has begun
        kept = not client.next("email", wait=2 * LEASE + 1).events
    finally:
        worker.send_signal(number)
        worker.wait(ENOUGH)
    claimed = client.next("email", wait=ENOUGH).events
    worker.stdout.close()  # ends a child process that still prints
    print(f"{number.name}: kept {kept}, then claimed as attempt {[each.attempt for each in claimed]}")
    if not kept or [(each.id, each.attempt) for each in claimed] != [(event.id, 2)]:
        sys.exit(1)
    client.complete(claimed[0])
