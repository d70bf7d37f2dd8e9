"""The loop: one thread, one selector, all clients. Knows sockets and messages, nothing of torch."""

import selectors
import socket
import time

from vram_lens_agent import protocol
from vram_lens_agent.client import Client, ClientGone

CLIENT_LIMIT = 32
_ACCEPT_PAUSE_S = 1.0
_RETRY_S = 1.0


class Server:
    """Serves ``published`` until ``stop``. ``session`` answers requests (``answer(client, id, method, params)``: a
    result, or ``Server.LATER``) and is asked to ``tick()``, which returns seconds until the next one or None."""

    LATER = object()

    def __init__(self, published, session):
        self._published = published
        self._session = session
        self._selector = selectors.DefaultSelector()
        self._wake_receiver, self._wake_sender = socket.socketpair()
        self._wake_receiver.setblocking(False)
        self._wake_sender.setblocking(False)
        self._stopping = False
        self._accept_again = None
        self.clients = set()

    def stop(self):
        """Ask the loop to end. From any thread."""
        self._stopping = True
        self.wake()

    def wake(self):
        """Make the loop tick soon. From any thread; never blocks."""
        try:
            self._wake_sender.send(b"!")
        except OSError:
            pass

    def run(self):
        """Serve until stopped; always leaves every socket closed and our files removed."""
        try:
            self._selector.register(self._published.listener, selectors.EVENT_READ)
            self._selector.register(self._wake_receiver, selectors.EVENT_READ)
            while not self._stopping:
                self._turn(self._tick())
            self._session.end()
        finally:
            self.close()

    def close(self):
        """Close all sockets (in a forked child: its copies; the parent's selector is left alone)."""
        self._published.remove()
        for client in list(self.clients):
            client.close()
        self.clients.clear()
        self._selector.close()
        self._wake_receiver.close()
        self._wake_sender.close()

    def send(self, client, body, droppable):
        """Queue a message for a client; a client that cannot take it is dropped, never waited for."""
        try:
            client.send(body, droppable)
            self._watch(client)
        except (ClientGone, OSError, ValueError, KeyError):
            self._drop(client)

    def _tick(self):
        try:
            return self._session.tick()
        except Exception:
            # One bad moment must not cost the rest of a long training its agent.
            return _RETRY_S

    def _turn(self, timeout):
        now = time.monotonic()
        if self._accept_again is not None:
            if now >= self._accept_again:
                self._accept_again = None
                self._selector.register(self._published.listener, selectors.EVENT_READ)
            else:
                pause = self._accept_again - now
                timeout = pause if timeout is None else min(timeout, pause)
        for key, events in self._selector.select(timeout):
            if key.fileobj is self._published.listener:
                self._accept()
            elif key.fileobj is self._wake_receiver:
                self._wake_receiver.recv(4096)
            else:
                self._serve(key.data, events)

    def _accept(self):
        try:
            connection = self._published.listener.accept()[0]
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError:
            # Out of file descriptors: the listener stays readable, so look away for a moment instead of spinning.
            self._selector.unregister(self._published.listener)
            self._accept_again = time.monotonic() + _ACCEPT_PAUSE_S
            return
        if len(self.clients) >= CLIENT_LIMIT:
            connection.close()
            return
        client = Client(connection)
        self.clients.add(client)
        self._selector.register(connection, selectors.EVENT_READ, client)

    def _serve(self, client, events):
        try:
            if events & selectors.EVENT_WRITE:
                client.flush()
            if events & selectors.EVENT_READ:
                for body in client.receive():
                    self._handle(client, body)
            if client in self.clients:
                self._watch(client)
        except Exception:
            self._drop(client)

    def _handle(self, client, body):
        request_id = None
        try:
            request = protocol.parse(body)
            if request is None:
                return
            request_id, method, params = request
            result = self._session.answer(client, request_id, method, params)
            if result is not Server.LATER:
                client.send(protocol.response(request_id, result), False)
        except ClientGone:
            raise
        except protocol.RpcError as error:
            error.request_id = request_id if request_id is not None else error.request_id
            client.send(protocol.error_response(error), False)
        except Exception:
            error = protocol.RpcError(protocol.INTERNAL_ERROR, "the agent could not answer", request_id)
            client.send(protocol.error_response(error), False)

    def _watch(self, client):
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if client.waiting else 0)
        if self._selector.get_key(client.connection).events != events:
            self._selector.modify(client.connection, events, client)

    def _drop(self, client):
        self.clients.discard(client)
        try:
            self._selector.unregister(client.connection)
        except (KeyError, ValueError, OSError):
            pass
        client.close()
