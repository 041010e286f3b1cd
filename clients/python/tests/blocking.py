"""blocking.py: the clients and workers that the tests of this folder run with.

EVENTQ_CLIENT=aio makes it eventq.aio behind the calls of the threaded client: an event loop in a thread of its own runs
each call, and handlers run in threads. So the same tests show that both behave alike.
"""
import asyncio
import concurrent.futures
import inspect
import os
import threading

import eventq
import eventq.aio


class _Loop:
    """An event loop in a thread of its own."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.threads = concurrent.futures.ThreadPoolExecutor(64)  # for handlers
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def start(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)

    def run(self, coroutine):
        return self.start(coroutine).result()


class AioClient:
    def __init__(self, *arguments, **options):
        self.inner = eventq.aio.Client(*arguments, **options)

    def __getattr__(self, name):
        method = getattr(self.inner, name)
        if not callable(method):
            return method

        def call(*arguments, **options):
            returned = method(*arguments, **options)
            if inspect.isasyncgen(returned):
                return AioStream(returned)
            return _LOOP.run(returned) if inspect.isawaitable(returned) else returned
        return call

    def close(self):
        _LOOP.loop.call_soon_threadsafe(self.inner.close)


class AioStream:
    def __init__(self, generator):
        self.generator, self.closed, self.task = generator, False, None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __iter__(self):
        while not self.closed:
            try:
                yield _LOOP.run(self.pull())
            except (StopAsyncIteration, concurrent.futures.CancelledError):
                return

    async def pull(self):
        self.task = asyncio.current_task()
        return await self.generator.__anext__()

    async def end(self):
        if self.task is not None and not self.task.done():
            self.task.cancel()
            await asyncio.wait([self.task])
        await self.generator.aclose()
        await asyncio.sleep(0)  # the loop closes the socket in its next round

    def close(self):
        """Returns when the connection is closed, so that the server pushes nothing more to it."""
        self.closed = True
        _LOOP.run(self.end())


class AioWorker:
    def __init__(self, client, tags, handler=None, *, threads=4, **options):
        if isinstance(tags, dict):
            tags = {tag: self.in_thread(each) for tag, each in tags.items()}
        self.inner = eventq.aio.Worker(client.inner, tags, handler and self.in_thread(handler), concurrency=threads, **options)

    @staticmethod
    def in_thread(handler):
        async def handle(event):
            async def pass_on():
                await event.lost.wait()
                copy.lost.set()
            copy = eventq.Event(event)
            passing = asyncio.ensure_future(pass_on())
            try:
                return await asyncio.get_running_loop().run_in_executor(_LOOP.threads, handler, copy)
            finally:
                if not event.lost.is_set():
                    passing.cancel()
        return handle

    def start(self):
        async def start():
            self.inner.start()
        _LOOP.run(start())

    def stop(self):
        return _LOOP.run(self.inner.stop())

    def run(self):
        return asyncio.run(self.inner.run())


if os.environ.get("EVENTQ_CLIENT") == "aio":
    _LOOP = _Loop()
    Client, Worker = AioClient, AioWorker
else:
    Client, Worker = eventq.Client, eventq.Worker
