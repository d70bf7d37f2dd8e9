"""What the agent's tests share: a script under the agent in a process of its own, and a client for its socket.

Importing this module makes ``vram_lens_agent`` importable for the tests of single modules.
"""

import glob
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
AGENT = os.path.join(os.path.dirname(os.path.dirname(HERE)), "src", "agent")
DRIVER = os.path.join(HERE, "scripts", "driver.py")
STUB_TORCH = os.path.join(HERE, "stub_torch")
PATIENCE_S = 60.0

if AGENT not in sys.path:
    sys.path.insert(0, AGENT)


def wait_for(condition, what):
    """The first true value of ``condition()``; fails after PATIENCE_S."""
    end = time.monotonic() + PATIENCE_S
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("never happened: " + what)
        time.sleep(0.02)


class Client:
    """A blocking JSON-RPC client of one socket."""

    def __init__(self, path):
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE_S)
        wait_for(lambda: self.connects(path), "a place in the queue of connections")
        self.file = self.socket.makefile("rb")
        self.notifications = []
        self.last_id = 0

    def connects(self, path):
        """False while the agent's queue of connections is full."""
        try:
            self.socket.connect(path)
            return True
        except BlockingIOError:
            return False
        except OSError:
            self.socket.close()
            raise

    def token(self):
        with open(self.path[: -len("sock")] + "token") as file:
            return file.read()

    def send_raw(self, data):
        self.socket.sendall(data)

    def send(self, method, params, request_id):
        body = json.dumps({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}).encode()
        self.send_raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def receive(self):
        """The next message, None at the end of the connection."""
        try:
            header = self.file.readline()
        except ConnectionError:
            return None
        if not header:
            return None
        length = int(header.split(b":")[1])
        self.file.readline()
        return json.loads(self.file.read(length).decode())

    def answer(self, request_id):
        """The answer to a request; notifications before it are kept."""
        while True:
            message = self.receive()
            if message is None:
                raise AssertionError("connection ended before the answer")
            if "method" in message:
                self.notifications.append(message)
            elif message["id"] == request_id:
                return message

    def ask(self, method, **params):
        """The result of a request; an error answer fails."""
        self.last_id += 1
        self.send(method, params, self.last_id)
        message = self.answer(self.last_id)
        if "error" in message:
            raise AssertionError(message["error"])
        return message["result"]

    def error(self, method, params):
        """The error code of a request that must fail."""
        self.last_id += 1
        self.send(method, params, self.last_id)
        return self.answer(self.last_id)["error"]["code"]

    def until(self, method, accept=lambda params: True):
        """The params of the next notification of a kind that ``accept`` takes."""
        while True:
            message = self.notifications.pop(0) if self.notifications else self.receive()
            if message is None:
                raise AssertionError("connection ended before " + method)
            if message.get("method") == method and accept(message["params"]):
                return message["params"]

    def ended(self):
        """True when the agent closed this connection (reads what is left)."""
        while self.receive() is not None:
            pass
        return True

    def close(self):
        self.file.close()
        self.socket.close()


class AgentTest(unittest.TestCase):
    """A temporary folder for sockets and scripts, and processes that never outlive the test."""

    python = sys.executable

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="vl-", dir="/tmp")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.sockets = os.path.join(self.folder, "vram-lens")

    def environment(self, **changes):
        """The environment of a script: ours, the agent on PYTHONPATH, sockets in this test's folder."""
        environment = dict(os.environ, XDG_RUNTIME_DIR=self.folder, PYTHONPATH=AGENT, PYTHONDONTWRITEBYTECODE="1")
        for name in ("VRAM_LENS", "RANK", "WORLD_SIZE", "TORCH_DEVICE_BACKEND_AUTOLOAD"):
            environment.pop(name, None)
        environment.update(changes)
        return {name: value for name, value in environment.items() if value is not None}

    def start(self, *command, **options):
        """Start a Python with the agent; killed at the end of the test when still running."""
        environment = self.environment(**options.pop("environment", {}))
        process = subprocess.Popen(
            [self.python] + list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=options.pop("cwd", self.folder),
            env=environment,
            universal_newlines=True,
            **options
        )

        def end():
            if process.poll() is None:
                process.kill()
            process.communicate()

        self.addCleanup(end)
        return process

    def write(self, name, text):
        """A file in the test's folder; its path."""
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def run_clean(self, *command, **options):
        """Run to the end; exit code 0 and nothing on standard error. Returns standard output."""
        process = self.start(*command, **options)
        output, errors = process.communicate(timeout=PATIENCE_S * 3)
        self.assertEqual((process.returncode, errors), (0, ""), output)
        return output

    def files(self):
        """Names in the sockets' folder, sorted."""
        return sorted(os.listdir(self.sockets)) if os.path.isdir(self.sockets) else []

    def wait_for_socket(self, pid=None):
        """Path of the one socket (of one process)."""
        pattern = os.path.join(self.sockets, "*-{}-*.sock".format(pid or "*"))
        return wait_for(lambda: glob.glob(pattern), "a socket")[0]

    def connect(self, pid=None):
        """A client of the running session."""
        client = Client(self.wait_for_socket(pid))
        self.addCleanup(client.close)
        return client

    def driver(self, *arguments, **options):
        """A script that does what the test says, line by line."""
        return Driver(self, self.start(*(arguments or (DRIVER,)), **options))


class Driver:
    """Runs single lines in the process of scripts/driver.py, with torch and the fake card."""

    def __init__(self, test, process):
        self.test = test
        self.process = process
        self.pid = process.pid

    def do(self, line):
        """Run one line there; what its last expression printed, when it has finished."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        limit = threading.Timer(PATIENCE_S, self.process.kill)
        limit.start()
        answer = self.process.stdout.readline()
        limit.cancel()
        if not answer:
            raise AssertionError("the script ended: " + self.process.stderr.read())
        return json.loads(answer)

    def finish(self):
        """End of input: the script must leave with code 0, silently."""
        self.process.stdin.close()
        self.process.stdin = None
        output, errors = self.process.communicate(timeout=PATIENCE_S)
        self.test.assertEqual((self.process.returncode, output, errors), (0, "", ""))
