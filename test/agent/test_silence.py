"""What the agent must not do: run where it has no business, disturb the start of Python, let an error out."""

import os
import subprocess
import unittest

import support

NOTHING = "import sys, threading; print(threading.active_count(), 'vram_lens_agent' in sys.modules)"


class StartTest(support.AgentTest):
    def test_torch_never_imported(self):
        output = self.run_clean("-c", "import json, email, http.client, unittest\n" + NOTHING)
        self.assertEqual(output, "1 False\n")
        self.assertEqual(self.files(), [])

    def test_the_start_loads_no_module_more(self):
        list_modules = "import sys; print(' '.join(sorted(sys.modules)))"
        with_agent = self.run_clean("-c", list_modules).split()
        without = self.run_clean("-c", list_modules, environment={"PYTHONPATH": None}).split()
        # Where there is no other sitecustomize, looking for one loads what Python's own search uses.
        self.assertLessEqual(set(with_agent) - set(without), {"sitecustomize", "importlib", "importlib.machinery",
                             "importlib._abc", "importlib.util", "importlib._bootstrap",
                             "importlib._bootstrap_external", "warnings", "contextlib", "collections", "types",
                             "functools", "keyword", "operator", "reprlib", "_collections", "_functools", "_operator",
                             "itertools"})

    def test_cpu_training_starts_nothing(self):
        output = self.run_clean(
            "-c",
            "import torch\n"
            "w = torch.nn.Parameter(torch.zeros(2)); w.grad = torch.ones(2)\n"
            "o = torch.optim.SGD([w], lr=1.0); o.step()\n"
            "assert w.tolist() == [-1.0, -1.0]\n" + NOTHING,
        )
        self.assertEqual(output, "1 True\n")
        self.assertEqual(self.files(), [])

    def test_off(self):
        driver = self.driver(environment={"VRAM_LENS": "off"})
        driver.do("start()")
        driver.do("step()")
        self.assertEqual(driver.do("__import__('threading').active_count()"), 1)
        self.assertEqual(driver.do("str([f for f in sys.meta_path if type(f).__name__ == 'TorchNotice'])"), "[]")
        driver.finish()
        self.assertEqual(self.files(), [])

    def test_off_still_runs_the_other_sitecustomize(self):
        self.write("sitecustomize.py", "import builtins; builtins.mine = 7")
        path = os.pathsep.join([support.AGENT, self.folder])
        output = self.run_clean("-c", "print(mine)", environment={"PYTHONPATH": path, "VRAM_LENS": "off"})
        self.assertEqual(output, "7\n")

    def test_the_other_sitecustomize_runs_under_its_name(self):
        self.write("sitecustomize.py", "import sys; me = sys.modules[__name__]; answer = 42")
        path = os.pathsep.join([support.AGENT, self.folder])
        output = self.run_clean(
            "-c",
            "import sitecustomize as s, sys\n"
            "print(s.answer, s.__name__, s.__file__, s.me is s, type(sys.meta_path[0]).__name__)",
            environment={"PYTHONPATH": path},
        )
        self.assertEqual(
            output, "42 sitecustomize {} True TorchNotice\n".format(os.path.join(self.folder, "sitecustomize.py"))
        )

    def test_an_error_in_the_other_sitecustomize_is_told_as_without_us(self):
        self.write("sitecustomize.py", "raise ValueError('theirs')")

        def errors(path):
            process = self.start("-c", "print('runs')", environment={"PYTHONPATH": path})
            output, text = process.communicate(timeout=support.PATIENCE_S)
            self.assertEqual((process.returncode, output), (0, "runs\n"))
            return text

        alone = errors(self.folder)
        self.assertIn("theirs", alone)
        self.assertEqual(errors(os.pathsep.join([support.AGENT, self.folder])), alone)

    def test_two_agent_folders_on_the_path_do_not_call_each_other(self):
        copy = os.path.join(self.folder, "copy")
        subprocess.run(["cp", "-r", support.AGENT, copy], check=True)
        self.write("sitecustomize.py", "print('theirs')")
        path = os.pathsep.join([support.AGENT, copy, support.AGENT, self.folder])
        self.assertEqual(self.run_clean("-c", "pass", environment={"PYTHONPATH": path}), "theirs\n")

    def test_the_current_folder_does_not_become_importable(self):
        self.write("stray.py", "")
        script = os.path.join(self.folder, "scripts", "main.py")
        os.mkdir(os.path.dirname(script))
        self.write("scripts/main.py", "import sys\ntry:\n    import stray\nexcept ImportError:\n    print('no', '' in sys.path)")
        self.assertEqual(self.run_clean(script), "no False\n")

    def test_isolated_pythons_run_as_always(self):
        for option in ("-I", "-S", "-E", "-s"):
            self.assertEqual(self.run_clean(option, "-c", "print(1)"), "1\n", option)


LISTENERS = """
import sys
sys.path.insert(0, {here!r})
import torch
import fake_cuda
import os
import threading

def listeners():
    # How many of our listening sockets this very process has open.
    inodes = [line.split()[6] for line in open("/proc/net/unix") if {folder!r} in line]
    links = []
    for name in os.listdir("/proc/self/fd"):
        try:
            links.append(os.readlink("/proc/self/fd/" + name))
        except OSError:
            pass
    return sum("socket:[" + inode + "]" in links for inode in inodes)
"""

LOADER = (
    LISTENERS
    + """
class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, index):
        torch.cuda._initialized or {touch}
        return torch.tensor([index, threading.active_count(), {held}])

if __name__ == "__main__":
    fake_cuda.install()
    torch.cuda._lazy_init()
    import glob, time
    while not glob.glob({sockets!r} + "/*.sock"):
        time.sleep(0.02)
    assert listeners() == 1
    loader = torch.utils.data.DataLoader(Numbers(), num_workers=2, multiprocessing_context={method!r})
    rows = [row[0].tolist() for row in loader]
    print(sorted(row[0] for row in rows), sum(row[2] for row in rows), len(os.listdir({sockets!r})))
"""
)

FORK_WHILE_PUBLISHING = (
    LISTENERS
    + """
published, forked = threading.Event(), threading.Event()
rename = os.rename

def pausing(source, target):
    rename(source, target)
    published.set()
    forked.wait(30)

os.rename = pausing
fake_cuda.install()
torch.cuda._lazy_init()
assert published.wait(30)
child = os.fork()
if child == 0:
    os._exit(listeners())
forked.set()
print(os.waitpid(child, 0)[1], listeners())
"""
)


class DataLoaderTest(support.AgentTest):
    def run_loader(self, method, touch="None", held="0"):
        script = self.write(
            "loader.py",
            LOADER.format(here=support.HERE, method=method, sockets=self.sockets, folder=self.folder, touch=touch, held=held),
        )
        # CPython's resource tracker warns when the pool is torn down while it is slow; that is none of ours.
        return self.run_clean(script, environment={"PYTHONWARNINGS": "ignore:resource_tracker"})

    def test_forked_workers_hold_and_open_nothing(self):
        output = self.run_loader("fork", held="listeners()")
        self.assertEqual(output, "[0, 1, 2, 3, 4, 5, 6, 7] 0 2\n")
        self.assertEqual(self.files(), [])

    def test_spawned_workers_stay_silent_even_with_cuda(self):
        # The worker initialises CUDA itself: it still is a worker, and only the parent has a socket.
        touch = "(fake_cuda.install(), torch.cuda._lazy_init(), __import__('time').sleep(1))"
        self.assertEqual(self.run_loader("spawn", touch), "[0, 1, 2, 3, 4, 5, 6, 7] 0 2\n")
        self.assertEqual(self.files(), [])


class ForkTest(support.AgentTest):
    def test_a_fork_just_after_publishing_holds_no_socket(self):
        text = FORK_WHILE_PUBLISHING.format(here=support.HERE, folder=self.folder)
        self.assertEqual(self.run_clean(self.write("fork.py", text)), "0 1\n")


INJECTIONS = {
    "attaching": "attach.attach = fail",
    "hooking steps": "attach._hook_steps = fail",
    "starting": "attach._start = fail",
    "thread start": "threading.Thread.start = fail",
    "publishing": "socket_folder.PublishedSocket.publish = fail",
    "session": "session.Session.__init__ = fail",
    "running": "session.Session.run = fail",
    "ticking": "session.Session.tick = fail",
    "the step hook": "session.Session.optimizer_ended = fail",
    "counting": "steps.StepCounter.optimizer_ended = fail",
    "the name": "identity.place = fail",
    "devices": "stats.touched_devices = fail",
    "the end": "session.Session.stop = fail",
    "ending": "session.Session.end = fail",
    "forking": "session.Session.close_in_child = fail",
}

INJECTED = """
import sys, threading
sys.path[:0] = [{here!r}, {agent!r}]
import vram_lens_agent
from vram_lens_agent import attach, identity, session, socket_folder, stats, steps
real_start = threading.Thread.start
def fail(*args, **kwargs):
    raise {error}("injected")
{injection}
import torch
import fake_cuda
fake_cuda.install()
torch.cuda._lazy_init()
torch.optim.Optimizer.add_param_group = torch.optim.Optimizer.add_param_group.__wrapped__
class Plain(torch.optim.Optimizer):
    def step(self, closure=None):
        return 5
import os, time
w = torch.nn.Parameter(torch.zeros(2))
optimizer = Plain([w], {{}})
assert optimizer.step() == 5
time.sleep(0.3)
assert optimizer.step() == 5
child = os.fork()
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(torch.cuda.is_initialized())
"""


class InjectedErrorTest(support.AgentTest):
    def test_no_error_reaches_the_script(self):
        for number, (place, injection) in enumerate(sorted(INJECTIONS.items())):
            error = ("ValueError", "SystemExit", "BaseException")[number % 3]
            with self.subTest(place=place, error=error):
                text = INJECTED.format(here=support.HERE, agent=support.AGENT, injection=injection, error=error)
                self.assertEqual(self.run_clean(self.write("injected.py", text)), "True\n")

    def test_damaged_package(self):
        copy = os.path.join(self.folder, "agent")
        subprocess.run(["cp", "-r", support.AGENT, copy], check=True)
        for name, text in (("guard.py", "this is no Python"), ("attach.py", "raise SystemExit(3)")):
            self.write("agent/vram_lens_agent/" + name, text)
            output = self.run_clean("-c", "import torch; print(1)", environment={"PYTHONPATH": copy})
            self.assertEqual(output, "1\n", name)


class CompiledStepTest(support.AgentTest):
    def test_a_compiled_optimizer_step_works(self):
        output = self.run_clean(
            "-c",
            "import sys; sys.path.insert(0, %r)\n"
            "import torch, fake_cuda\n"
            "w = torch.nn.Parameter(torch.zeros(2)); w.grad = torch.ones(2)\n"
            "o = torch.optim.SGD([w], lr=1.0)\n"
            "import logging; logging.disable(logging.WARNING)  # torch warns about its own profiler here\n"
            "step = torch.compile(lambda: o.step(), backend='eager')\n"
            "step(); step()\n"
            "print(w.tolist())" % support.HERE,
        )
        self.assertEqual(output, "[-2.0, -2.0]\n")


if __name__ == "__main__":
    unittest.main()
