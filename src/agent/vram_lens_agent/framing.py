"""Content-Length framing, as the Language Server Protocol has it."""

MESSAGE_LIMIT = 1 << 20
"""Longest message body taken, in bytes; a longer one ends the connection."""
HEADER_LIMIT = 4096


class BadFrame(Exception):
    """The peer does not speak our framing: nothing after this can be trusted."""


def frame(body):
    """One message ready to send: header and body (bytes)."""
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def _content_length(header):
    length = None
    for line in header.split(b"\r\n"):
        name, colon, value = line.partition(b":")
        if not colon:
            raise BadFrame("header line without a colon")
        if name.strip().lower() == b"content-length":
            digits = value.strip()
            if not digits.isdigit() or len(digits) > 7:
                raise BadFrame("bad Content-Length")
            length = int(digits)
    if length is None:
        raise BadFrame("no Content-Length")
    if length > MESSAGE_LIMIT:
        raise BadFrame("message too long")
    return length


class FrameReader:
    """Cuts a stream of bytes into message bodies."""

    def __init__(self):
        self._buffer = bytearray()
        self._length = None

    def feed(self, data):
        """Add received bytes; returns the bodies that are now complete. Raises BadFrame."""
        self._buffer += data
        bodies = []
        while True:
            if self._length is None:
                end = self._buffer.find(b"\r\n\r\n", 0, HEADER_LIMIT + 4)
                if end < 0:
                    if len(self._buffer) > HEADER_LIMIT:
                        raise BadFrame("header too long")
                    return bodies
                self._length = _content_length(bytes(self._buffer[:end]))
                del self._buffer[: end + 4]
            if len(self._buffer) < self._length:
                return bodies
            bodies.append(bytes(self._buffer[: self._length]))
            del self._buffer[: self._length]
            self._length = None
