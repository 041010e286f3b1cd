"""_connection.py: HTTP/1.1 over one connection of asyncio, one request at a time.

It is a protocol and not a pair of streams, because a stream drops an answer that arrived before the connection broke. The
server may answer and close before it has read the whole request.
"""
from __future__ import annotations

import asyncio
from typing import AsyncIterator, Dict, NamedTuple, Optional, cast

from .._wire import Request


class Head(NamedTuple):
    """The status and headers of an answer. The names of headers are in lower case."""

    status: int
    headers: Dict[str, str]


class Connection(asyncio.Protocol):
    """An open connection. Errors: OSError when it breaks, or when the peer does not speak HTTP."""

    def __init__(self, host: str) -> None:
        self.loop = asyncio.get_running_loop()
        self.is_reusable = True  # no answer said that the connection ends
        self._host = host
        self._transport: Optional[asyncio.Transport] = None
        self._buffer = bytearray()
        self._ended = False
        self._arrived: Optional[asyncio.Future[None]] = None

    # Called by asyncio.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._wake()

    def connection_lost(self, exc: Optional[Exception]) -> None:
        self._ended, self.is_reusable = True, False
        self._wake()

    # Called by the client.

    def close(self) -> None:
        """Closes the connection at once. A closed event loop has already dropped it."""
        self.is_reusable = False
        if self._transport is not None and not self.loop.is_closed():
            self._transport.abort()

    def send(self, request: Request) -> None:
        """Sends a request. A failure to send it shows when the answer is read."""
        assert self._transport is not None
        headers = {"Host": self._host, **request.headers}
        if request.data is not None or request.method != "GET":
            headers["Content-Length"] = str(len(request.data or b""))
        lines = [f"{request.method} {request.target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        self._transport.write("\r\n".join([*lines, "", ""]).encode("latin-1") + (request.data or b""))

    async def head(self) -> Head:
        """Reads the head of the answer."""
        text = (await self._until(b"\r\n\r\n")).decode("latin-1")
        first, *lines = text.split("\r\n")
        version, _, rest = first.partition(" ")
        if not version.startswith("HTTP/1.") or not rest[:3].isdigit():
            raise ConnectionError(f"The answer {first[:80]!r} is not HTTP.")
        pairs = (line.partition(":") for line in lines)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        if version == "HTTP/1.0" or headers.get("connection", "").lower() == "close":
            self.is_reusable = False
        return Head(int(rest[:3]), headers)

    async def body(self, head: Head) -> AsyncIterator[bytes]:
        """Reads the body of the answer, in parts as they arrive."""
        if head.status == 204:
            return
        if head.headers.get("transfer-encoding", "").lower() == "chunked":
            while size := self._number(await self._until(b"\r\n"), 16):
                yield await self._exactly(size)
                await self._until(b"\r\n")
            while await self._until(b"\r\n"):
                pass  # trailers
        elif "content-length" in head.headers:
            yield await self._exactly(self._number(head.headers["content-length"].encode(), 10))
        else:
            self.is_reusable = False
            while self._buffer or not self._ended:
                yield await self._exactly(len(self._buffer))
                if not self._ended:
                    await self._more()

    @staticmethod
    def _number(text: bytes, base: int) -> int:
        try:
            return int(text.split(b";")[0], base)
        except ValueError as error:
            raise ConnectionError(f"The length {text[:80]!r} in the answer is not a number.") from error

    async def _until(self, end: bytes) -> bytes:
        """Takes the bytes before `end`, and drops `end`."""
        searched = 0
        while (found := self._buffer.find(end, searched)) < 0:
            searched = max(0, len(self._buffer) - len(end))
            await self._more()
        taken = bytes(self._buffer[:found])
        del self._buffer[:found + len(end)]
        return taken

    async def _exactly(self, count: int) -> bytes:
        while len(self._buffer) < count:
            await self._more()
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken

    async def _more(self) -> None:
        """Waits until more bytes arrive, or the connection ends."""
        if self._ended:
            raise ConnectionError("The server closed the connection without an answer.")
        self._arrived = self.loop.create_future()
        await self._arrived

    def _wake(self) -> None:
        if self._arrived is not None and not self._arrived.done():
            self._arrived.set_result(None)
