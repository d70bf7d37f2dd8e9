"""The agent on the real simulator: what it says is what torch itself says in the script."""

import os
import threading
import unittest

import support

SIMULATOR = os.path.join(os.path.dirname(support.AGENT), "simulator")

TRAINING = """
import sys
import torch
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)).to("cuda")
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    loss = model(torch.randn(32, 256, device="cuda")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
stats = torch.cuda.memory_stats()
keys = sys.argv[1:]
print(" ".join(str(stats[key]) for key in keys), flush=True)
sys.stdin.readline()
"""

KEYS = {
    "usedBytes": "allocated_bytes.all.current",
    "reservedBytes": "reserved_bytes.all.current",
    "activeBytes": "active_bytes.all.current",
    "strandedBytes": "inactive_split_bytes.all.current",
    "peakUsedBytes": "allocated_bytes.all.peak",
    "peakReservedBytes": "reserved_bytes.all.peak",
    "retries": "num_alloc_retries",
    "ooms": "num_ooms",
}


class SimulatedTest(support.AgentTest):
    def test_samples_equal_the_scripts_own_figures(self):
        names = sorted(KEYS)
        process = self.start(
            self.write("training.py", TRAINING),
            *[KEYS[name] for name in names],
            environment={
                "PYTHONPATH": os.pathsep.join([support.AGENT, SIMULATOR]),
                "VRAM_LENS_SIMULATE": "4GiB",
                "CUDA_VISIBLE_DEVICES": None,
                "CUBLAS_WORKSPACE_CONFIG": None,
            }
        )
        # The first use of the simulator compiles it.
        limit = threading.Timer(support.PATIENCE_S * 3, process.kill)
        limit.start()
        line = process.stdout.readline()
        limit.cancel()
        if not line:
            self.fail(process.stderr.read())
        figures = dict(zip(names, map(int, line.split())))
        client = self.connect(process.pid)
        hello = client.ask("hello", protocol=1, client="test")
        self.assertEqual((hello["simulated"], hello["step"]), ("exact", 3))
        (device,) = hello["devices"]
        self.assertEqual(device["totalBytes"], 4 << 30)
        self.assertTrue(device["uuid"].startswith("SIM-"), device)
        client.ask("subscribe", hz=10)
        sample = client.until("sample")
        self.assertEqual({name: sample[name] for name in names}, figures)
        # Two weights and two biases, their gradients and AdamW's two moments: none of it can be missing.
        self.assertGreater(sample["usedBytes"], 4 * 4 * (256 * 512 + 512 + 512 * 10 + 10))
        output, errors = process.communicate("\n", timeout=support.PATIENCE_S)
        self.assertEqual((process.returncode, output, errors), (0, "", ""))
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
