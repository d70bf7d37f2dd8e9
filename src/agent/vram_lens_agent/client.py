"""One connected client: what it sent, what still has to go to it. Never blocks."""

import collections

from vram_lens_agent import framing

QUEUE_BYTES = 1 << 20
"""Most bytes kept for a client that does not read; beyond that the oldest notifications go."""
_READ_BYTES = 1 << 16


class ClientGone(Exception):
    """The connection ended, or must end: the peer closed, broke the framing or never reads its answers."""


class Client:
    """Buffers around one non-blocking socket. ``hz`` is None until it subscribes."""

    def __init__(self, connection):
        connection.setblocking(False)
        self.connection = connection
        self.hz = None
        self.due = 0.0
        self.last_step = 0
        self.last_state = None
        self._reader = framing.FrameReader()
        self._partial = b""
        self._queue = collections.deque()
        self._queued_bytes = 0

    @property
    def waiting(self):
        """True while bytes wait for the peer to read."""
        return bool(self._partial or self._queue)

    def receive(self):
        """Message bodies that are complete now. Raises ClientGone."""
        try:
            data = self.connection.recv(_READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return []
        except OSError as error:
            raise ClientGone(str(error))
        if not data:
            raise ClientGone("closed")
        try:
            return self._reader.feed(data)
        except framing.BadFrame as error:
            raise ClientGone(str(error))

    def send(self, body, droppable):
        """Queue one message and send what the peer takes now. Raises ClientGone."""
        data = framing.frame(body)
        self._queue.append((data, droppable))
        self._queued_bytes += len(data)
        if self._queued_bytes > QUEUE_BYTES:
            self._shrink()
        self.flush()

    def _shrink(self):
        kept = collections.deque()
        excess = self._queued_bytes - QUEUE_BYTES // 2
        for data, droppable in self._queue:
            if droppable and excess > 0:
                excess -= len(data)
                self._queued_bytes -= len(data)
            else:
                kept.append((data, droppable))
        self._queue = kept
        if self._queued_bytes > QUEUE_BYTES:
            raise ClientGone("answers are not read")

    def flush(self):
        """Send until the peer's buffer is full. A message once begun is always completed. Raises ClientGone."""
        while self.waiting:
            if not self._partial:
                self._partial = self._queue.popleft()[0]
                self._queued_bytes -= len(self._partial)
            try:
                sent = self.connection.send(self._partial)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                raise ClientGone(str(error))
            self._partial = self._partial[sent:]

    def close(self):
        """Close the connection; safe to call twice."""
        try:
            self.connection.close()
        except OSError:
            pass
