"""worker_test.py: tests that an example worker handles its events.

usage: worker_test.py COMMAND [ARGUMENT]...

Starts the command and publishes four events with the tag "email", the last one without an address. Waits until three are
COMPLETED and the fourth has failed, then stops the command with SIGTERM. EVENTQ_URL names the server.
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
    without_address = client.publish("email", {}, max_retries=1)
    message = client.wait(without_address.id, ENOUGH).get("error_message")
finally:
    worker.send_signal(signal.SIGTERM)
    code = worker.wait(ENOUGH)
printed = worker.stdout.readlines()
print(f"{statuses}, {message!r}, exit code {code}, printed {printed}")
passed = (statuses == ["COMPLETED"] * 3 and message is not None and code in (0, -signal.SIGTERM)
          and all(any(f"mail to {name}@example.com" in line for line in printed) for name in ("ann", "bob", "cleo")))
sys.exit(0 if passed else 1)
