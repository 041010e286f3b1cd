"""killed_worker_test.py: does a worker's event come back when the worker is killed?

usage: killed_worker_test.py COMMAND [ARGUMENT]...

Starts the command and publishes an event with the tag "email" whose address fills the pipe that the worker prints to, so that it
cannot finish. Sees that the worker keeps the event, kills the worker, and sees that another gets the event. EVENTQ_URL names a
server with a lease of two seconds.
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
        worker.stdout.read(1)  # now it is at it
        kept = not client.next("email", wait=2 * LEASE + 1).events
    finally:
        worker.send_signal(number)
        worker.wait(ENOUGH)
    back = client.next("email", wait=ENOUGH).events
    worker.stdout.close()  # what still prints ends
    print(f"{number.name}: kept {kept}, then taken as attempt {[each.attempt for each in back]}")
    if not kept or [(each.id, each.attempt) for each in back] != [(event.id, 2)]:
        sys.exit(1)
    client.complete(back[0])
