"""A TCP proxy on loopback that cuts and stalls connections."""

import asyncio
import contextlib


class Proxy:
    """Listens on a port of its own in front of another one."""

    def __init__(self, port: int, target: int):
        self.port, self.target = port, target
        self.server, self.writers = None, set()
        self.moves = asyncio.Event()
        self.moves.set()
        self.tasks = set()
        # Whether the target is there, and whether the way to it is cut.
        self.has_target = self.is_cut = False

    async def open(self) -> None:
        """The target is there: accepts connections, unless the way to it is cut."""
        self.has_target = True
        await self.listen()

    def cut(self) -> None:
        """The target is gone: aborts all connections. New ones are refused."""
        self.has_target = False
        self.refuse()

    def drain(self) -> None:
        """The target takes no new connections. Those that are open go on."""
        if self.server is not None:
            self.server.close()
            self.server = None

    def part(self, stalls: bool) -> None:
        """Cuts the way: all connections are aborted and new ones refused, or, if it stalls, nothing moves and nothing is closed."""
        if stalls:
            self.moves.clear()
        else:
            self.is_cut = True
            self.refuse()

    async def heal(self) -> None:
        self.is_cut = False
        self.moves.set()
        if self.has_target:
            await self.listen()

    async def listen(self) -> None:
        if self.server is None and not self.is_cut:
            self.server = await asyncio.start_server(self.accept, "127.0.0.1", self.port)

    def refuse(self) -> None:
        self.drain()
        for writer in list(self.writers):
            writer.transport.abort()

    def accept(self, reader, writer) -> None:
        task = asyncio.create_task(self.serve(reader, writer))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def serve(self, reader, writer) -> None:
        self.writers.add(writer)
        onward = None
        try:
            await self.moves.wait()
            there, onward = await asyncio.open_connection("127.0.0.1", self.target)
            self.writers.add(onward)
            if self.has_target and not self.is_cut:
                await asyncio.gather(self.pump(reader, onward), self.pump(there, writer))
        except OSError:
            pass
        finally:
            for one in (writer, onward):
                if one is not None:
                    self.writers.discard(one)
                    one.transport.abort()

    async def pump(self, reader, writer) -> None:
        while data := await reader.read(1 << 16):
            await self.moves.wait()
            writer.write(data)
            await writer.drain()
        # The other direction may go on.
        with contextlib.suppress(OSError, RuntimeError):
            writer.write_eof()
