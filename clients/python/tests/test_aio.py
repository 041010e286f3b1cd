"""test_aio.py: what only eventq.aio has: coroutines as handlers, flags of asyncio, and one event loop.

EVENTQ_URL names the server. The other tests of this folder run with eventq.aio, too.
"""
import asyncio
import inspect
import os
import time
import unittest
import uuid

import eventq
from eventq import aio

URL = os.environ["EVENTQ_URL"]
AT_ONCE = {"kind": "fixed", "baseMs": 0, "capMs": 0, "jitter": 0}
ENOUGH = 60.0  # seconds; time limit for steps that take milliseconds on an idle machine


class Aio(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.tag = uuid.uuid4().hex
        self.client = aio.Client(URL)
        self.addCleanup(self.client.close)

    def work(self, handlers, **options):
        handlers = handlers if isinstance(handlers, dict) else {self.tag: handlers}
        worker = aio.Worker(self.client, handlers, **{"stop_within": ENOUGH, **options})
        worker.start()
        self.addAsyncCleanup(worker.stop)
        return worker

    async def publish(self, payload=None):
        return await self.client.publish(self.tag, payload, retry=AT_ONCE)

    async def test_a_hundred_handlers_wait_for_each_other_in_one_thread(self):
        waiting, all_here = [], asyncio.Event()

        async def handler(event):
            waiting.append(event.id)
            if len(waiting) == 100:
                all_here.set()
            await all_here.wait()
        self.work(handler, concurrency=100)
        batch = await self.client.publish_batch([{"tags": self.tag} for _ in range(100)])
        done = await self.client.wait_correlation(batch["correlation_id"], ENOUGH)
        self.assertEqual((done["completed"], len(waiting)), (100, 100))

    async def test_a_handler_that_waits_sees_its_lost_lease(self):
        begun, lost = asyncio.Event(), asyncio.Event()

        async def handler(event):
            if event.attempt == 1:
                begun.set()
                await event.lost.wait()
                lost.set()
        self.work(handler)
        event = await self.publish()
        await asyncio.wait_for(begun.wait(), ENOUGH)
        await self.client.reset(event.id)
        await asyncio.wait_for(lost.wait(), ENOUGH)
        self.assertEqual((await self.client.wait(event.id, ENOUGH)).status, "COMPLETED")

    async def test_stop_cancels_a_handler_that_does_not_return_and_releases_its_event(self):
        begun, cancelled = asyncio.Event(), asyncio.Event()

        async def handler(event):
            begun.set()
            try:
                await asyncio.sleep(ENOUGH)
            except asyncio.CancelledError:
                cancelled.set()
                raise
        worker = self.work(handler, stop_within=0.1)
        event = await self.publish()
        await asyncio.wait_for(begun.wait(), ENOUGH)
        self.assertFalse(await worker.stop())
        self.assertTrue(cancelled.is_set())
        self.assertEqual((await self.client.get(event.id)).status, "PENDING")

    async def test_a_cancelled_handler_is_the_last_one_that_runs_for_its_event(self):
        begun, ran = asyncio.get_running_loop().create_future(), []

        async def first(event):
            ran.append("first")
            begun.set_result(asyncio.current_task())
            await asyncio.sleep(ENOUGH)

        async def second(event):
            ran.append("second")
        other = uuid.uuid4().hex
        worker = self.work({self.tag: first, other: second}, stop_within=0.1)
        event = await self.client.publish([self.tag, other])
        task = await asyncio.wait_for(begun, ENOUGH)
        with self.assertNoLogs("eventq", "WARNING"):
            self.assertFalse(await worker.stop())
            await asyncio.wait([task], timeout=ENOUGH)
        self.assertEqual((ran, (await self.client.get(event.id)).status), (["first"], "PENDING"))

    async def test_a_handler_that_raises_cancelled_error_by_itself_fails_its_event(self):
        async def handler(event):
            inner = asyncio.ensure_future(asyncio.sleep(ENOUGH))
            inner.cancel()
            await inner
        self.work(handler)
        event = await self.client.publish(self.tag, max_retries=0)
        ended = await self.client.wait(event.id, ENOUGH)
        self.assertEqual((ended.status, ended["error_message"]), ("FAILED", "CancelledError"))

    async def test_an_event_fails_with_a_clear_message_if_its_handler_is_no_coroutine_function(self):
        self.work(lambda event: None)
        event = await self.client.publish(self.tag, max_retries=0)
        ended = await self.client.wait(event.id, ENOUGH)
        self.assertIn("must be a coroutine function", ended["error_message"])

    async def test_a_cancelled_call_does_not_leave_its_answer_to_the_next_one(self):
        call = asyncio.ensure_future(self.client.next(self.tag, wait=20))
        await self.client.get((await self.publish()).id)  # the call above has been sent
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        event = await self.publish("second")
        self.assertEqual((await self.client.get(event.id)).payload, "second")

    async def test_a_client_serves_one_event_loop_after_another(self):
        event = await self.publish("first")
        in_another_loop = await asyncio.get_running_loop().run_in_executor(
            None, lambda: asyncio.run(self.client.get(event.id)))
        self.assertEqual(in_another_loop.payload, "first")

    async def test_a_payload_larger_than_a_buffer_of_the_stream_arrives_whole(self):
        event = await self.publish("ü" * 200_000)
        stream = self.client.stream(self.tag, worker_id=self.tag)
        received = await asyncio.wait_for(stream.__anext__(), ENOUGH)
        await stream.aclose()
        self.assertEqual((received.id, received.payload), (event.id, "ü" * 200_000))

    async def test_a_call_ends_at_its_time_limit(self):
        async def silent(reader, writer):
            await reader.read()
            writer.close()
        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        client = aio.Client(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", timeout=0.1, tries=1)
        started = time.monotonic()
        with self.assertRaises(eventq.UnknownOutcome):
            await client.publish(self.tag)
        self.assertLess(time.monotonic() - started, ENOUGH)
        client.close()
        server.close()


class Packaging(unittest.TestCase):
    def public(self, owner):
        return {name: value for name, value in vars(owner).items()
                if not name.startswith("_") and (callable(value) or isinstance(value, property))}

    def test_both_clients_and_both_workers_have_the_same_methods_and_arguments(self):
        for one, other in ((eventq.Client, aio.Client), (eventq.Worker, aio.Worker)):
            self.assertEqual(set(self.public(one)), set(self.public(other)))
            for name, method in self.public(one).items():
                self.assertEqual(list(inspect.signature(method).parameters.values()),
                                 list(inspect.signature(getattr(other, name)).parameters.values()), name)
                if one is eventq.Client and name not in ("close", "stream"):
                    self.assertEqual(inspect.getdoc(method), inspect.getdoc(getattr(other, name)), name)

    def test_everything_public_has_a_docstring(self):
        classes = [value for module in (eventq, aio) for value in vars(module).values() if inspect.isclass(value)]
        self.assertGreater(len(classes), 15)
        for each in classes:
            self.assertTrue(each.__doc__, each)
            for name, member in self.public(each).items():
                self.assertTrue(inspect.getdoc(member), f"{each.__name__}.{name}")


if __name__ == "__main__":
    unittest.main()
