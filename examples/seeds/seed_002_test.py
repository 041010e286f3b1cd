"""seed_002_test.py: tests that the queries of seed_002_queries.sql work on a store that a server has filled.

usage: seed_002_test.py EVENTQ sqlite | postgres

Starts EVENTQ on a fresh store and fills it with the queue of the seed's example (lines 74 to 135). Then it stops EVENTQ and
asks the store: the file with Python's sqlite3, the database with psql. For PostgreSQL, EVENTQ_TEST_POSTGRES is the folder
with the socket of a cluster (tests/support/with_postgres).
"""
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import urllib.request

CONFIG = {"maxQueueDepth": 10000, "batchSize": 100, "processingInterval": 1000, "persistenceThreshold": 500, "highWatermark": 8000}
EVENTS = [
    {"event_id": "evt_111aaa222bbb333", "pattern": "invoice.created"},
    {"event_id": "evt_123abc456def789", "pattern": "invoice.created", "version": "1.0.0",
     "source": {"type": "integration", "id": "xero_main", "name": "Xero Accounting"}, "timestamp": "2024-03-15T10:00:00.123Z",
     "payload": {"invoice_id": "INV-001", "amount": 1500.00}, "correlation_id": "corr_xyz789"},
    {"event_id": "evt_456def789ghi012", "pattern": "payment.received", "version": "1.0.0",
     "source": {"type": "integration", "id": "stripe_payments", "name": "Stripe Payments"},
     "timestamp": "2024-03-15T10:05:00.456Z", "payload": {"payment_id": "PAY-002", "amount": 750.00},
     "correlation_id": "corr_xyz789"},
]
# The answer to each query, row by row.
EXPECTED = [
    ["main-queue|active|evt_111aaa222bbb333"],
    ["side-queue"],
    ["evt_123abc456def789|invoice.created|1.0.0|2024-03-15T10:00:00.123Z"],
    ["integration|xero_main|Xero Accounting|INV-001"],
    ["evt_456def789ghi012|corr_xyz789|1|Connection timeout"],
    ["1|1|42"],
    ["main-queue|10000|100|1000|500|8000", "side-queue|10000|100|1000|500|8000"],
    ["main-queue", "side-queue"],
    ["main-queue|evt_111aaa222bbb333|1|active"],
    ["1|1"],
]
# The types of the seed's table (171-188).
POSTGRES_TYPES = {
    "event_queue_state": ["id character varying(255)", "events jsonb", "checkpoint_id character varying(255)",
                          "queue_metrics jsonb", "config jsonb", "status character varying(50)",
                          "created_at timestamp without time zone", "updated_at timestamp without time zone"],
    "queue_checkpoints": ["id uuid", "queue_id character varying(255)", "checkpoint_id character varying(255)",
                          "event_count integer", "created_at timestamp without time zone"],
}


def call(base, method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.loads(response.read() or "null")


def fill(base):
    call(base, "PUT", "/queues/main-queue", CONFIG)
    for event in EVENTS:
        call(base, "POST", "/events", {"queue": "main-queue", "title": event["pattern"], "tags": event["pattern"], **event})
    take = "/events/subscribe?queue=main-queue&worker_id=test:1&tags="
    done = call(base, "GET", take + "invoice.created")
    call(base, "POST", f"/events/{done['id']}/complete", {"worker_id": "test:1", "execution_time_ms": 42})
    failed = call(base, "GET", take + "payment.received")
    call(base, "POST", f"/events/{failed['id']}/fail",
         {"worker_id": "test:1", "execution_time_ms": 42, "error_message": "Connection timeout"})
    call(base, "POST", "/queues/main-queue/checkpoint")
    call(base, "POST", "/events", {"queue": "side-queue", "title": "Side", "tags": "side"})
    call(base, "POST", "/queues/side-queue/pause")


def serve_and_fill(program, store):
    server = subprocess.Popen([program, "serve", "--listen", "127.0.0.1:0", "--store", store, "--migrate"],
                              stderr=subprocess.PIPE, text=True)
    try:
        for line in server.stderr:
            found = re.search(r"msg=listening address=(\S+)", line)
            if found:
                threading.Thread(target=server.stderr.read, daemon=True).start()  # a full pipe would block the server
                fill(f"http://{found[1]}")
                return
        raise AssertionError("The server did not start.")
    finally:
        server.terminate()
        server.wait()


def queries():
    text = (pathlib.Path(__file__).parent / "seed_002_queries.sql").read_text()
    return [part.strip() for part in re.sub(r"--.*", "", text).split(";") if part.strip()]


def compare(rows_of):
    asked = queries()
    assert len(asked) == len(EXPECTED), (len(asked), len(EXPECTED))
    for query, expected in zip(asked, EXPECTED):
        rows = rows_of(query)
        assert rows == expected, (query, rows, expected)


def test_sqlite(program):
    with tempfile.TemporaryDirectory() as folder:
        serve_and_fill(program, f"sqlite:{folder}/eventq.db")
        file = sqlite3.connect(f"file:{folder}/eventq.db?mode=ro", uri=True)

        def rows_of(query):
            return ["|".join(map(str, row)) for row in file.execute(query)]

        compare(rows_of)
        waiting = "SELECT each.value ->> 'eventId' FROM event_queue_state, json_each(events) AS each WHERE event_queue_state.id = "
        assert rows_of(waiting + "'main-queue'") == ["evt_123abc456def789", "evt_456def789ghi012"]


def test_postgres(program):
    socket = next(pathlib.Path(os.environ["EVENTQ_TEST_POSTGRES"]).glob(".s.PGSQL.*[0-9]"))
    address = f"?host={socket.parent}&port={socket.suffix[1:]}"
    database = f"seed_002_{os.getpid()}"

    def rows_of(query, name=database):
        url = f"postgres://postgres@/{name}{address}&options=-csearch_path%3Deventq"
        done = subprocess.run(["psql", "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", query, url], capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0, (query, done.stderr)
        return done.stdout.splitlines()

    rows_of(f"CREATE DATABASE {database}", "postgres")
    try:
        serve_and_fill(program, f"postgres://postgres@/{database}{address}")
        compare(rows_of)
        waiting = "SELECT each ->> 'eventId' FROM event_queue_state, jsonb_array_elements(events) AS each WHERE id = 'main-queue'"
        assert rows_of(waiting) == ["evt_123abc456def789", "evt_456def789ghi012"]
        for table, types in POSTGRES_TYPES.items():
            columns = ("SELECT attname || ' ' || format_type(atttypid, atttypmod) FROM pg_attribute"
                       f" WHERE attrelid = '{table}'::regclass AND attnum > 0 ORDER BY attnum")
            assert rows_of(columns) == types, rows_of(columns)
    finally:
        rows_of(f"DROP DATABASE {database} WITH (FORCE)", "postgres")


if sys.argv[2] == "sqlite":
    test_sqlite(sys.argv[1])
else:
    test_postgres(sys.argv[1])
