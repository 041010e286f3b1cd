"""test_worker.py: the worker of eventq.py, and calls over connections that break.

EVENTQ_URL names a server with a lease of six seconds.
"""
import datetime
import http.client
import http.server
import json
import os
import socket
import threading
import time
import unittest
import urllib.parse
import uuid

import eventq

URL = os.environ["EVENTQ_URL"]
CLIENT = eventq.Client(URL)
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


def tearDownModule():
    CLIENT.close()


class WithWorker(unittest.TestCase):
    def setUp(self):
        self.tag = uuid.uuid4().hex

    def work(self, handler, client=CLIENT, **options):
        worker = eventq.Worker(client, handler if isinstance(handler, dict) else self.tag,
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
        client = eventq.Client(server.url, **options)
        self.addCleanup(client.close)
        return client

    def actions(self, event):
        return [entry["action"] for entry in CLIENT.log(event.id) if entry["action"] != "PICKED"]


class Handlers(WithWorker):
    def test_an_event_is_handled_once_and_completed(self):
        seen = []
        self.work(seen.append)
        event = self.publish({"n": 2**70, "text": "grün 🌱"})
        self.assertEqual(CLIENT.wait(event.id, ENOUGH).status, "COMPLETED")
        self.assertEqual([(each.id, each.attempt, each.tags) for each in seen], [(event.id, 1, [self.tag])])
        self.assertEqual(seen[0].payload, {"n": 2**70, "text": "grün 🌱"})
        self.assertIn("execution_time_ms", CLIENT.log(event.id)[-1])

    def test_five_hundred_events_are_each_handled_once(self):
        seen = []
        self.work(lambda event: seen.append(event.payload), threads=8)
        batch = CLIENT.publish_batch([{"tags": [self.tag], "payload": n} for n in range(500)])
        done = CLIENT.wait_correlation(batch["correlation_id"], ENOUGH)
        self.assertEqual((done["completed"], sorted(seen)), (500, list(range(500))))

    def test_a_list_returned_by_a_handler_becomes_the_errors_of_the_completion(self):
        self.work(lambda event: ["3 rows skipped"])
        event = self.publish()
        self.assertEqual(CLIENT.wait(event.id, ENOUGH).status, "COMPLETED_WITH_ERRORS")
        self.assertEqual(CLIENT.log(event.id)[-1]["errors"], ["3 rows skipped"])

    def test_an_exception_fails_the_event_which_is_retried(self):
        def handler(event):
            if event.attempt == 1:
                raise ValueError("no such \0 luck " + "ü" * 20000)
        self.work(handler)
        event = self.publish()
        self.assertEqual(CLIENT.wait(event.id, ENOUGH).status, "COMPLETED")
        self.assertEqual(self.actions(event), ["FAILED", "COMPLETED"])
        self.assertTrue(CLIENT.log(event.id)[1]["error_message"].startswith("ValueError: no such \ufffd luck üü"))

    def test_a_permanent_failure_is_not_retried(self):
        def handler(event):
            raise eventq.Permanent("card stolen")
        self.work(handler)
        ended = CLIENT.wait(self.publish().id, ENOUGH)
        self.assertEqual((ended.status, ended["attempts"], ended["error_message"]), ("FAILED", 1, "card stolen"))

    def test_later_releases_the_event_without_a_failure(self):
        def handler(event):
            if event.attempt == 1:
                raise eventq.Later(0.5, "mail server\nis busy")
        self.work(handler)
        event = self.publish()
        ended = CLIENT.wait(event.id, ENOUGH)
        self.assertEqual((ended.status, ended["retry_count"]), ("COMPLETED", 0))
        self.assertEqual(self.actions(event), ["RELEASED", "COMPLETED"])
        self.assertEqual(CLIENT.log(event.id)[1]["reason"], "mail server is busy")

    def test_all_matching_handlers_run_and_the_worst_result_counts(self):
        ran = []

        def later(event):
            ran.append("later")
            raise eventq.Later(0)

        def permanent(event):
            ran.append("permanent")
            raise eventq.Permanent("broken for good")

        def other(event):
            ran.append("other")
        self.work({self.tag: later, self.tag + "-b": permanent, self.tag + "-c": other})
        event = CLIENT.publish([self.tag + "-b", self.tag], title="Two")
        self.assertEqual(CLIENT.wait(event.id, ENOUGH).status, "FAILED")
        self.assertEqual(ran, ["later", "permanent"])

    def test_tags_of_handlers_are_trimmed_as_the_server_trims_them(self):
        seen = []
        self.work({f" {self.tag}\t": seen.append})
        event = self.publish()
        self.assertEqual(CLIENT.wait(event.id, ENOUGH).status, "COMPLETED")
        self.assertEqual(len(seen), 1)

    def test_an_event_without_a_matching_handler_fails_and_is_retried(self):
        def answer(path, body):
            status, answer = forwarded(path, body)
            for event in answer.get("events", ()):
                event["tags"] = "other" if event["attempt"] == 1 else event["tags"]
            return status, answer
        self.work({self.tag: lambda event: None}, client=self.scripted(answer))
        event = self.publish()
        self.assertEqual(CLIENT.wait(event.id, ENOUGH).status, "COMPLETED")
        self.assertEqual(self.actions(event), ["FAILED", "COMPLETED"])
        self.assertEqual(CLIENT.log(event.id)[1]["error_message"], "No handler here matches the tags other.")

    def test_later_accepts_a_timedelta(self):
        def handler(event):
            if event.attempt == 1:
                raise eventq.Later(datetime.timedelta(milliseconds=1))
        self.work(handler)
        event = self.publish()
        self.assertEqual(CLIENT.wait(event.id, ENOUGH).status, "COMPLETED")
        self.assertEqual(self.actions(event), ["RELEASED", "COMPLETED"])

    def test_an_exception_without_a_text_fails_the_event_which_is_retried(self):
        class WithoutText(Exception):
            def __str__(self):
                raise RuntimeError("no text")

        def handler(event):
            if event.attempt == 1:
                raise eventq.Later(None)
            if event.attempt == 2:
                raise eventq.Later(float("nan"))
            if event.attempt == 3:
                raise WithoutText
        self.work(handler, threads=1)
        event = self.publish(max_retries=5)
        self.assertEqual(CLIENT.wait(event.id, ENOUGH).status, "COMPLETED")
        self.assertEqual(self.actions(event), ["FAILED", "FAILED", "FAILED", "COMPLETED"])

    def test_an_error_of_the_worker_itself_ends_run(self):
        worker = eventq.Worker(self.scripted(lambda path, body: (200, {"no": "events"})), self.tag, print)
        with self.assertLogs("eventq", "CRITICAL"), self.assertRaises(KeyError):
            worker.run()

    def test_run_raises_the_error_of_a_refused_claim(self):
        worker = eventq.Worker(CLIENT, "no blank", print)
        with self.assertRaises(eventq.InvalidRequest) as caught:
            worker.run()
        self.assertEqual(caught.exception.field, "tags")


class Leases(WithWorker):
    def test_a_handler_that_runs_for_three_leases_is_not_run_twice(self):
        lost = []
        self.work(lambda event: lost.append(event.lost.wait(3.5 * LEASE)), threads=2)
        event = self.publish()
        ended = CLIENT.wait(event.id, ENOUGH)
        self.assertEqual((ended.status, ended["attempts"], lost), ("COMPLETED", 1, [False]))

    def test_events_that_wait_in_the_worker_keep_their_leases(self):
        self.work(lambda event: event.lost.wait(1.2 * LEASE), threads=1, prefetch=2)
        events = [self.publish() for _ in range(3)]
        self.assertEqual([CLIENT.wait(event.id, ENOUGH)["attempts"] for event in events], [1, 1, 1])

    def test_a_handler_sees_the_lost_lease_and_the_next_attempt_counts(self):
        begun, lost = threading.Event(), threading.Event()

        def handler(event):
            if event.attempt == 1:
                begun.set()
                if event.lost.wait(ENOUGH):
                    lost.set()
        self.work(handler)
        event = self.publish()
        self.assertTrue(begun.wait(ENOUGH))
        CLIENT.reset(event.id)
        self.assertTrue(lost.wait(ENOUGH))
        ended = CLIENT.wait(event.id, ENOUGH)
        self.assertEqual((ended.status, self.actions(event)), ("COMPLETED", ["RESET", "COMPLETED"]))
        self.assertEqual(CLIENT.log(event.id)[-1]["attempt"], 2)


    def test_handlers_see_lost_leases_in_time_while_the_heartbeat_call_hangs(self):
        unblocked, all_lost, lost_at = threading.Event(), threading.Event(), []
        self.addCleanup(unblocked.set)

        def answer(path, body):
            if is_heartbeat(path, body):
                unblocked.wait(ENOUGH)
            return forwarded(path, body)

        def handler(event):
            if event.attempt == 1 and event.lost.wait(ENOUGH):
                lost_at.append(time.monotonic())
                if len(lost_at) == 12:
                    all_lost.set()
        CLIENT.publish_batch([{"tags": self.tag} for _ in range(12)])
        self.work(handler, client=self.scripted(answer), threads=12)
        self.assertTrue(all_lost.wait(ENOUGH))
        self.assertLess(max(lost_at) - min(lost_at), LEASE)

    def test_no_handler_begins_an_event_whose_lease_has_ended(self):
        begun = []

        def answer(path, body):
            return (503, {}) if is_heartbeat(path, body) else forwarded(path, body)

        def handler(event):
            begun.append((event.id, event.attempt))
            deadline = time.monotonic() + ENOUGH
            while len(begun) == 1 and time.monotonic() < deadline:  # until attempt 1 of `other` has ended on the server
                if [entry for entry in CLIENT.log(other.id) if entry.get("attempt") == 1 and entry["action"] != "PICKED"]:
                    break
                event.lost.wait(0.05)
            CLIENT.close()  # this thread's connection
        _, other = CLIENT.publish_batch([{"tags": self.tag} for _ in range(2)])["events"]
        self.work(handler, client=self.scripted(answer), threads=1, prefetch=1)
        self.assertEqual(CLIENT.wait(other.id, ENOUGH).status, "COMPLETED")
        self.assertNotIn((other.id, 1), begun)

    def test_one_call_extends_all_leases_that_are_due(self):
        kept = threading.Event()

        def answer(path, body):
            if len(body.get("alive", ())) == 5:
                kept.set()
            return forwarded(path, body)
        batch = CLIENT.publish_batch([{"tags": self.tag} for _ in range(5)])
        self.work(lambda event: kept.wait(ENOUGH), client=self.scripted(answer), threads=5)
        done = CLIENT.wait_correlation(batch["correlation_id"], ENOUGH)
        self.assertTrue(kept.is_set())
        self.assertEqual([event["attempts"] for event in done["events"]], [1] * 5)

    def test_a_lease_starts_with_the_answer_and_is_extended_at_once_after_a_long_wait(self):
        calls, kept, reported = [], threading.Event(), threading.Event()
        event = {"id": 7, "tags": self.tag, "attempt": 1, "updated_at": "2025-01-01T00:00:00.000Z",
                 "lease_until": "2025-01-01T00:00:01.000Z"}

        def answer(path, body):
            said = reports(body)
            if is_heartbeat(path, body) or said:
                calls.append("heartbeat" if is_heartbeat(path, body) else "completed" if "completed" in body else "released")
                (reported if said else kept).set()
                return 200, {"results": [{"status": 200} for _ in body.get("alive", said)], "events": []}
            time.sleep(1.1)  # longer than the lease
            return 200, {"results": [], "events": [] if kept.is_set() else [event]}
        worker = self.work(lambda event: kept.wait(ENOUGH), client=self.scripted(answer), threads=1, prefetch=0)
        self.assertTrue(reported.wait(ENOUGH))  # stop() before the handler began would release the event
        worker.stop()
        self.assertEqual(calls, ["heartbeat", "completed"])


class Stopping(WithWorker):
    def test_stop_waits_for_a_handler_and_releases_the_other_events(self):
        begun, go_on = threading.Event(), threading.Event()

        def handler(event):
            begun.set()
            go_on.wait(ENOUGH)
        worker = self.work(handler, threads=1, prefetch=3)
        running, *others = CLIENT.publish_batch([{"tags": self.tag} for _ in range(3)])["events"]
        self.assertTrue(begun.wait(ENOUGH))
        stopped = []
        stopper = threading.Thread(target=lambda: stopped.append(worker.stop()))
        stopper.start()
        given = {}
        while len(given) < 2:  # another worker claims them while the handler still runs
            for event in CLIENT.next(self.tag, worker_id="other", limit=2, wait=20).events:
                given[event.id] = event["retry_count"]
        self.assertEqual(given, {event.id: 0 for event in others})
        self.assertEqual(CLIENT.get(running.id).status, "PROCESSING")
        go_on.set()
        stopper.join()
        self.assertEqual(stopped, [True])
        self.assertEqual(CLIENT.get(running.id).status, "COMPLETED")

    def test_stop_abandons_a_handler_that_does_not_return_and_releases_its_event(self):
        begun, lost, never = threading.Event(), threading.Event(), threading.Event()
        self.addCleanup(never.set)

        def handler(event):
            begun.set()
            if event.lost.wait(ENOUGH):
                lost.set()
            never.wait(ENOUGH)
        worker = self.work(handler, stop_within=0.2)
        event = self.publish()
        self.assertTrue(begun.wait(ENOUGH))
        self.assertFalse(worker.stop())
        self.assertTrue(lost.is_set() or lost.wait(ENOUGH))
        self.assertEqual((CLIENT.get(event.id).status, self.actions(event)), ("PENDING", ["RELEASED"]))


class BrokenConnections(WithWorker):
    def test_a_publish_whose_answer_is_lost_is_stored_once(self):
        proxy = self.proxy()
        client = self.over(proxy)
        proxy.answers_to_lose = 2
        event = client.publish(self.tag, 1)
        batch = client.publish_batch([{"tags": self.tag}, {"tags": self.tag}])
        self.assertEqual(CLIENT.list(tags=self.tag)["total"], 3)
        self.assertEqual([each.id for each in CLIENT.iterate(tags=self.tag)], [event.id] + [each.id for each in batch["events"]])
        self.assertEqual(proxy.answers_to_lose, 0)

    def test_a_completion_whose_answer_is_lost_is_recorded_once(self):
        proxy = self.proxy()
        client = self.over(proxy)
        event = self.publish()
        claim = client.next(self.tag).events[0]
        proxy.answers_to_lose = 1
        self.assertEqual(client.complete(claim)["event_id"], event.id)
        self.assertEqual(self.actions(event), ["COMPLETED"])

    def test_a_reset_or_cancel_whose_answer_is_lost_is_not_repeated(self):
        proxy = self.proxy()
        client = self.over(proxy)
        event = self.publish()
        for call in (client.reset, client.cancel):
            CLIENT.next(self.tag)
            client.get(event.id)
            proxy.answers_to_lose = 1
            with self.assertRaises(eventq.UnknownOutcome):
                call(event.id)
        self.assertEqual(self.actions(event), ["RESET", "CANCELLED"])

    def test_reports_are_kept_until_the_gateway_accepts_them(self):
        answers = [408, 429, 500, 502, 503, 504]

        def answer(path, body):
            return (answers.pop(), b"<html>") if reports(body) and answers else forwarded(path, body)
        self.work(lambda event: None, client=self.scripted(answer))
        event = self.publish()
        ended = CLIENT.wait(event.id, ENOUGH)
        self.assertEqual((ended.status, ended["attempts"], answers), ("COMPLETED", 1, []))

    def test_only_the_bad_one_of_reports_refused_together_is_dropped(self):
        bad = []

        def answer(path, body):
            said = [(report["id"], report["attempt"]) for report in reports(body)]
            if said and not bad:
                if len(said) < 4:
                    return 503, {}  # until one call has all four
                bad.append(said[1])
            return (400, {"error": "Bad."}) if bad and bad[0] in said else forwarded(path, body)
        batch = CLIENT.publish_batch([{"tags": self.tag} for _ in range(4)])
        self.work(lambda event: None, client=self.scripted(answer), threads=4)
        done = CLIENT.wait_correlation(batch["correlation_id"], ENOUGH)
        self.assertEqual(done["completed"], 4)
        self.assertEqual({event.id: event["attempts"] for event in done["events"]},
                         {event.id: 2 if event.id == bad[0][0] else 1 for event in done["events"]})

    def test_a_publish_without_an_answer_has_an_unknown_outcome(self):
        proxy = self.proxy()
        proxy.answers_to_lose = 1
        with self.assertRaises(eventq.UnknownOutcome):
            self.over(proxy, tries=1).publish(self.tag)

    def test_a_server_that_does_not_listen_is_unavailable(self):
        proxy = self.proxy()
        proxy.close()
        with self.assertRaises(eventq.Unavailable) as caught:
            self.over(proxy, tries=2).publish(self.tag)
        self.assertEqual(caught.exception.status, 0)

    def test_a_call_replaces_a_kept_connection_that_the_server_closed(self):
        proxy = self.proxy()
        client = self.over(proxy, tries=1)
        client.publish(self.tag)
        proxy.cut()
        proxy.restore()
        client.publish(self.tag)
        self.assertEqual(CLIENT.list(tags=self.tag)["total"], 2)

    def test_a_worker_loses_no_event_while_the_server_is_unreachable(self):
        proxy = self.proxy()
        seen, cut = [], threading.Event()

        def handler(event):
            if event.payload == 5:
                proxy.cut()
                cut.set()
            seen.append(event.payload)
        self.work(handler, client=self.over(proxy, timeout=5))
        events = [self.publish(n) for n in range(20)]
        self.assertTrue(cut.wait(ENOUGH))
        proxy.restore()
        for event in events:
            self.assertEqual(CLIENT.wait(event.id, ENOUGH).status, "COMPLETED")
            self.assertEqual(self.actions(event).count("COMPLETED"), 1)
        self.assertEqual(sorted(set(seen)), list(range(20)))

    def test_a_stream_reconnects_after_its_connection_broke(self):
        proxy = self.proxy()
        client = self.over(proxy)
        first, second = self.publish("first"), None
        with client.stream(self.tag, worker_id=self.tag) as stream:
            for event in stream:
                if event.id == first.id:
                    proxy.cut()
                    second = self.publish("second")
                    proxy.restore()
                    client.complete(event)
                else:
                    self.assertEqual((event.id, event.payload), (second.id, "second"))
                    break


EVENT = (201, {"id": 1, "tags": "a"})
BUSY = (503, {"error": "Busy.", "type": "urn:eventq:problem:overloaded", "outcome": "unchanged"})
FULL = (429, {"error": "Full.", "type": "urn:eventq:problem:queue-full"})
UNKNOWN = (503, {"error": "The outcome is unknown.", "type": "urn:eventq:problem:outcome-unknown", "outcome": "unknown"})
DISK_FULL = (507, {"error": "No space.", "type": "urn:eventq:problem:disk-full", "outcome": "unchanged"})


class Retries(unittest.TestCase):
    def publish(self, *answers, tries=5):
        """Publishes to a server with these answers. self.keys has the idempotency key of each call."""
        left, self.keys = list(answers), []

        def answer(path, body, key):
            self.keys.append(key)
            return left.pop(0)
        server = ScriptedServer(answer)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        client = eventq.Client(server.url, tries=tries)
        self.addCleanup(client.close)
        return client.publish("a")

    def test_a_call_to_a_busy_server_is_repeated_with_the_same_key(self):
        self.assertEqual(self.publish(BUSY, FULL, EVENT).id, 1)
        self.assertEqual((len(self.keys), len(set(self.keys))), (3, 1))

    def test_tries_includes_the_first_try(self):
        with self.assertRaises(eventq.QueueFull):
            self.publish(BUSY, BUSY, FULL, EVENT, tries=3)
        self.assertEqual(len(self.keys), 3)

    def test_an_error_that_a_retry_would_not_change_is_not_retried(self):
        for answer, error in ((UNKNOWN, eventq.UnknownOutcome), (DISK_FULL, eventq.Unavailable)):
            with self.assertRaises(error) as caught:
                self.publish(answer, EVENT)
            self.assertEqual((len(self.keys), caught.exception.problem), (1, answer[1]))

    def test_an_answer_of_another_server_is_an_error_about_json(self):
        with self.assertRaisesRegex(eventq.EventqError, "not JSON"):
            self.publish((200, b"<html>"), tries=1)


class Values(unittest.TestCase):
    def test_an_invalid_url_is_refused(self):
        for url in ("127.0.0.1:8080", "ftp://127.0.0.1", "http://", "http://127.0.0.1/path"):
            with self.assertRaises(ValueError):
                eventq.Client(url)


if __name__ == "__main__":
    unittest.main()
