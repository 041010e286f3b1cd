"""test_worker.py: the worker: handlers, leases, and how it stops."""
import datetime
import json
import threading
import time
import unittest

import blocking
import eventq
from worker_fixture import CLIENT, ENOUGH, LEASE, forwarded, is_heartbeat, reports, WithWorker


def tearDownModule():
    CLIENT.close()


def nested(levels):
    """A value with so many levels."""
    value = []
    for level in range(1, levels):
        value = {"a": value} if level % 2 else [1, value, []]
    return value


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

    def test_an_error_without_a_text_completes_the_event_with_errors(self):
        self.work(lambda event: event.payload)
        event = self.publish(["", "3 rows skipped"])
        self.assertEqual(CLIENT.wait(event.id, ENOUGH).status, "COMPLETED_WITH_ERRORS")
        self.assertEqual(CLIENT.log(event.id)[-1]["errors"], ["An error without a message.", "3 rows skipped"])

    def test_an_empty_list_has_no_errors(self):
        self.work(lambda event: [])
        ended = CLIENT.wait(self.publish().id, ENOUGH)
        self.assertEqual((ended.status, ended.result), ("COMPLETED", None))

    def test_a_list_that_is_no_list_of_texts_fails_the_event_for_good(self):
        how = "Return error messages as a list of texts, and a list that is the result as Done(list)."
        a_list, a_tuple = f"The handler returned a list of other values than texts. {how}", f"The handler returned a tuple. {how}"
        of_done = "The errors of Done must be a list of texts."
        cases = [([1, 2], a_list), (["a", 1], a_list), ([{"a": 1}], a_list), ([None], a_list), ([["a"]], a_list),
                 (("a", "b"), a_tuple), ((200, "sent"), a_tuple), ((), a_tuple),
                 (eventq.Done(7, errors=[1]), of_done), (eventq.Done(7, errors="text"), of_done), (eventq.Done(7, errors=None), of_done)]
        self.work(lambda event: cases[event.payload][0])
        for index, (_, message) in enumerate(cases):
            ended = CLIENT.wait(self.publish(index).id, ENOUGH)
            self.assertEqual((ended.status, ended["attempts"], ended["error_message"]), ("FAILED", 1, message))

    def test_what_a_handler_returns_is_the_result_of_its_event(self):
        returned = {"mapping": {"sent": True, "to": ["grün 🌱"]}, "text": "sent", "number": 2.5, "false": False,
                    "list": eventq.Done(["a", "b"])}
        self.work(lambda event: returned.get(event.payload))
        for name, value in returned.items():
            ended = CLIENT.wait(self.publish(name).id, ENOUGH)
            result = value.result if isinstance(value, eventq.Done) else value
            self.assertEqual((ended.status, ended.result), ("COMPLETED", result))
        self.assertIsNone(CLIENT.wait(self.publish("none").id, ENOUGH).result)

    def test_an_event_has_a_result_beside_its_errors(self):
        self.work(lambda event: eventq.Done({"rows": 7}, errors=["3 rows skipped"]))
        event = self.publish()
        ended = CLIENT.wait(event.id, ENOUGH)
        self.assertEqual((ended.status, ended.result), ("COMPLETED_WITH_ERRORS", {"rows": 7}))
        self.assertEqual(CLIENT.log(event.id)[-1]["errors"], ["3 rows skipped"])

    def test_a_result_that_the_server_would_refuse_fails_the_event_for_good(self):
        returned = {"most": "x" * 65534, "more": "x" * 65535, "set": {1}, "nan": float("nan"), "surrogate": "\ud800"}
        self.work(lambda event: returned[event.payload])
        ended = {name: CLIENT.wait(self.publish(name).id, ENOUGH) for name in returned}
        self.assertEqual({name: each.status for name, each in ended.items()},
                         {name: "COMPLETED" if name == "most" else "FAILED" for name in returned})
        self.assertEqual(ended["more"]["error_message"], "The result has 65537 bytes; at most 65536 are allowed.")
        self.assertIn("The result is not JSON: ", ended["set"]["error_message"])

    def test_a_result_that_is_nested_too_deep_fails_the_event_for_good(self):
        self.work(lambda event: eventq.Done(nested(event.payload)))
        for levels in (60, 61):
            ended = CLIENT.wait(self.publish(levels).id, ENOUGH)
            self.assertEqual((ended.status, ended.result), ("COMPLETED", nested(levels)))
        for levels in (62, 63, 400):
            ended = CLIENT.wait(self.publish(levels).id, ENOUGH)
            self.assertEqual((ended.status, ended["attempts"], ended["error_message"]),
                             ("FAILED", 1, f"The result is nested {levels} levels deep; at most 61 are allowed."))

    def test_brackets_in_a_text_are_no_levels_of_a_result(self):
        result = {"[{" * 100: ['\\"' + "[" * 100, '"\\', "{" * 100]}
        self.work(lambda event: result)
        ended = CLIENT.wait(self.publish().id, ENOUGH)
        self.assertEqual((ended.status, ended.result), ("COMPLETED", result))

    def test_a_hundred_large_results_are_all_stored(self):
        self.work(lambda event: "ü" * 32767, threads=100)
        batch = CLIENT.publish_batch([{"tags": self.tag} for _ in range(100)])
        done = CLIENT.wait_correlation(batch["correlation_id"], ENOUGH)
        self.assertEqual((done["completed"], {event["attempts"] for event in done["events"]}), (100, {1}))

    def test_a_failure_has_the_stack_trace_as_its_detail(self):
        def deliver():
            raise ValueError("no such mailbox")
        self.work(lambda event: deliver())
        with self.assertLogs("eventq", "WARNING") as logged:
            ended = CLIENT.wait(self.publish(max_retries=0).id, ENOUGH)
        self.assertEqual(ended["error_message"], "ValueError: no such mailbox")
        self.assertTrue(ended["error_detail"].startswith("Traceback (most recent call last):\n"))
        self.assertIn(", in deliver\n", ended["error_detail"])
        self.assertTrue(ended["error_detail"].endswith("ValueError: no such mailbox\n"))
        self.assertEqual([(each.levelname, each.getMessage()) for each in logged.records],
                         [("WARNING", f"Event {ended.id} ({self.tag}) failed: ValueError: no such mailbox")])

    def test_of_a_detail_that_is_too_long_the_end_is_kept(self):
        def handler(event):
            raise ValueError("ü" * event.payload + "END")
        self.work(handler)
        for count in (32000, 32760, 32761, 40000):
            detail = CLIENT.wait(self.publish(count, max_retries=0).id, ENOUGH)["error_detail"]
            self.assertTrue(detail.endswith("üüEND\n"))
            self.assertLessEqual(len(detail.encode()), 65536)
            self.assertGreaterEqual(len(detail.encode()), min(65535, 2 * count))

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

    def test_failures_with_one_cause_are_one_group(self):
        def handler(event):
            raise ValueError(f"no mailbox for {self.tag}")
        self.work(handler)
        for event in [self.publish(max_retries=0) for _ in range(2)]:
            CLIENT.wait(event.id, ENOUGH)
        groups = [group for group in CLIENT.failures() if self.tag in group["sample"]]
        self.assertEqual([group["events"] for group in groups], [2])

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

    def test_an_exception_without_a_message_is_reported_by_the_name_of_its_type(self):
        raised = [Exception(), KeyError(), ValueError(""), eventq.Permanent()]

        def handler(event):
            raise raised[event.payload]
        self.work(handler)
        ended = [CLIENT.wait(self.publish(index, max_retries=0).id, ENOUGH) for index in range(len(raised))]
        self.assertEqual([each["error_message"] for each in ended], ["Exception", "KeyError", "ValueError", "Permanent"])

    def test_later_refuses_a_negative_delay(self):
        for seconds in (-1, -0.001, float("-inf"), datetime.timedelta(seconds=-1)):
            with self.assertRaises(ValueError) as caught:
                eventq.Later(seconds)
            self.assertIn("must be 0 or more", str(caught.exception))
        self.assertEqual([eventq.Later(seconds).seconds for seconds in (0, 0.001)], [0, 0.001])

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
        worker = blocking.Worker(self.scripted(lambda path, body: (200, {"no": "events"})), self.tag, print)
        with self.assertLogs("eventq", "CRITICAL"), self.assertRaises(KeyError):
            worker.run()

    def test_run_raises_the_error_of_a_refused_claim(self):
        worker = blocking.Worker(CLIENT, "no blank", print)
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

    def test_reports_with_long_messages_are_sent_in_several_calls(self):
        def fail(event):
            raise ValueError("x" * 16384)
        self.check_size_of_calls(20, lambda event: ["x" * 16384] * 30)
        self.check_size_of_calls(200, fail)

    def check_size_of_calls(self, count, handle):
        """Checks that no call is much larger than 4 MiB when `count` reports are sent at once."""
        sizes, returned, all_reported = [], [], threading.Event()
        times = {"updated_at": "2025-01-01T00:00:00.000Z", "lease_until": "2025-01-01T00:01:00.000Z"}
        events = [{"id": number, "tags": self.tag, "attempt": 1, **times} for number in range(count)]
        waiting = set(range(count))

        def answer(path, body):
            sent = reports(body)
            if not sent:
                claimed, events[:] = events[:body.get("limit", 0)], events[body.get("limit", 0):]
                return 200, {"results": [], "events": claimed}
            if len(returned) < count:
                return 503, {}  # until the worker has all reports
            sizes.append(len(json.dumps(body)))
            waiting.difference_update(each["id"] for each in sent)
            if not waiting:
                all_reported.set()
            return 200, {"results": [{"status": 200} for _ in sent], "events": []}

        def handler(event):
            returned.append(event.id)
            return handle(event)
        self.work(handler, client=self.scripted(answer), threads=count, prefetch=0)
        self.assertTrue(all_reported.wait(ENOUGH))
        self.assertLess(max(sizes), 4.5 * 1024 * 1024)

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
            sent_reports = reports(body)
            if is_heartbeat(path, body) or sent_reports:
                calls.append("heartbeat" if is_heartbeat(path, body) else "completed" if "completed" in body else "released")
                (reported if sent_reports else kept).set()
                return 200, {"results": [{"status": 200} for _ in body.get("alive", sent_reports)], "events": []}
            time.sleep(1.1)  # longer than the lease
            return 200, {"results": [], "events": [] if kept.is_set() else [event]}
        worker = self.work(lambda event: kept.wait(ENOUGH), client=self.scripted(answer), threads=1, prefetch=0)
        self.assertTrue(reported.wait(ENOUGH))  # stop() before the handler began would release the event
        worker.stop()
        self.assertEqual(calls, ["heartbeat", "completed"])


class Stopping(WithWorker):
    def test_stop_waits_for_a_handler_and_releases_the_other_events(self):
        begun, may_return = threading.Event(), threading.Event()

        def handler(event):
            begun.set()
            may_return.wait(ENOUGH)
        worker = self.work(handler, threads=1, prefetch=3)
        running, *others = CLIENT.publish_batch([{"tags": self.tag} for _ in range(3)])["events"]
        self.assertTrue(begun.wait(ENOUGH))
        stopped = []
        stopper = threading.Thread(target=lambda: stopped.append(worker.stop()))
        stopper.start()
        claimed = {}
        while len(claimed) < 2:  # another worker claims them while the handler still runs
            for event in CLIENT.next(self.tag, worker_id="other", limit=2, wait=20).events:
                claimed[event.id] = event["retry_count"]
        self.assertEqual(claimed, {event.id: 0 for event in others})
        self.assertEqual(CLIENT.get(running.id).status, "PROCESSING")
        may_return.set()
        stopper.join()
        self.assertEqual(stopped, [True])
        self.assertEqual(CLIENT.get(running.id).status, "COMPLETED")

    def test_a_stopping_worker_signs_off_after_its_reports(self):
        calls = []

        def answer(path, body):
            if path.startswith("DELETE ") or reports(body):
                calls.append(path)
            return (204, {}) if path.startswith("DELETE ") else forwarded(path, body)
        client = self.scripted(answer)
        worker = self.work(lambda event: None, client=client)
        self.assertEqual(CLIENT.wait(self.publish().id, ENOUGH).status, "COMPLETED")
        worker.stop()
        self.assertEqual(calls, ["/events/next", "DELETE /workers/" + client.worker_id.replace(":", "%3A")])

    def test_the_server_shows_a_stopped_worker_as_gone(self):
        client = blocking.Client(CLIENT.url, worker_id=self.tag)
        self.addCleanup(client.close)
        worker = self.work(lambda event: None, client=client)
        self.assertEqual(CLIENT.wait(self.publish().id, ENOUGH).status, "COMPLETED")
        self.assertEqual({each["worker_id"]: each["state"] for each in CLIENT.workers()}[self.tag], "active")
        worker.stop()
        self.assertEqual(CLIENT.worker(self.tag)["state"], "gone")

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

    def test_a_lost_event_goes_to_no_further_handler_and_logs_no_failure(self):
        begun, ran, other = threading.Event(), [], self.tag + "-other"

        def first(event):
            ran.append(("first", event.attempt))
            if event.attempt == 1:
                begun.set()
                event.lost.wait(ENOUGH)
                raise ValueError("the first handler was interrupted")
        worker = self.work({self.tag: first, other: lambda event: ran.append(("second", event.attempt))})
        event = CLIENT.publish([self.tag, other])
        self.assertTrue(begun.wait(ENOUGH))
        with self.assertLogs("eventq", "WARNING") as logged:
            CLIENT.reset(event.id)
            self.assertEqual(CLIENT.wait(event.id, ENOUGH).status, "COMPLETED")
            self.assertTrue(worker.stop())
        self.assertEqual(ran, [("first", 1), ("first", 2), ("second", 2)])
        self.assertFalse([line for line in logged.output if "interrupted" in line])


if __name__ == "__main__":
    unittest.main()
