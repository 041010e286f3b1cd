"""worker_fixture.py: what test_worker.py and test_connections.py share: a worker under test, a proxy that breaks
connections, and a server whose answers the test chooses.

EVENTQ_URL names a server with a lease of six seconds.
"""
import http.client
import http.server
import json
import os
import socket
import threading
import unittest
import urllib.parse
import uuid

import blocking
import eventq

URL = os.environ["EVENTQ_URL"]
CLIENT = blocking.Client(URL)
AT_ONCE = {"kind": "fixed", "baseMs": 0, "capMs": 0, "jitter": 0}
ENOUGH = 60.0  # seconds; time limit for steps that take milliseconds on an idle machine
LEASE = 6.0  # seconds; heartbeats are sent after two, so a slow machine has four to commit one


class Proxy:
    """A TCP proxy to the server that can drop answers and cut connections."""

    def __init__(self):
        self.lock = threading.Lock()
        self.down = False
        self.answers_to_lose = 0
        self.sockets = set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            if self.down:
                near.close()
                continue
            parts = urllib.parse.urlsplit(URL)
            far = socket.create_connection((parts.hostname, parts.port))
            with self.lock:
                self.sockets |= {near, far}
            threading.Thread(target=self.carry, args=(near, far, False), daemon=True).start()
            threading.Thread(target=self.carry, args=(far, near, True), daemon=True).start()

    def carry(self, source, target, is_answer):
        try:
            while data := source.recv(65536):
                with self.lock:
                    lose = is_answer and self.answers_to_lose > 0
                    self.answers_to_lose -= lose
                if lose:
                    break
                target.sendall(data)
        except OSError:
            pass
        self.end({source, target})

    def end(self, sockets):
        for each in sockets:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            each.close()
        with self.lock:
            self.sockets -= sockets

    def cut(self):
        self.down = True
        self.end(set(self.sockets))

    def restore(self):
        self.down = False

    def close(self):
        self.cut()
        self.listener.close()


class ScriptedServer(http.server.ThreadingHTTPServer):
    """An HTTP server whose answers are the (status, body) that `answer(path, body, key)` returns."""

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), ScriptedHandler)
        self.answer = answer
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        pass  # the client closed the connection before the answer


class ScriptedHandler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, body = self.server.answer(self.path, sent, self.headers["Idempotency-Key"])
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_DELETE(self):
        self.server.answer(f"DELETE {self.path}", {}, None)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def forwarded(path, body):
    """The answer of the real server: status and body."""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(URL).netloc, timeout=60)
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    response = connection.getresponse()
    answer = response.status, json.loads(response.read())
    connection.close()
    return answer


def is_heartbeat(path, body):
    return path.endswith("/heartbeat") or "alive" in body


def reports(body):
    return [report for kind in ("completed", "failed", "released") for report in body.get(kind, ())]


class WithWorker(unittest.TestCase):
    def setUp(self):
        self.tag = uuid.uuid4().hex

    def work(self, handler, client=CLIENT, **options):
        worker = blocking.Worker(client, handler if isinstance(handler, dict) else self.tag,
                               None if isinstance(handler, dict) else handler, **{"stop_within": ENOUGH, **options})
        worker.start()
        self.addCleanup(worker.stop)
        return worker

    def publish(self, payload=None, **members):
        return CLIENT.publish(self.tag, payload, **{"retry": AT_ONCE, **members})

    def proxy(self):
        proxy = Proxy()
        self.addCleanup(proxy.close)
        return proxy

    def scripted(self, answer):
        """A client of a server that answers with answer(path, body)."""
        server = ScriptedServer(lambda path, body, _: answer(path, body))
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return self.over(server)

    def over(self, server, **options):
        client = blocking.Client(server.url, **options)
        self.addCleanup(client.close)
        return client

    def actions(self, event):
        return [entry["action"] for entry in CLIENT.log(event.id) if entry["action"] != "PICKED"]
