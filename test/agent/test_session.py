"""A whole session over real torch and a real socket: what a client is told and what it can do."""

import os
import sys
import unittest

import support

MIB = 1 << 20


class SessionTest(support.AgentTest):
    def start_session(self, **environment):
        driver = self.driver(environment=environment)
        driver.do("cards[0].set(100 * MIB, 300 * MIB, stranded=50 * MIB, pending=10 * MIB)")
        driver.do("start()")
        return driver, self.connect()

    def test_hello_says_who_this_is(self):
        driver, client = self.start_session(RANK="3", WORLD_SIZE="8")
        hello = client.ask("hello", protocol=1, client="test")
        torch_version = driver.do("torch.__version__ + ''")
        age_s = driver.do("__import__('time').time()") - hello.pop("startTimeMs") / 1000
        self.assertTrue(0 <= age_s < 120, age_s)
        self.assertEqual(
            hello,
            {
                "protocol": 1,
                "agent": "0.1.0",
                "pid": driver.pid,
                "script": support.DRIVER,
                "cwd": self.folder,
                "python": "{}.{}.{}".format(*sys.version_info[:3]),
                "torch": torch_version,
                "simulated": None,
                "rank": 3,
                "worldSize": 8,
                "devices": [
                    {
                        "index": 0,
                        "uuid": "GPU-01234567-89ab-cdef-0123-456789abcde0",
                        "name": "Test Card",
                        "totalBytes": 24 << 30,
                    }
                ],
                "state": "modelOnGpu",
                "step": 0,
            },
        )
        driver.finish()

    def test_samples_say_what_the_allocator_says(self):
        driver, client = self.start_session()
        self.assertEqual(client.ask("subscribe", hz=50), {"hz": 10.0})
        sample = client.until("sample")
        self.assertIsInstance(sample.pop("timeMs"), int)
        self.assertEqual(
            sample,
            {
                "device": 0,
                "usedBytes": 100 * MIB,
                "reservedBytes": 300 * MIB,
                "activeBytes": 110 * MIB,
                "strandedBytes": 50 * MIB,
                "releasableBytes": 140 * MIB,
                "pendingBytes": 10 * MIB,
                "requestedBytes": 100 * MIB - 100,
                "peakUsedBytes": 100 * MIB,
                "peakReservedBytes": 300 * MIB,
                "retries": 3,
                "ooms": 1,
            },
        )
        driver.finish()

    def test_simulation_is_said(self):
        driver = self.driver()
        driver.do("torch.cuda._vram_lens_simulation = {'mode': 'exact', 'notModelled': []}")
        driver.do("start()")
        hello = self.connect().ask("hello", protocol=1, client="test")
        self.assertEqual(hello["simulated"], "exact")
        self.assertEqual(hello["devices"][0]["uuid"], "SIM-{}-0".format(driver.pid))
        driver.finish()

    def test_steps_and_lifecycle(self):
        driver, client = self.start_session()
        self.assertEqual(client.ask("hello", protocol=1, client="test")["state"], "modelOnGpu")
        client.ask("subscribe", hz=10)
        driver.do("step()")
        self.assertEqual(client.until("lifecycle")["state"], "training")
        first = client.until("step")
        self.assertEqual((first["step"], first["usedBytes"]), (1, 100 * MIB))
        # Many quick steps: thinned, but the last one is told.
        driver.do("[step() for _ in range(500)]")
        told = []
        client.until("step", lambda step: told.append(step["step"]) or step["step"] == 501)
        self.assertLess(len(told), 400)
        self.assertEqual(told, sorted(told))
        driver.process.stdin.close()
        self.assertEqual(client.until("lifecycle")["state"], "ended")
        self.assertTrue(client.ended())
        self.assertEqual(self.files(), [])
        driver.process.stdin = None

    def test_last_step_before_the_end_is_told(self):
        driver, client = self.start_session()
        client.ask("subscribe", hz=0.2)
        client.until("sample")
        driver.do("[step() for _ in range(7)]")
        driver.finish()
        self.assertEqual(client.until("step", lambda step: step["step"] >= 7)["step"], 7)

    def test_rounds_of_two_optimizers(self):
        driver, client = self.start_session()
        driver.do("[step(name) for _ in range(20) for name in ('critic', 'generator')]")
        self.assertEqual(client.ask("hello", protocol=1, client="test")["step"], 20)
        driver.finish()

    def test_counting_nothing_while_nobody_watches(self):
        driver, client = self.start_session()
        driver.do("cards[0].__setattr__('calls', 0)")
        driver.do("[step() for _ in range(50)]")
        self.assertEqual(driver.do("cards[0].calls"), 0)
        self.assertEqual(client.ask("hello", protocol=1, client="test")["step"], 50)
        driver.finish()

    def test_free_cache_when_idle(self):
        driver, client = self.start_session()
        answer = client.ask("freeCache", token=client.token())
        self.assertEqual(
            answer,
            {
                "done": True,
                "where": "idle",
                "collected": False,
                "devices": [
                    {
                        "index": 0,
                        "reservedBeforeBytes": 300 * MIB,
                        "reservedAfterBytes": 160 * MIB,
                        "returnedBytes": 140 * MIB,
                        "strandedBytes": 50 * MIB,
                        "usedBytes": 100 * MIB,
                    }
                ],
            },
        )
        driver.finish()

    def test_free_cache_at_a_steps_end_in_the_training_thread(self):
        driver, client = self.start_session()
        driver.do("import gc, threading; seen = []")
        driver.do("torch._C._cuda_emptyCache = lambda: (seen.append(threading.current_thread().name), cards[0].empty())")
        driver.do("gc.callbacks.append(lambda phase, info: seen.append(threading.current_thread().name))")
        driver.do("[step() for _ in range(3)]")
        driver.do("gc.disable(); seen.clear()")
        client.send("freeCache", {"token": client.token()}, "free")
        # The loop answers others meanwhile.
        client.send("nothing", {}, "other")
        self.assertEqual(client.receive()["id"], "other")
        driver.do("step()")
        answer = client.answer("free")["result"]
        self.assertEqual((answer["where"], answer["collected"]), ("afterStep", True))
        self.assertEqual(answer["devices"][0]["returnedBytes"], 140 * MIB)
        self.assertEqual(set(driver.do("seen")), {"MainThread"})
        driver.finish()

    def test_free_cache_does_not_wait_for_ever_for_a_step(self):
        driver, client = self.start_session()
        driver.do("[step() for _ in range(3)]")
        self.assertEqual(client.ask("freeCache", token=client.token())["where"], "idle")
        driver.finish()

    def test_free_cache_during_graph_capture(self):
        driver, client = self.start_session()
        driver.do("def refuse(): raise RuntimeError('captures_underway.empty() INTERNAL ASSERT FAILED')")
        driver.do("torch._C._cuda_emptyCache = refuse")
        answer = client.ask("freeCache", token=client.token())
        self.assertEqual((answer["done"], answer["reason"]), (False, "capture"))
        driver.do("def refuse(): raise ValueError('something else')")
        driver.do("torch._C._cuda_emptyCache = refuse")
        self.assertEqual(client.ask("freeCache", token=client.token())["reason"], "failed")
        driver.finish()

    def test_without_the_token_nothing_changes(self):
        driver, client = self.start_session()
        for token in ("", "0" * 32, "\u00e9", None, 7, ["x"]):
            self.assertEqual(client.error("freeCache", {"token": token}), -32001, token)
        self.assertEqual(client.error("freeCache", {}), -32001)
        self.assertEqual(driver.do("cards[0].reserved"), 300 * MIB)
        driver.finish()

    def test_errors_of_the_standard(self):
        driver, client = self.start_session()
        self.assertEqual(client.error("noSuchThing", {}), -32601)
        for hz in ("2", None, True, [], float("nan"), float("inf")):
            self.assertEqual(client.error("subscribe", {"hz": hz}), -32602, hz)
        for body, code in ((b"{", -32700), (b"[" * 100000, -32700), (b"\xff", -32700), (b"[]", -32600),
                           (b'{"jsonrpc":"1.0","id":1,"method":"hello"}', -32600), (b"9" * 5000, -32700)):
            client.send_raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            self.assertEqual(client.receive()["error"]["code"], code, body[:40])
        body = b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}'
        client.send_raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.assertEqual(client.ask("hello", protocol=1, client="still here")["pid"], driver.pid)
        driver.finish()

    def test_allocator_without_statistics(self):
        driver = self.driver()
        driver.do("def refuse(index): raise RuntimeError('does not yet support getDeviceStats')")
        driver.do("torch._C._cuda_memoryStats = refuse")
        driver.do("start()")
        client = self.connect()
        client.ask("subscribe", hz=10)
        driver.do("step()")
        self.assertEqual(client.until("lifecycle", lambda params: params["state"] == "training")["state"], "training")
        self.assertFalse([n for n in client.notifications if n["method"] == "sample"])
        self.assertEqual(client.ask("hello", protocol=1, client="test")["step"], 1)
        driver.finish()

    def test_untouched_devices_are_never_asked(self):
        driver, client = self.start_session()
        client.ask("subscribe", hz=10)
        for _ in range(3):
            self.assertEqual(client.until("sample")["device"], 0)
        self.assertEqual(driver.do("cards[1].calls"), 0)
        driver.finish()

    def test_already_initialised(self):
        driver = self.driver(environment={"TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "VRAM_LENS": "off"})
        driver.do("start()")
        driver.do("import os; os.environ.pop('VRAM_LENS'); import vram_lens_agent; vram_lens_agent.autoload()")
        self.assertEqual(self.connect().ask("hello", protocol=1, client="late")["pid"], driver.pid)
        driver.finish()

    def test_two_clients_with_their_own_rates(self):
        driver, slow = self.start_session()
        fast = self.connect()
        slow.ask("subscribe", hz=0.2)
        fast.ask("subscribe", hz=10)
        slow.until("sample")
        for _ in range(10):
            fast.until("sample")
        # One second of the fast one: the slow one has had its only sample of these five seconds.
        answer = slow.ask("hello", protocol=1, client="slow")
        self.assertEqual(answer["pid"], driver.pid)
        self.assertEqual([n["method"] for n in slow.notifications], [])
        driver.finish()

    def test_files_are_private(self):
        self.start_session()
        socket_file, token_file = (os.path.join(self.sockets, name) for name in self.files())
        self.assertEqual((socket_file[-5:], token_file[-6:]), (".sock", ".token"))
        self.assertEqual(os.stat(self.sockets).st_mode & 0o777, 0o700)
        self.assertEqual(os.stat(socket_file).st_mode & 0o777, 0o600)
        self.assertEqual(os.stat(token_file).st_mode & 0o777, 0o600)
        with open(token_file) as file:
            self.assertRegex(file.read(), "^[0-9a-f]{32}$")


if __name__ == "__main__":
    unittest.main()
