#!/usr/bin/python3
"""openapi_check.py: checks that api/openapi.json is valid, and that the server's answers match it.

usage: openapi_check.py DOCUMENT SCHEMA [EVENTQ]

Checks DOCUMENT against SCHEMA, each schema in it against JSON Schema, and each example against the schema beside it. SCHEMA
is tests/openapi_3.1_schema.json: the OpenAPI Initiative's schema of version 3.1, unchanged, Apache License 2.0. With EVENTQ,
the program, it also starts a server and checks answers of each operation: status, headers, media type, and body.

Exit code: 0 no fault, 1 faults were printed, 77 python3-jsonschema is missing.
"""
import http.client
import json
import pathlib
import re
import subprocess
import sys
import tempfile
from urllib.parse import quote

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is not installed")
    sys.exit(77)

JSON = "application/json"
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
# Headers of HTTP itself, which an OpenAPI document does not list.
HTTP_HEADERS = {"date", "content-type", "content-length", "transfer-encoding", "connection"}


class Document:
    def __init__(self, text):
        self.root = json.loads(text)
        self.strict = json.loads(text)
        close_objects(self.strict)

    def resolve(self, node):
        while "$ref" in node and node["$ref"].startswith("#/"):
            found = self.root
            for part in node["$ref"][2:].split("/"):
                found = found[part.replace("~1", "/").replace("~0", "~")]
            node = found
        return node

    def faults(self, schema, value, strict=False):
        """Lists the violations of a value against a schema of this document."""
        root = self.strict if strict else self.root
        validator = jsonschema.Draft202012Validator(schema, resolver=jsonschema.RefResolver("", root))
        return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]


def close_objects(node, in_all_of=False):
    """Sets unevaluatedProperties to false, so that a member missing in the document is a fault."""
    if isinstance(node, list):
        for child in node:
            close_objects(child, in_all_of)
    elif isinstance(node, dict):
        if "$ref" in node and not in_all_of and not node["$ref"].endswith(("/Payload", "/EventResult")):
            node["unevaluatedProperties"] = False
        for name, child in node.items():
            if name not in ("example", "examples", "value"):
                close_objects(child, name == "allOf")


def operations(document):
    for path, item in document.root["paths"].items():
        for method in METHODS:
            if method in item:
                yield method.upper(), path, item[method]


def walk(node, place="#"):
    """Yields each object of the document with its path, except inside examples."""
    if isinstance(node, list):
        for i, child in enumerate(node):
            yield from walk(child, f"{place}/{i}")
    elif isinstance(node, dict):
        yield place, node
        for name, child in node.items():
            if name not in ("example", "examples", "value", "enum", "const", "required"):
                yield from walk(child, f"{place}/{name}")


def check_document(document, schema):
    faults = []
    validator = jsonschema.Draft202012Validator(schema)
    faults += [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document.root)]
    for place, node in walk(document.root):
        if "schema" in node and "properties" not in node:
            faults += check_schema(f"{place}/schema", node["schema"])
            examples = [document.resolve(it)["value"] for it in node.get("examples", {}).values()]
            if "example" in node:
                examples.append(node["example"])
            for example in examples:
                faults += [f"{place}: example: {fault}" for fault in document.faults(node["schema"], example)]
    for name, node in document.root["components"]["schemas"].items():
        faults += check_schema(f"#/components/schemas/{name}", node)
    return faults


def check_schema(place, schema):
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        return [f"{place}: {error.message}"]
    return []


class Server:
    """Runs the program on a fresh store, and checks its answers against the document."""

    def __init__(self, program, document):
        self.document = document
        self.faults = []
        self.answers = 0
        self.succeeded = set()
        self.program = str(pathlib.Path(program).resolve())
        self.folder = tempfile.TemporaryDirectory()
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [self.program, "serve", "--listen", "127.0.0.1:0", "--notebooks-allow", "."], cwd=self.folder.name,
            stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if listening := re.search(r"msg=listening address=([0-9.]+):([0-9]+)", line):
                self.client = http.client.HTTPConnection(listening[1], int(listening[2]), timeout=60)
                return
        raise SystemExit("The server did not start.")

    def stop(self):
        self.process.terminate()
        self.process.communicate(timeout=60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        self.folder.cleanup()

    def call(self, status, method, target, body=None, path=None, headers=None):
        """Sends a request, checks the answer against the document, and returns its body."""
        sent = dict(headers or {})
        if body is not None:
            sent.setdefault("Content-Type", JSON)
            body = body if isinstance(body, (str, bytes)) else json.dumps(body)
        self.client.request(method, target, body, sent)
        response = self.client.getresponse()
        text = response.read()
        path = path or re.sub(r"^/events/[0-9]+", "/events/{id}", target.split("?")[0])
        path = re.sub(r"^/(queues|events/correlation|notebooks|workers)/[^/]+", r"/\1/{name}", path)
        path = re.sub(r"/checkpoints/[^/]+", "/checkpoints/{checkpoint}", path)
        path = re.sub(r"/files/[0-9]+", "/files/{id}", path)
        where = f"{method} {target} {response.status}"
        if response.status != status:
            self.faults.append(f"{where}: expected {status}: {text!r}")
        operation = self.document.root["paths"][path]["get" if method == "HEAD" else method.lower()]
        if status < 300:
            self.succeeded.add((method, path))
        self.answers += 1
        self.faults += [f"{where}: {fault}" for fault in self.check(operation, response, text, method)]
        return json.loads(text) if response.headers.get("Content-Type") == JSON and text else None

    def stream(self, target):
        """Opens a stream, checks its headers and first event, and closes it."""
        client = http.client.HTTPConnection(self.client.host, self.client.port, timeout=60)
        client.request("GET", target)
        response = client.getresponse()
        line = b"-"
        while line and not line.startswith(b"data: "):
            line = response.readline()
        client.close()
        path = target.split("?")[0]
        self.succeeded.add(("GET", path))
        self.answers += 1
        faults = self.check(self.document.root["paths"][path]["get"], response, line, "GET")
        claim = {"$ref": "#/components/schemas/Claim"}
        faults += self.document.faults(claim, json.loads(line[len("data: "):]), strict=True)
        self.faults += [f"GET {target}: {fault}" for fault in faults]

    def check(self, operation, response, text, method):
        described = operation["responses"].get(str(response.status))
        if described is None:
            return ["the status is not in the document"]
        described = self.document.resolve(described)
        headers = described.get("headers", {})
        faults = [f"the header {name} is not in the document" for name in response.headers
                  if name.lower() not in HTTP_HEADERS | {known.lower() for known in headers}]
        for name, header in headers.items():
            header = self.document.resolve(header)
            value = response.headers.get(name)
            if value is not None:
                faults += self.document.faults(header["schema"], value)
            elif header.get("required"):
                faults.append(f"the header {name} is missing")
        if method == "HEAD" or not described.get("content"):
            return faults + (["the answer has a body"] if text else [])
        content_type = response.headers.get("Content-Type")
        if content_type not in described["content"]:
            return faults + [f"the media type {content_type} is not in the document"]
        if content_type == JSON or content_type.endswith("+json"):
            schema = json.loads(json.dumps(described["content"][content_type]["schema"]))
            close_objects(schema)
            faults += self.document.faults(schema, json.loads(text), strict=True)
        return faults


def check_answers(server, document):
    example = document.root["components"]["examples"]
    email = example["NewEmail"]["value"]
    worker = {"worker_id": "worker-02:8742"}
    key = {"Idempotency-Key": "signup-12345"}
    take = "/events/subscribe?tags={}&worker_id=worker-02:8742"

    first = server.call(201, "POST", "/events", email, headers=key)["id"]
    server.call(201, "POST", "/events", email, headers=key)
    server.call(409, "POST", "/events", {**email, "title": "Another"}, headers=key)
    server.call(201, "POST", "/events", {**email, "event_id": "mine", "priority": -1, "queue": "slow"})
    server.call(200, "POST", "/events", {**email, "event_id": "mine"})
    server.call(400, "POST", "/events", {"title": "", "tags": "email"})
    server.call(400, "POST", "/events", {"title": "Mail", "tags": "email", "job": 1})
    server.call(400, "POST", "/events", "{")
    server.call(403, "POST", "/events", email, headers={"Origin": "http://elsewhere.example"})
    server.call(413, "POST", "/events", {**email, "description": "x" * 16385})
    server.call(415, "POST", "/events", "a", headers={"Content-Type": "text/plain"})
    batch = server.call(201, "POST", "/events/batch", example["NewReports"]["value"], headers={"Idempotency-Key": "b"})
    server.call(201, "POST", "/events/batch", example["NewReports"]["value"], headers={"Idempotency-Key": "b"})
    server.call(200, "POST", "/events/batch", {"events": [{"title": "Mail", "tags": ["email"], "event_id": "mine"}]})
    server.call(400, "POST", "/events/batch", {"events": []})
    cloud = {"specversion": "1.0", "id": "1", "source": "/shop", "type": "order", "data": {"n": 1}, "region": "eu"}
    one = {"Content-Type": "application/cloudevents+json"}
    many = {"Content-Type": "application/cloudevents-batch+json"}
    server.call(201, "POST", "/events", cloud, headers=one)
    server.call(200, "POST", "/events", cloud, headers={**one, "Accept": "application/cloudevents+json"})
    server.call(201, "POST", "/events", [{**cloud, "id": "2"}, {**cloud, "id": "3"}], headers=many)
    server.call(200, "POST", "/events", [{**cloud, "id": "2"}], headers=many)
    listed = {**many, "Accept": "application/cloudevents-batch+json"}
    server.call(201, "POST", "/events", [{**cloud, "id": "4"}, {**cloud, "id": "5"}], headers=listed)
    server.call(201, "POST", "/events/batch", example["NewReports"]["value"], headers={"Accept": listed["Accept"]})
    server.call(200, "GET", take.format("order"), headers={"Accept": "application/cloudevents+json"})

    server.call(200, "GET", take.format("email,notification"))
    server.call(204, "GET", take.format("unused"))
    server.call(400, "GET", take.format("no,,body"))
    server.call(405, "HEAD", take.format("reporting"))
    server.call(403, "GET", take.format("reporting"), headers={"Sec-Fetch-Site": "cross-site"})
    server.call(200, "POST", f"/events/{first}/start", {**worker, "attempt": 1})
    server.call(200, "POST", f"/events/{first}/heartbeat", worker)
    server.call(409, "POST", f"/events/{first}/heartbeat", {**worker, "attempt": 2})
    server.call(200, "GET", f"/events/{first}/why")
    server.call(200, "POST", f"/events/{first}/fail", {**worker, "status_code": 503, "error_message": "away"})
    server.call(200, "POST", f"/events/{first}/fail", {**worker, "status_code": 503, "error_message": "away"})
    server.call(409, "POST", f"/events/{first}/complete", worker)
    server.call(200, "GET", f"/events/{first}/why")
    server.call(200, "POST", f"/events/{first}/reset?reason=worker_timeout")
    server.call(200, "POST", "/events/subscribe", {**worker, "tags": "email", "limit": 5})
    server.call(204, "POST", "/events/subscribe", {**worker, "tags": ["email"]})
    server.call(400, "POST", "/events/subscribe", {**worker, "tags": "email", "wait": 3601})
    server.call(200, "POST", f"/events/{first}/complete",
                {**worker, "status_code": 200, "errors": ["late"], "result": {"message_id": "m-17"}})
    server.call(200, "GET", f"/events/{first}?include_logs=true")
    server.call(409, "POST", f"/events/{first}/reset")
    server.call(409, "POST", f"/events/{first}/cancel")

    last = server.call(201, "POST", "/events", {"title": "Once", "tags": "once", "max_retries": 1})["id"]
    server.call(200, "GET", take.format("once") + "&limit=2")
    trace = "Traceback:\n  line 7"
    server.call(400, "POST", f"/events/{last}/fail", {**worker, "error_message": "away", "error_detail": trace})
    server.call(200, "GET", f"/events/{last}?include_logs=true")
    server.call(400, "POST", f"/events/{last}/fail", {**worker, "error": "away"})
    server.call(200, "GET", f"/events/{last}/why")
    taken = server.call(200, "POST", "/events/next", {**worker, "tags": "reporting,payment", "limit": 10})["events"]
    reports = [{"id": event["id"], "attempt": event["attempt"], "execution_time_ms": 5} for event in taken]
    turn = {**worker, "tags": "reporting", "completed": reports[:1], "failed": [{"id": last}, {"id": 999}]}
    server.call(200, "POST", "/events/next", turn)
    server.call(201, "POST", "/events", {"title": "Pushed", "tags": "pushed", "queue": "pushed"})
    server.stream("/events/stream?queue=pushed&tags=pushed&prefetch=2&worker_id=" + worker["worker_id"])
    server.call(400, "GET", "/events/stream?prefetch=2")
    server.call(403, "GET", "/events/stream?worker_id=w", headers={"Sec-Fetch-Site": "cross-site"})
    back = server.call(201, "POST", "/events", {"title": "Back", "tags": "back"})["id"]
    server.call(200, "POST", "/events/next", {**worker, "queue": "main", "tags": "back"})
    server.call(400, "POST", f"/events/{back}/release", {**worker, "delay": -1})
    server.call(200, "POST", f"/events/{back}/release", {**worker, "attempt": 1, "delay": 60, "reason": "stopping"})
    server.call(409, "POST", f"/events/{back}/complete", {**worker, "attempt": 1})
    server.call(200, "POST", "/events/next", {**worker, "limit": 0, "released": [{"id": back, "attempt": 1}, {"id": 999}]})
    server.call(200, "POST", "/events/complete", {**worker, "events": [*reports, {"id": 999}]})
    server.call(200, "POST", "/events/fail", {**worker, "events": [{"id": last}, {"id": batch["events"][0]["id"]}]})
    server.call(400, "POST", "/events/complete", {**worker, "events": [{"id": 0}]})
    server.call(200, "POST", "/events/complete", {**worker, "events": [{"id": "mine"}, {"id": "unknown"}]})
    server.call(200, "GET", "/events/mine", path="/events/{id}")
    server.call(404, "GET", "/events/unknown/why", path="/events/{id}/why")
    server.call(200, "GET", "/events?event_id=mine")

    waiting = server.call(201, "POST", "/events", email)["id"]
    server.call(200, "GET", f"/events/{waiting}/why")
    server.call(200, "POST", f"/events/{waiting}/cancel?reason=sent+by+hand", {})
    server.call(200, "POST", f"/events/{waiting}/cancel")
    server.call(413, "POST", f"/events/{waiting}/reset?reason=" + "x" * 1001)
    server.call(200, "POST", f"/events/{waiting}/retry?by=ann&reason=again")
    server.call(200, "GET", f"/events/{waiting}?include_logs=true")
    server.call(200, "GET", f"/events/{first}?include_logs=true")
    server.call(200, "GET", f"/events/{last}")
    for action in ("start", "heartbeat", "complete", "fail", "release"):
        server.call(404, "POST", f"/events/999/{action}", worker)
    for action in ("retry", "reset", "cancel"):
        server.call(404, "POST", f"/events/999/{action}")
    server.call(404, "GET", "/events/999")
    server.call(404, "GET", "/events/999", headers={"Accept": "application/json, application/problem+json"})
    server.call(404, "GET", "/events/999/why")
    server.call(200, "GET", "/events?limit=3&offset=1&tags=email,once&queue=main")
    server.call(200, "HEAD", "/events?status=PENDING&after_id=1")
    server.call(400, "GET", "/events?limit=1001")
    server.call(417, "GET", "/events", headers={"Expect": "more"})
    server.call(431, "GET", "/events", headers={"X-Long": "x" * 40000})
    server.call(414, "GET", "/events?tags=" + "x" * 9000)
    for path in ("/healthz", "/readyz", "/openapi.json", "/"):
        server.call(200, "GET", path)
    check_queues(server, email, worker)
    check_waits(server, email, worker)
    check_failures(server, email, worker)
    check_notebooks(server)
    server.stop()
    server.start()
    server.call(200, "GET", "/queues/main/recovery")

    for method, path, _ in operations(document):
        if (method, path) not in server.succeeded:
            server.faults.append(f"{method} {path}: no call succeeded")


def check_queues(server, email, worker):
    server.call(404, "GET", "/queues/none")
    for action in ("pause", "drain", "resume", "checkpoint"):
        server.call(404, "POST", f"/queues/none/{action}")
    server.call(201, "PUT", "/queues/q%2F1", {"maxQueueDepth": 3, "highWatermark": 1})
    settings = {"maxQueueDepth": 3, "highWatermark": 1, "durability": "buffered", "retry": {"jitter": 0.5}}
    server.call(200, "PUT", "/queues/q%2F1", {"config": settings})
    server.call(400, "PUT", "/queues/q%2F1", {"highWatermark": 4, "maxQueueDepth": 3})
    server.call(400, "PUT", "/queues/a%20b", {})
    server.call(200, "PATCH", "/queues/q%2F1", {"batchSize": 10})
    server.call(415, "PUT", "/queues/q%2F1", "a", headers={"Content-Type": "text/plain"})
    mine = {**email, "queue": "q/1"}
    full = {"pattern": "invoice.created", "version": "1.0.0", "source": {"type": "t", "name": "n"}, "ordering_key": "o",
            "timestamp": "2025-12-24T10:30:00Z", "causation_id": "c", "supersede_key": "s", "delay": 3600, "published_by": "Ada",
            "retry": {"kind": "exponential"}}
    trace = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "tracestate": "a=b"}
    server.call(201, "POST", "/events", {**mine, **full}, headers=trace)
    server.call(201, "POST", "/events", mine)
    server.call(201, "POST", "/events", mine)
    server.call(429, "POST", "/events", mine)
    server.call(200, "GET", "/queues/q%2F1")
    server.call(200, "GET", "/queues/q%2F1?events=0")
    server.call(400, "GET", "/queues/q%2F1?events=1001")
    server.call(200, "GET", "/queues")
    server.call(200, "POST", "/queues/q%2F1/supersede", {"supersede_key": "s", "reason": "withdrawn"})
    server.call(200, "POST", "/queues/q%2F1/pause", {"reason": "deploy", "by": "alice"})
    server.call(200, "GET", "/queues/q%2F1/log?limit=2")
    server.call(400, "GET", "/queues/q%2F1/log?before=7")
    server.call(404, "GET", "/queues/none/log")
    server.call(200, "POST", "/queues/q%2F1/resume")
    server.call(200, "GET", "/events/subscribe?tags=email&queue=q/1&limit=9&worker_id=" + worker["worker_id"])
    server.call(200, "POST", "/queues/q%2F1/drain", {})
    server.call(409, "POST", "/events", mine)
    server.call(408, "POST", "/queues/q%2F1/drain?timeout=0")
    checkpoint = server.call(201, "POST", "/queues/q%2F1/checkpoint")["id"]
    server.call(200, "GET", "/queues/q%2F1/checkpoints?limit=5")
    server.call(404, "GET", "/queues/q%2F1/recovery")
    server.call(400, "POST", "/queues/q%2F1/replay", {})
    server.call(200, "POST", "/queues/main/replay", {"to": "2099-01-01T00:00:00Z", "limit": 1, "dry_run": True})
    server.call(200, "POST", "/queues/main/replay", {"to": "2099-01-01T00:00:00Z", "limit": 1})
    server.call(200, "POST", "/queues/q%2F1/replay", {"checkpoint": checkpoint})
    server.call(200, "DELETE", f"/queues/q%2F1/checkpoints/{checkpoint}?by=ann&reason=old")
    server.call(404, "DELETE", f"/queues/q%2F1/checkpoints/{checkpoint}")
    server.call(409, "DELETE", "/queues/main")
    server.call(404, "DELETE", "/queues/none")
    server.call(201, "PUT", "/queues/empty", {})
    server.call(200, "DELETE", "/queues/empty?by=ann")


def check_waits(server, email, worker):
    server.call(202, "POST", "/events", email, headers={"Prefer": "wait=0"})
    batch = server.call(201, "POST", "/events/batch", {
        "events": [{**email, "queue": "w"}], "ordered": True, "on_complete": {"title": "Done", "tags": "done"}})
    event = batch["events"][0]["id"]
    correlation = batch["correlation_id"]
    server.call(408, "POST", f"/events/{event}/wait?timeout=0")
    server.call(408, "POST", f"/events/correlation/{correlation}/wait?timeout=0", {})
    server.call(200, "POST", f"/events/{event}/cancel")
    server.call(200, "POST", f"/events/{event}/wait")
    server.call(200, "POST", f"/events/correlation/{correlation}/wait?timeout=0")
    server.call(200, "GET", f"/events/correlation/{correlation}?limit=1")
    server.call(404, "GET", "/events/correlation/none")
    server.call(404, "POST", "/events/correlation/none/wait?timeout=0")
    server.call(404, "POST", "/events/999999/wait?timeout=0")
    server.call(200, "POST", "/events/subscribe", {**worker, "tags": "done", "queue": "w"})


def check_failures(server, email, worker):
    failing = {**email, "queue": "f", "max_retries": 1}
    event = server.call(201, "POST", "/events", failing)["id"]
    server.call(200, "POST", "/events/subscribe", {**worker, "tags": "email", "queue": "f"})
    server.call(400, "POST", f"/events/{event}/fail", {**worker, "error_message": "timeout after 5 ms"})
    server.call(200, "GET", f"/events/{event}")
    server.call(200, "GET", "/failures?queue=f")
    server.call(400, "GET", "/failures?limit=0")
    server.call(200, "POST", "/failures/redrive", {"queue": "f", "dry_run": True})
    server.call(200, "POST", "/failures/retry", {"queue": "f", "dry_run": True})
    server.call(200, "POST", "/failures/retry", {"queue": "f", "cause": "timeout after # ms", "reason": "fixed", "by": "ann"})
    workers = server.call(200, "GET", "/workers")["workers"]
    server.call(200, "GET", "/workers/" + quote(workers[0]["worker_id"], safe=""))
    server.call(404, "GET", "/workers/none")
    server.call(200, "GET", "/workers/" + quote(workers[0]["worker_id"], safe="") + "/log?limit=2")
    server.call(400, "GET", "/workers/none/log?before=x")
    server.call(204, "DELETE", "/workers/none")
    server.call(200, "GET", "/overview")
    server.call(200, "GET", "/metrics")
    server.call(200, "GET", "/metrics", headers={"Accept": "application/json"})
    server.call(400, "GET", "/metrics?queue=f")


def check_notebooks(server):
    folder = pathlib.Path(server.folder.name, "notes")
    folder.mkdir()
    settings = {"git_commit_interval": 0.5, "worker_batch_size": 10}
    server.call(201, "POST", "/notebooks", {"name": "notes", "path": str(folder), "settings": settings})
    server.call(409, "POST", "/notebooks", {"name": "notes", "path": str(folder)})
    server.call(403, "POST", "/notebooks", {"name": "other", "path": "/"})
    server.call(400, "POST", "/notebooks", {"name": "other"})
    server.call(200, "GET", "/notebooks")
    server.call(200, "GET", "/notebooks/notes")
    server.call(404, "GET", "/notebooks/none")

    files = "/notebooks/notes/files"
    metadata = {"title": "Today", "description": "D", "mood": ["good"]}
    made = server.call(201, "POST", files + "?sync=true", {"path": "a/b.md", "content": "x", "metadata": metadata})
    server.call(202, "POST", files, {"path": "a/c.md"})
    server.call(201, "POST", files + "?sync=true", {"path": "d", "is_directory": True})
    server.call(409, "POST", files + "?sync=true", {"path": "a/b.md"})
    server.call(400, "POST", files, {"path": "../b.md"})
    server.call(413, "POST", files, {"path": "large", "content": "x" * 1048576})
    file = f"{files}/{made['id']}"
    server.call(200, "GET", file)
    server.call(404, "GET", files + "/999")
    server.call(200, "GET", file + "/content")
    server.call(200, "PUT", file + "?sync=true", {"content": "y"})
    server.call(202, "PUT", file, {"content": "z"})
    server.call(200, "PATCH", file + "/move?sync=true", {"dest_path": "e.md"})
    server.call(200, "GET", files + "?kind=all&limit=2")
    folders = server.call(200, "GET", files + "?kind=folder")["files"]
    inside = next(it["id"] for it in folders if it["path"] == "a")
    server.call(409, "GET", f"{files}/{inside}/content")
    server.call(202, "PATCH", f"{files}/{inside}/move", {"dest_path": "f"})
    server.call(200, "DELETE", f"{files}/{inside}?sync=true", {})
    server.call(202, "DELETE", file)
    server.call(404, "DELETE", files + "/999")
    server.call(400, "DELETE", file + "?timeout=1")
    server.call(200, "POST", "/notebooks/notes/rescan")
    server.call(200, "POST", "/events/commit?notebook=notes&sync=true")
    server.call(202, "POST", "/events/commit?notebook=notes", {})
    server.call(200, "POST", "/events/commit?sync=true")
    server.call(202, "POST", "/events/commit")
    server.call(404, "POST", "/events/commit?notebook=none")
    server.call(200, "GET", "/notebooks/notes/commits?limit=5")
    server.call(200, "GET", "/notebooks/notes")
    server.call(200, "GET", "/metrics")


def main():
    document = Document(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    faults = check_document(document, json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")))
    if len(sys.argv) > 3:
        with Server(sys.argv[3], document) as server:
            check_answers(server, document)
            faults += server.faults
            print(f"{server.answers} answers checked")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
