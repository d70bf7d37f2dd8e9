"""Clients that break the rules, do not read, or die; none of them slows or ends the session."""

import os
import random
import signal
import socket
import subprocess
import sys
import unittest

import support


class HostileTest(support.AgentTest):
    def setUp(self):
        super().setUp()
        self.session = self.driver()
        self.session.do("cards[0].set(100 * MIB, 300 * MIB)")
        self.session.do("start()")
        self.wait_for_socket()

    def still_serves(self):
        client = self.connect()
        self.assertEqual(client.ask("hello", protocol=1, client="good")["pid"], self.session.pid)
        client.ask("subscribe", hz=10)
        client.until("sample")
        self.session.do("step()")
        self.session.finish()
        self.assertEqual(self.files(), [])

    def test_random_bytes(self):
        source = random.Random(7)
        for _ in range(30):
            client = self.connect()
            try:
                client.send_raw(bytes(source.randrange(256) for _ in range(source.randrange(1, 20000))))
                client.socket.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            self.assertTrue(client.ended())
        self.still_serves()

    def test_huge_and_endless_headers(self):
        for data in (
            b"Content-Length: 1048577\r\n\r\n",
            b"Content-Length: 99999999999999999999\r\n\r\n",
            b"X: " + b"y" * 100000,
            b"\r\n\r\n",
            b"Content-Length: -5\r\n\r\n",
        ):
            client = self.connect()
            try:
                client.send_raw(data)
            except OSError:
                pass
            self.assertTrue(client.ended(), data[:30])
        self.still_serves()

    def test_longest_message_is_read_and_refused_as_json(self):
        client = self.connect()
        client.send_raw(b"Content-Length: 1048576\r\n\r\n" + b" " * 1048576)
        self.assertEqual(client.receive()["error"]["code"], -32700)
        self.still_serves()

    def test_half_a_message(self):
        client = self.connect()
        client.send_raw(b"Content-Length: 100\r\n\r\n{")
        self.still_serves()

    def test_a_client_that_never_reads(self):
        deaf = self.connect()
        deaf.send("subscribe", {"hz": 10}, 1)
        deaf.socket.setblocking(False)
        request = b'{"jsonrpc":"2.0","id":1,"method":"hello","params":{}}'
        request = b"Content-Length: %d\r\n\r\n" % len(request) + request
        # Ask without reading: the agent ends the connection once its answers pile up.
        def closed():
            try:
                for _ in range(200):
                    deaf.socket.send(request)
            except BlockingIOError:
                return False
            except OSError:
                return True
            return False

        support.wait_for(closed, "the end of the deaf client")
        self.still_serves()

    def test_a_client_killed(self):
        program = (
            "import sys, time; sys.path.insert(0, {!r}); import support\n"
            "c = support.Client({!r}); c.ask('subscribe', hz=10); c.until('sample'); print('on', flush=True)\n"
            "time.sleep(600)"
        ).format(support.HERE, self.wait_for_socket())
        client = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
        self.assertEqual(client.stdout.readline(), b"on\n")
        client.send_signal(signal.SIGKILL)
        client.wait()
        client.stdout.close()
        self.still_serves()

    def test_too_many_clients(self):
        clients = [self.connect() for _ in range(40)]
        served = 0
        for client in clients:
            client.socket.settimeout(support.PATIENCE_S)
            try:
                client.ask("hello", protocol=1, client="one of many")
                served += 1
            except (AssertionError, OSError):
                pass
        self.assertEqual(served, 32)
        for client in clients:
            client.close()
        support.wait_for(lambda: self.again(), "a free place")
        self.still_serves()

    def again(self):
        try:
            return self.connect().ask("hello", protocol=1, client="again")
        except (AssertionError, OSError):
            return None

    def test_a_client_that_goes_before_its_answer(self):
        self.session.do("[step() for _ in range(3)]")
        client = self.connect()
        client.send("freeCache", {"token": client.token()}, 1)
        client.close()
        self.still_serves()


class EndTest(support.AgentTest):
    def test_files_go_however_the_script_ends(self):
        for ending, code, errors in (
            ("pass", 0, ""),
            ("sys.exit(3)", 3, ""),
            ("raise SystemExit('bye')", 1, "bye\n"),
            ("raise ValueError('theirs')", 1, None),
            ("os.kill(os.getpid(), 2)\ntime.sleep(60)", -signal.SIGINT, None),
        ):
            with self.subTest(ending=ending):
                script = self.write(
                    "ending.py",
                    "import glob, os, sys, time\nsys.path.insert(0, {!r})\nimport torch, fake_cuda\n"
                    "fake_cuda.install(); torch.cuda._lazy_init()\n"
                    "while not glob.glob({!r} + '/*.sock'): time.sleep(0.02)\n{}\n".format(
                        support.HERE, self.sockets, ending
                    ),
                )
                process = self.start(script)
                output, text = process.communicate(timeout=support.PATIENCE_S)
                self.assertEqual((process.returncode, output), (code, ""))
                if errors is not None:
                    self.assertEqual(text, errors)
                else:
                    self.assertNotIn("vram_lens", text)
                self.assertEqual(self.files(), [])

    def test_initialised_without_touching_a_device_ends_at_once_and_without_files(self):
        self.run_clean(
            "-c",
            "import sys; sys.path.insert(0, %r); import torch, fake_cuda\n"
            "fake_cuda.install(touched=()); torch.cuda._lazy_init()" % support.HERE,
        )
        self.assertEqual(self.files(), [])

    def test_after_kill_the_next_agent_cleans_up(self):
        first = self.driver()
        first.do("start()")
        self.wait_for_socket(first.pid)
        first.process.kill()
        first.process.wait()
        self.assertEqual(len(self.files()), 2)
        second = self.driver()
        second.do("start()")
        self.wait_for_socket(second.pid)
        self.assertEqual(len(self.files()), 2)
        second.finish()
        self.assertEqual(self.files(), [])

    def test_a_forked_child_leaves_the_parents_socket(self):
        driver = self.driver()
        driver.do("start()")
        client = self.connect()
        driver.do("import os, sys")
        driver.do("child = os.fork() or os._exit(len(os.listdir(%r)))" % self.sockets)
        self.assertEqual(driver.do("os.WEXITSTATUS(os.waitpid(child, 0)[1])"), 2)
        # A child that leaves the ordinary way runs atexit too.
        driver.do("child = os.fork() or sys.exit(0)")
        self.assertEqual(driver.do("os.waitpid(child, 0)[1]"), 0)
        self.assertEqual(len(self.files()), 2)
        self.assertEqual(client.ask("hello", protocol=1, client="test")["pid"], driver.pid)
        driver.finish()

    def test_a_child_forked_before_cuda_has_its_own_session(self):
        driver = self.driver()
        driver.do("import multiprocessing, time, os; context = multiprocessing.get_context('fork')")
        driver.do("go = context.Event()")
        driver.do("child = context.Process(target=lambda: (start(), go.wait()))")
        driver.do("child.start()")
        pid = driver.do("child.pid")
        self.assertEqual(self.connect(pid).ask("hello", protocol=1, client="test")["pid"], pid)
        driver.do("go.set()")
        driver.do("child.join()")
        self.assertEqual(driver.do("child.exitcode"), 0)
        self.assertEqual(self.files(), [])
        driver.finish()

    def test_foreign_link_is_refused_silently(self):
        elsewhere = os.path.join(self.folder, "elsewhere")
        os.mkdir(elsewhere)
        os.symlink(elsewhere, self.sockets)
        driver = self.driver()
        driver.do("start()")
        support.wait_for(
            lambda: driver.do("__import__('threading').active_count()") == 1, "the agent's thread gives up"
        )
        driver.finish()
        self.assertEqual(os.listdir(elsewhere), [])

    def test_after_exec_the_new_program_has_the_socket(self):
        driver = self.driver()
        driver.do("start()")
        self.wait_for_socket()
        driver.process.stdin.write("import os; os.execv(sys.executable, [sys.executable, %r])\n" % support.DRIVER)
        driver.process.stdin.flush()
        driver.do("start()")
        support.wait_for(lambda: self.answers(driver.pid), "the new session")
        driver.finish()
        self.assertEqual(self.files(), [])

    def answers(self, pid):
        try:
            return self.connect(pid).ask("hello", protocol=1, client="test")["pid"] == pid
        except (AssertionError, OSError):
            return False


if __name__ == "__main__":
    unittest.main()
