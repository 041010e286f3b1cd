"""worker_test.py: does a worker of ours do its work?

usage: worker_test.py COMMAND [ARGUMENT]...

Starts the command, publishes three events with the tag "email", and one without an address, waits until the three are
COMPLETED and the fourth has failed, and ends the command by SIGTERM. EVENTQ_URL names the server.
"""
import os
import signal
import subprocess
import sys

import eventq

ENOUGH = 30  # seconds

client = eventq.Client(os.environ["EVENTQ_URL"])
worker = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)
try:
    events = [client.publish("email", {"to": f"{name}@example.com"}, title=f"Mail to {name}") for name in ("ann", "bob", "cleo")]
    statuses = [client.wait(event.id, ENOUGH).status for event in events]
    nobody = client.publish("email", {}, max_retries=1)
    message = client.wait(nobody.id, ENOUGH).get("error_message")
finally:
    worker.send_signal(signal.SIGTERM)
    code = worker.wait(ENOUGH)
printed = worker.stdout.readlines()
print(f"{statuses}, {message!r}, exit code {code}, printed {printed}")
well = (statuses == ["COMPLETED"] * 3 and message is not None and code in (0, -signal.SIGTERM)
        and all(any(f"mail to {name}@example.com" in line for line in printed) for name in ("ann", "bob", "cleo")))
sys.exit(0 if well else 1)
