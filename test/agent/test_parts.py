"""The agent's parts one by one: framing, names, step counting, lifecycle, the folder, the wall."""

import os
import signal
import socket
import subprocess
import sys
import unittest
from unittest import mock

import support

from vram_lens_agent import framing, guard, identity, lifecycle, protocol, socket_folder, stats
from vram_lens_agent.client import QUEUE_BYTES, Client, ClientGone
from vram_lens_agent.steps import StepCounter


class FramingTest(unittest.TestCase):
    def test_any_cut_gives_the_same_messages(self):
        bodies = [b"{}", b"", b"\r\n\r\n", b"x" * 3000]
        stream = b"".join(framing.frame(body) for body in bodies)
        for size in (1, 2, 7, len(stream)):
            reader, seen = framing.FrameReader(), []
            for start in range(0, len(stream), size):
                seen += reader.feed(stream[start : start + size])
            self.assertEqual(seen, bodies)

    def test_other_headers_are_allowed(self):
        reader = framing.FrameReader()
        self.assertEqual(reader.feed(b"content-length:2\r\nContent-Type: x; charset=utf-8\r\n\r\n{}"), [b"{}"])

    def test_what_is_refused(self):
        for data in (
            b"Content-Length: -1\r\n\r\n",
            b"Content-Length: 1e3\r\n\r\n",
            b"Content-Length: %d\r\n\r\n" % (framing.MESSAGE_LIMIT + 1),
            b"Content-Length: " + b"9" * 100 + b"\r\n\r\n",
            b"Content-Type: x\r\n\r\n",
            b"nonsense\r\n\r\n",
            b"a" * (framing.HEADER_LIMIT + 1),
        ):
            with self.assertRaises(framing.BadFrame, msg=data[:40]):
                framing.FrameReader().feed(data)


class ScriptTest(unittest.TestCase):
    def test_command_lines(self):
        for words, expected in (
            (["python", "train.py", "-m", "x"], "train.py"),
            (["python", "-u", "-W", "ignore", "-X", "dev", "dir/train.py"], "dir/train.py"),
            (["python", "-Wignore", "-Xdev", "train.py"], "train.py"),
            (["python", "--check-hash-based-pycs", "never", "train.py"], "train.py"),
            (["python", "-m", "pkg.train", "--lr", "1"], "-m pkg.train"),
            (["python", "-um", "pkg.train"], "-m pkg.train"),
            (["python", "-mpkg.train"], "-m pkg.train"),
            (["python", "-c", "print(1)", "train.py"], "-c"),
            (["python", "-Ic", "print(1)"], "-c"),
            (["python", "-"], "-"),
            (["python", "/x/debugpy/adapter/../../debugpy", "--connect", "1", "train.py"], "argv0.py"),
            (["python", "-m", "debugpy", "--listen", "1", "train.py"], "argv0.py"),
            (["python", "-m", "ipykernel_launcher", "-f", "k.json"], "-m ipykernel_launcher"),
            ([], "argv0.py"),
        ):
            self.assertEqual(identity.script_of(words, "argv0.py"), expected, words)

    def test_start_time_is_the_process_start(self):
        child = subprocess.run(
            [sys.executable, "-c",
             "import sys, time; sys.path.insert(0, %r); t = time.time()\n"
             "from vram_lens_agent import identity; time.sleep(1.5)\n"
             "print(abs(identity.start_time_ms() / 1000 - t) < 1.4)" % support.AGENT],
            stdout=subprocess.PIPE, universal_newlines=True,
        )
        self.assertEqual(child.stdout, "True\n")

    def test_start_survives_odd_command_names(self):
        with mock.patch.object(identity, "_read", lambda path: "7 (a) b (c)) S " + " ".join(map(str, range(4, 52)))):
            self.assertEqual(identity.process_start(), "22")


class Optimizer:
    pass


class StepsTest(unittest.TestCase):
    def count(self, names, repeat):
        counter, optimizers = StepCounter(), {}
        for name in names * repeat:
            counter.optimizer_ended(optimizers.setdefault(name, Optimizer()))
        return counter.step

    def test_one_optimizer(self):
        self.assertEqual(self.count("a", 50), 50)

    def test_two_by_turns(self):
        self.assertEqual(self.count("dg", 50), 50)

    def test_one_per_parameter(self):
        self.assertEqual(self.count([chr(65 + n) for n in range(60)], 30), 30)

    def test_the_rarest_counts_once_learnt(self):
        # Until the generator comes for the second time the critic's 5 + 5 steps count, then 98 rounds.
        self.assertEqual(self.count("dddddg", 100), 10 + 98)

    def test_a_new_optimizer_takes_over_from_one_that_is_gone(self):
        counter = StepCounter()
        for _ in range(5):
            optimizer = Optimizer()
            for _ in range(20):
                counter.optimizer_ended(optimizer)
        self.assertGreaterEqual(counter.step, 96)
        self.assertLessEqual(counter.step, 100)

    def test_one_optimizer_seen_once_changes_nothing(self):
        counter, main = StepCounter(), Optimizer()
        for number in range(40):
            counter.optimizer_ended(main)
            if number == 10:
                counter.optimizer_ended(Optimizer())
        self.assertEqual(counter.step, 40)

    def test_memory_is_bounded(self):
        counter = StepCounter()
        for _ in range(20000):
            counter.optimizer_ended(Optimizer())
        self.assertLess(len(counter._known), 5000)

    def test_step_time_is_the_median(self):
        counter, optimizer = StepCounter(), Optimizer()
        clock = [100.0]
        with mock.patch("vram_lens_agent.steps.time.monotonic", lambda: clock[0]):
            self.assertEqual(counter.step_time_s(), 0.0)
            for pause in [0.5] * 20 + [60.0] + [0.5] * 5:
                counter.optimizer_ended(optimizer)
                clock[0] += pause
            self.assertEqual(counter.step_time_s(), 0.5)
            self.assertEqual(counter.since_last_s(), 0.5)


class LifecycleTest(unittest.TestCase):
    def test_states(self):
        state = lifecycle.state
        self.assertEqual(state("started", 0, 0, 0, 0, 0), "started")
        self.assertEqual(state("started", 0, 0, 0, None, None), "started")
        self.assertEqual(state("started", 0, 0, 0, 1, 2), "modelOnGpu")
        self.assertEqual(state("modelOnGpu", 0, 0, 0, 0, 2), "modelOnGpu")
        self.assertEqual(state("modelOnGpu", 1, 0.1, 0, 1, 2), "training")
        self.assertEqual(state("training", 9, 10.0, 0.1, 1, 2), "training")
        self.assertEqual(state("training", 9, 10.1, 0.1, 1, 2), "idle")
        self.assertEqual(state("training", 9, 19.9, 2.0, 1, 2), "training")
        self.assertEqual(state("training", 9, 20.1, 2.0, 1, 2), "idle")
        self.assertEqual(state("training", 9, 20.1, 2.0, 0, 0), "training")
        self.assertEqual(state("idle", 10, 0.1, 2.0, 1, 2), "training")


class StatsTest(unittest.TestCase):
    def test_keys_that_old_torch_lacks(self):
        one = {"all": {"current": 7, "peak": 9}}
        sample = stats.sample({"allocated_bytes": one, "reserved_bytes": one, "active_bytes": one}, 2, 5)
        self.assertIsNone(sample["requestedBytes"])
        self.assertEqual((sample["strandedBytes"], sample["releasableBytes"], sample["retries"]), (0, 0, 0))
        self.assertEqual((sample["device"], sample["timeMs"], sample["peakUsedBytes"]), (2, 5, 9))


class FolderTest(support.AgentTest):
    def setUp(self):
        super().setUp()
        patch = mock.patch.dict(os.environ, XDG_RUNTIME_DIR=self.folder)
        patch.start()
        self.addCleanup(patch.stop)

    def test_publish_and_remove(self):
        published = socket_folder.PublishedSocket()
        self.assertEqual(self.files(), [])
        published.publish()
        self.assertEqual(self.files(), [socket_folder.base_name() + ".sock", socket_folder.base_name() + ".token"])
        self.assertLessEqual(len(published.path.encode()), 100)
        published.remove()
        self.assertEqual(self.files(), [])

    def test_name_says_host_boot_namespace_pid_start(self):
        self.assertRegex(
            socket_folder.base_name(), r"^[0-9a-f]{8}-[0-9a-f]{8}-\d+-%d-\d+$" % os.getpid()
        )

    def test_foreign_link_is_refused(self):
        elsewhere = os.path.join(self.folder, "elsewhere")
        os.mkdir(elsewhere)
        os.symlink(elsewhere, self.sockets)
        with self.assertRaises(socket_folder.FolderRefused):
            socket_folder.PublishedSocket().publish()
        self.assertEqual(os.listdir(elsewhere), [])

    def test_a_file_in_the_way_is_refused(self):
        self.write("vram-lens", "")
        with self.assertRaises(socket_folder.FolderRefused):
            socket_folder.PublishedSocket().publish()

    @unittest.skipUnless(os.getuid() == 0, "only root can give a folder away")
    def test_somebody_elses_folder_is_refused(self):
        os.mkdir(self.sockets, 0o700)
        os.chown(self.sockets, 12345, 12345)
        with self.assertRaises(socket_folder.FolderRefused):
            socket_folder.PublishedSocket().publish()

    def test_an_open_folder_of_ours_is_closed(self):
        os.mkdir(self.sockets)
        os.chmod(self.sockets, 0o777)
        published = socket_folder.PublishedSocket()
        published.publish()
        published.remove()
        self.assertEqual(os.stat(self.sockets).st_mode & 0o777, 0o700)

    def test_long_path_goes_to_tmp(self):
        deep = os.path.join(self.folder, "x" * 60)
        os.mkdir(deep)
        with mock.patch.dict(os.environ, XDG_RUNTIME_DIR=deep):
            self.assertEqual(socket_folder._choose("n" * 40), "/tmp/vram-lens-%d" % os.getuid())

    def test_missing_runtime_folder_goes_to_tmp(self):
        with mock.patch.dict(os.environ, XDG_RUNTIME_DIR=os.path.join(self.folder, "gone")):
            self.assertEqual(socket_folder.candidate_folders(), ["/tmp/vram-lens-%d" % os.getuid()])

    def test_only_the_dead_of_this_very_place_are_removed(self):
        os.mkdir(self.sockets, 0o700)
        host, boot, namespace = identity.place()
        gone = subprocess.Popen(["true"])
        gone.wait()
        dead = "{}-{}-{}-{}-1".format(host, boot, namespace, gone.pid)
        reused = "{}-{}-{}-{}-1".format(host, boot, namespace, os.getpid())
        kept = [
            "{}-{}-{}-{}-1.sock".format("0" * 8, boot, namespace, gone.pid),
            "{}-{}-{}-{}-1.sock".format(host, "0" * 8, namespace, gone.pid),
            "{}-{}-{}-{}-1.sock".format(host, boot, "12345", gone.pid),
            "{}-{}-{}-x-1.sock".format(host, boot, namespace),
            socket_folder.base_name() + ".sock",
            "{}-{}-{}-{}-1.txt".format(host, boot, namespace, gone.pid),
            "notes.txt",
        ]
        for name in kept + [dead + ".sock", dead + ".token", dead + ".new", reused + ".sock"]:
            open(os.path.join(self.sockets, name), "w").close()
        socket_folder.remove_dead(self.sockets)
        self.assertEqual(self.files(), sorted(kept))

    def test_a_killed_agents_token_is_never_followed(self):
        os.mkdir(self.sockets, 0o700)
        target = self.write("target", "precious")
        os.symlink(target, os.path.join(self.sockets, socket_folder.base_name() + ".token"))
        published = socket_folder.PublishedSocket()
        published.publish()
        published.remove()
        with open(target) as file:
            self.assertEqual(file.read(), "precious")


class ClientQueueTest(unittest.TestCase):
    def setUp(self):
        ours, self.theirs = socket.socketpair()
        self.client = Client(ours)
        self.addCleanup(ours.close)
        self.addCleanup(self.theirs.close)

    def test_oldest_notifications_are_dropped_answers_kept(self):
        self.client.send(protocol.response(1, "first"), False)
        for number in range(60000):
            self.client.send(protocol.notification("sample", {"number": number}), True)
            self.assertLessEqual(self.client._queued_bytes, QUEUE_BYTES)
        self.client.send(protocol.response(2, "last"), False)
        self.theirs.setblocking(False)
        reader, bodies = framing.FrameReader(), []
        while self.client.waiting or not bodies or b"last" not in bodies[-1]:
            self.client.flush()
            bodies += reader.feed(self.theirs.recv(1 << 16))
        self.assertIn(b"first", bodies[0])
        self.assertIn(b"59999", bodies[-2])
        self.assertLess(len(bodies), 60002)

    def test_answers_nobody_reads_end_the_connection(self):
        body = protocol.response(1, "x" * 10000)
        with self.assertRaises(ClientGone):
            for _ in range(1000):
                self.client.send(body, False)


class WallTest(unittest.TestCase):
    def test_our_errors_stay(self):
        for error in (ValueError, SystemExit, GeneratorExit, MemoryError, BaseException):
            def fail():
                raise error("ours")

            self.assertIsNone(guard.shielded(fail)())

    def test_control_c_passes(self):
        def interrupted():
            os.kill(os.getpid(), signal.SIGINT)
            while True:
                pass

        with self.assertRaises(KeyboardInterrupt):
            guard.shielded(interrupted)()

    def test_what_a_signal_handler_raises_passes(self):
        def handler(number, frame):
            raise TimeoutError("the script's")

        before = signal.signal(signal.SIGUSR1, handler)
        self.addCleanup(signal.signal, signal.SIGUSR1, before)

        def interrupted():
            os.kill(os.getpid(), signal.SIGUSR1)
            while True:
                pass

        with self.assertRaises(TimeoutError):
            guard.shielded(interrupted)()


class ContractTest(unittest.TestCase):
    def test_version_is_that_of_the_typescript_side(self):
        root = os.path.dirname(os.path.dirname(support.AGENT))
        with open(os.path.join(root, "src", "shared", "agentProtocol.ts")) as file:
            text = file.read()
        self.assertIn("protocolVersion = {};".format(protocol.PROTOCOL_VERSION), text)
        self.assertIn("badToken: {}".format(protocol.BAD_TOKEN), text)


if __name__ == "__main__":
    unittest.main()
