"""test_connections.py: calls and workers over connections that break, and retries."""
import threading
import unittest

import blocking
import eventq
from worker_fixture import CLIENT, ENOUGH, ScriptedServer, forwarded, reports, WithWorker


def tearDownModule():
    CLIENT.close()


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
            sent_reports = [(report["id"], report["attempt"]) for report in reports(body)]
            if sent_reports and not bad:
                if len(sent_reports) < 4:
                    return 503, {}  # until one call has all four
                bad.append(sent_reports[1])
            return (400, {"error": "Bad."}) if bad and bad[0] in sent_reports else forwarded(path, body)
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
        client = blocking.Client(server.url, tries=tries)
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
                blocking.Client(url)


if __name__ == "__main__":
    unittest.main()
