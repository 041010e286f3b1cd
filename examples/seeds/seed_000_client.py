"""seed_000_client.py: a publisher and its workers, written from seed 000 alone, with Python's standard library.

usage: seed_000_client.py calls | failures        EVENTQ_URL names the server

`calls` makes every call of the seed on a server as it comes. `failures` fails one event until its retries are used up; the
server has a short retry delay, because the seed's five minutes are too long for a test. The seed's lines behind it:

    12   PENDING → PROCESSING → COMPLETED
    14   FAILED → PENDING (after 5-min backoff, max 3 retries)
    19   Each worker is identified by a composite ID: `{hostname}:{process_id}`
    37   POST /events - Create Job (Process A)                        request 43-56, response 61-81
    92   GET /events/subscribe?tags=email,notification&worker_id=worker-02:8742      response 101-118
    121  Response (204 No Content) - No matching events
    128  POST /events/{id}/complete - Mark Success (Process B)        request 134-138, response 143-150
    160  POST /events/{id}/fail - Report Failure & Retry (Process B)  request 166-171, response 176-186
    189  Response (400 Bad Request) - Max retries exceeded            191-195
    212  GET /events/1001?include_logs=true                           response 220-248
    253  GET /events?status=PENDING&limit=10 - List Events            response 265-290
    403  GET /events/subscribe?tags=payment&worker_id=worker-04:9101 → Returns 204 No Content
    409  Polls until events match
    419  Return 200 OK if action already recorded; don't duplicate event_log entry
    423  POST /events/{id}/reset?reason=worker_timeout
"""
import datetime
import json
import os
import socket
import sys
import time
import urllib.error
import urllib.parse
import urllib.request


def call(method, path, body=None, **query):
    """Returns the status and the answer; the answer is None when the body is empty."""
    url = os.environ["EVENTQ_URL"] + path + ("?" + urllib.parse.urlencode(query) if query else "")
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            status, text = response.status, response.read()
    except urllib.error.HTTPError as refused:
        status, text = refused.code, refused.read()
    return status, json.loads(text) if text else None


def expect(is_so, *seen):
    if not is_so:
        raise AssertionError(seen)


def expect_members(answer, **expected):
    for name, value in expected.items():
        expect(name in answer and answer[name] == value, name, "should be", value, answer)


def time_of(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def publish(title, tags, payload, **more):
    status, event = call("POST", "/events", {"title": title, "tags": tags, "payload": payload, **more})
    expect(status == 201, status, event)
    return event


class Worker:
    def __init__(self, number):
        self.id = f"{socket.gethostname()}:{os.getpid() + number}"

    def subscribe(self, tags):
        """One event, or None when there is none."""
        status, event = call("GET", "/events/subscribe", tags=tags, worker_id=self.id)
        expect(status in (200, 204) and (event is None) == (status == 204), status, event)
        return event

    def subscribe_until(self, tags, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            event = self.subscribe(tags)
            if event:
                return event
            time.sleep(0.05)
        raise AssertionError("no event", tags)

    def complete(self, event):
        body = {"worker_id": self.id, "execution_time_ms": 1250, "status_code": 200}
        return call("POST", f"/events/{event['id']}/complete", body)

    def fail(self, event, error_message):
        body = {"worker_id": self.id, "execution_time_ms": 5000, "status_code": 500, "error_message": error_message}
        return call("POST", f"/events/{event['id']}/fail", body)


def details(event, **query):
    status, answer = call("GET", f"/events/{event['id']}", **query)
    expect(status == 200, status, answer)
    return answer


def actions(event):
    return [(entry["worker_id"], entry["action"]) for entry in details(event, include_logs="true")["logs"]]


PAYLOAD = {"user_id": 12345, "email": "user@example.com", "template": "welcome",
           "variables": {"name": "Alice", "signup_date": "2025-12-24"}}
TAGS = "email,priority-high,notification"


def completes_an_event():
    one, other = Worker(1), Worker(2)
    event = publish("Send Email Notification", TAGS, PAYLOAD, description="Send welcome email to new user")
    expect_members(event, title="Send Email Notification", description="Send welcome email to new user", tags=TAGS,
                   status="PENDING", payload=PAYLOAD, retry_count=0, max_retries=3, next_retry_at=None)
    expect(time_of(event["created_at"]) == time_of(event["updated_at"]), event)

    expect(other.subscribe("payment") is None)
    picked = one.subscribe("email,notification")
    expect_members(picked, id=event["id"], title="Send Email Notification", tags=TAGS, status="PROCESSING", payload=PAYLOAD,
                   retry_count=0, max_retries=3, created_at=event["created_at"])
    expect(other.subscribe("email") is None)

    status, entry = one.complete(picked)
    expect(status == 200, status, entry)
    expect_members(entry, event_id=event["id"], worker_id=one.id, action="COMPLETED", status_code=200, execution_time_ms=1250)
    expect(one.complete(picked) == (200, entry))

    ended = details(event, include_logs="true")
    expect_members(ended, id=event["id"], status="COMPLETED", payload=PAYLOAD, retry_count=0, next_retry_at=None,
                   updated_at=entry["created_at"])
    picked_entry, completed_entry = ended["logs"]
    expect_members(picked_entry, worker_id=one.id, action="PICKED")
    expect_members(completed_entry, worker_id=one.id, action="COMPLETED", status_code=200, execution_time_ms=1250,
                   created_at=entry["created_at"])
    expect("logs" not in details(event))
    return ended


def schedules_a_retry():
    worker = Worker(3)
    event = publish("Process Payment", "payment,priority-high", {"amount": 12})
    message = "Connection timeout: mail server unreachable. Will retry."
    status, entry = worker.fail(worker.subscribe("payment"), message)
    expect(status == 200, status, entry)
    expect_members(entry, event_id=event["id"], worker_id=worker.id, action="FAILED", status_code=500, error_message=message,
                   execution_time_ms=5000, retry_scheduled=True)
    wait = time_of(entry["next_retry_at"]) - time_of(entry["created_at"])
    expect(wait == datetime.timedelta(minutes=5), wait)

    expect_members(details(event), status="PENDING", retry_count=1, next_retry_at=entry["next_retry_at"])
    expect(worker.subscribe("payment") is None)
    return details(event)


def resets_the_event_of_a_worker_that_crashed():
    crashed, next_worker = Worker(4), Worker(5)
    event = publish("Batch Report Generation", "reporting,batch", {"report_type": "sales", "month": "2025-12"})
    expect_members(crashed.subscribe("reporting"), id=event["id"])
    expect(next_worker.subscribe("reporting") is None)

    status, answer = call("POST", f"/events/{event['id']}/reset", reason="worker_timeout")
    expect(status == 200, status, answer)

    picked = next_worker.subscribe("reporting")
    expect_members(picked, id=event["id"], status="PROCESSING")
    expect(next_worker.complete(picked)[0] == 200)
    expect([each for each in actions(event) if each[0] == next_worker.id] ==
           [(next_worker.id, "PICKED"), (next_worker.id, "COMPLETED")], actions(event))


def lists_events(completed, waiting):
    status, page = call("GET", "/events", tags="priority-high", limit=10)
    expect(status == 200, status, page)
    expect_members(page, total=2, limit=10, offset=0)
    for shown, event in zip(page["events"], (completed, waiting), strict=True):
        expect_members(shown, **{name: event[name] for name in
                                 ("id", "title", "status", "tags", "retry_count", "created_at", "updated_at")})
    expect_members(page["events"][1], next_retry_at=waiting["next_retry_at"])

    expect_members(call("GET", "/events")[1], limit=20, offset=0)
    expect([each["id"] for each in call("GET", "/events", status="PENDING", limit=10)[1]["events"]] == [waiting["id"]])
    expect([each["id"] for each in call("GET", "/events", tags="priority-high", offset=1)[1]["events"]] == [waiting["id"]])


def uses_up_its_retries():
    worker = Worker(6)
    event = publish("Send Email Notification", TAGS, PAYLOAD)
    for failure in (1, 2):
        status, entry = worker.fail(worker.subscribe_until("email"), f"failure {failure}")
        expect(status == 200 and entry["retry_scheduled"] is True, status, entry)
        expect_members(details(event), retry_count=failure)

    picked = worker.subscribe_until("email")
    expect(picked["retry_count"] < picked["max_retries"], picked)
    refused = worker.fail(picked, "failure 3")
    expect(refused[0] == 400, refused)
    expect_members(refused[1], error="Max retries exceeded", retry_count=3, max_retries=3)

    expect_members(details(event), status="FAILED", retry_count=3, next_retry_at=None)
    expect(actions(event) == [(worker.id, "PICKED"), (worker.id, "FAILED")] * 3, actions(event))
    expect([each["id"] for each in call("GET", "/events", status="FAILED")[1]["events"]] == [event["id"]])
    expect(worker.subscribe("email") is None)


if sys.argv[1] == "calls":
    lists_events(completes_an_event(), schedules_a_retry())
    resets_the_event_of_a_worker_that_crashed()
else:
    uses_up_its_retries()
