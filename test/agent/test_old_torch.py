"""The way in by sitecustomize: torch before 2.5, on every Python at hand, over a stub of old torch."""

import glob
import os
import sys
import unittest

import support

OLD_DRIVER = os.path.join(support.HERE, "scripts", "old_driver.py")
PATH = os.pathsep.join([support.AGENT, support.STUB_TORCH])


def pythons():
    """This Python and those of pyenv from 3.8 on."""
    found = {"{}.{}".format(*sys.version_info[:2]): sys.executable}
    for path in sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python"))):
        version = path.split("/")[-3]
        major, minor = version.split(".")[:2]
        if int(minor) >= 8:
            found.setdefault("{}.{}".format(major, minor), path)
    return found


class OldTorchTest(support.AgentTest):
    def test_a_session_on_every_python(self):
        for version, python in pythons().items():
            with self.subTest(python=version):
                self.python = python
                driver = self.driver(OLD_DRIVER, environment={"PYTHONPATH": PATH})
                self.assertEqual(driver.do("torch.__version__"), "1.13.1+stub")
                self.assertEqual(driver.do("__import__('threading').active_count()"), 1)
                driver.do("cards[0].set(100 * MIB, 300 * MIB)")
                driver.do("torch.cuda._lazy_init()")
                client = self.connect(driver.pid)
                hello = client.ask("hello", protocol=1, client="test")
                self.assertEqual((hello["script"], hello["torch"]), (OLD_DRIVER, "1.13.1+stub"))
                self.assertEqual(hello["cwd"], self.folder)
                client.ask("subscribe", hz=10)
                self.assertEqual(client.until("sample")["usedBytes"], 100 << 20)
                self.assertEqual(driver.do("[optimizer.step() for _ in range(4)]"), [1, 2, 3, 4])
                self.assertEqual(client.until("step", lambda step: step["step"] >= 4)["step"], 4)
                self.assertTrue(client.ask("freeCache", token=client.token())["done"])
                driver.finish()
                self.assertEqual(self.files(), [])

    def test_looking_for_torch_without_importing_it(self):
        for version, python in pythons().items():
            with self.subTest(python=version):
                self.python = python
                output = self.run_clean(
                    "-c",
                    "import importlib.util, sys\n"
                    "spec = importlib.util.find_spec('torch')\n"
                    "print(type(spec.loader).__name__, 'vram_lens_agent' in sys.modules, 'torch' in sys.modules)",
                    environment={"PYTHONPATH": PATH},
                )
                self.assertEqual(output, "SourceFileLoader False False\n")

    def test_the_loader_is_pythons_own(self):
        output = self.run_clean(
            "-c",
            "import torch, sys, linecache\n"
            "print(type(torch.__spec__.loader).__name__, 'vram_lens_agent' in sys.modules)",
            environment={"PYTHONPATH": PATH},
        )
        self.assertEqual(output, "SourceFileLoader True\n")

    def test_an_import_that_fails_fails_as_always(self):
        broken = os.path.join(self.folder, "broken", "torch")
        os.makedirs(broken)
        self.write("broken/torch/__init__.py", "import torch.missing\n")
        output = self.run_clean(
            "-c",
            "try:\n    import torch\nexcept ImportError as error:\n    print(error)",
            environment={"PYTHONPATH": os.pathsep.join([support.AGENT, os.path.dirname(broken)])},
        )
        self.assertEqual(output, "No module named 'torch.missing'\n")



if __name__ == "__main__":
    unittest.main()
