"""Runs scripts and measures their tensors: ``measure.py JOB RESULT``, for a fixed PYTHONHASHSEED.

JOB is a JSON list of ``{"file", "probe"}``; RESULT gets a line of JSON for what each did: how it ended, what it
printed, its live bytes and the rest of the C heap (which has the graph's nodes) over its operations, and both each time
the line ``probe`` was about to run. Every script has a process of its own, forked from this one, because importing
torch takes longer than most scripts. What ``Tensor.cpu()`` and ``torch.load(map_location="cpu")`` give counts as host
memory, as on a GPU.
"""

import ctypes
import json
import os
import random
import runpy
import signal
import sys
import tempfile
import threading
import traceback

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

# Looking for freed storages costs; a new peak is looked at closely anyway.
OPERATIONS_PER_SWEEP = 16
# The scripts take a second or two on a machine with nothing else to do.
SECONDS_PER_SCRIPT = 90


class Mallinfo2(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]


def heap_reader():
    """A function that answers the bytes in use of the C heap; 0 where there is no glibc 2.33 to ask."""
    try:
        mallinfo2 = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return lambda: 0
    mallinfo2.restype = Mallinfo2

    def read():
        info = mallinfo2()
        return info.uordblks + info.hblkhd

    return read


def storage_of(tensor):
    return tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()._storage


class LiveTensors(TorchDispatchMode):
    """Sees the result of every operation, those of the backward pass too, and keeps no tensor alive by it."""

    def __init__(self):
        super().__init__()
        self.live = {}
        self.bytes = 0
        self.peak = 0
        self.operations = 0
        self.sum_of_bytes = 0
        self.sum_of_heap = 0
        self.sweeps = 0
        self.host_bytes = 0
        self.heap = heap_reader()
        self.heap_at_first = self.heap()
        self.to_host = threading.local()

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        given = [self.key(one) for one in tree_flatten((args, kwargs))[0] if isinstance(one, torch.Tensor)]
        host = getattr(self.to_host, "now", False) or (
            len(given) > 0 and all(key in self.live and self.live[key][2] for key in given)
        )
        for one in tree_flatten(result)[0]:
            if isinstance(one, torch.Tensor):
                self.note(one, host)
        self.operations += 1
        regular = self.operations % OPERATIONS_PER_SWEEP == 0
        if self.bytes > self.peak or regular:
            self.sweep()
            self.peak = max(self.peak, self.bytes)
        if regular:
            self.sweeps += 1
            self.sum_of_bytes += self.bytes
            self.sum_of_heap += self.rest_of_heap()
        return result

    def rest_of_heap(self):
        """What the C heap has beside tensors' bytes, since the start."""
        return self.heap() - self.heap_at_first - self.bytes - self.host_bytes

    @staticmethod
    def key(tensor):
        try:
            return storage_of(tensor)._cdata
        except (NotImplementedError, RuntimeError):
            return None

    def note(self, tensor, host):
        """Sparse and other tensors without one storage are not counted."""
        try:
            storage = storage_of(tensor)
            size = storage.nbytes()
        except (NotImplementedError, RuntimeError):
            return
        known = self.live.get(storage._cdata)
        if known is not None and not known[0].expired():
            self.count(size - known[1], known[2])
            self.live[storage._cdata] = (known[0], size, known[2])
            return
        if known is not None:
            self.count(-known[1], known[2])
        self.live[storage._cdata] = (StorageWeakRef(storage), size, host)
        self.count(size, host)

    def count(self, size, host):
        if host:
            self.host_bytes += size
        else:
            self.bytes += size

    def sweep(self):
        for key in [key for key, (storage, _, _) in self.live.items() if storage.expired()]:
            _, size, host = self.live.pop(key)
            self.count(-size, host)


def copy_to_host(tensors):
    """On a CPU-only machine ``cpu()`` gives the tensor itself, where a GPU's would be copied.

    A device that is an object and no word is the one that the script chose, which may be a GPU elsewhere.
    """
    load = torch.load

    def cpu(self, *args, **kwargs):
        tensors.to_host.now = True
        try:
            return self.clone()
        finally:
            tensors.to_host.now = False

    def load_to(file, map_location=None, *args, **kwargs):
        tensors.to_host.now = isinstance(map_location, str) and map_location == "cpu"
        try:
            return load(file, map_location, *args, **kwargs)
        finally:
            tensors.to_host.now = False

    torch.Tensor.cpu = cpu
    torch.load = load_to


def trace_line(file, line, reached):
    """Calls ``reached`` each time that line of that file is about to run."""

    def in_file(frame, event, _):
        if event == "line" and frame.f_lineno == line:
            reached()
        return in_file

    def trace(frame, event, _):
        return in_file if frame.f_code.co_filename == file else None

    threading.settrace(trace)
    sys.settrace(trace)


def seed():
    torch.manual_seed(0)
    random.seed(0)
    try:
        import numpy
    except ImportError:
        return
    numpy.random.seed(0)


def run(job):
    """Runs one script here and answers what it did."""
    tensors = LiveTensors()
    samples = []

    def sample():
        tensors.sweep()
        samples.append((tensors.bytes, tensors.rest_of_heap(), tensors.peak))
        tensors.peak = tensors.bytes

    copy_to_host(tensors)
    seed()
    error = None
    sys.argv = [job["file"]]
    try:
        with tensors:
            if job["probe"] is not None:
                trace_line(job["file"], job["probe"], sample)
            try:
                runpy.run_path(job["file"], run_name="__main__")
            finally:
                sys.settrace(None)
                threading.settrace(None)
    except SystemExit as end:
        error = f"exit {end.code}" if end.code else None
    except BaseException:
        error = traceback.format_exc(limit=-3)
    count = max(tensors.sweeps, 1)
    return {
        "error": error,
        "operations": tensors.operations,
        "peak": max([tensors.peak] + [peak for _, _, peak in samples]),
        "mean": tensors.sum_of_bytes / count,
        "heap": tensors.sum_of_heap / count,
        "samples": samples,
    }


def run_in_child(job):
    """What a script did in a process of its own, with what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        answer, output = os.path.join(folder, "answer"), os.path.join(folder, "output")
        child = os.fork()
        if child == 0:
            with open(output, "w") as printed:
                os.dup2(printed.fileno(), 1)
            os.chdir(folder)
            signal.alarm(SECONDS_PER_SCRIPT)
            result = run(job)
            sys.stdout.flush()
            with open(answer, "w") as file:
                json.dump(result, file)
            # Threads and exit handlers of the parent's torch are not the child's to end.
            os._exit(0)
        _, status = os.waitpid(child, 0)
        with open(output, errors="replace") as printed:
            text = printed.read()
        if not os.path.exists(answer):
            return {"error": f"ended with status {status}", "output": text}
        with open(answer) as file:
            return {**json.load(file), "output": text}


def main(job_file, result_file):
    torch.set_num_threads(1)
    with open(job_file) as file:
        jobs = json.load(file)
    with open(result_file, "w") as file:
        for job in jobs:
            file.write(json.dumps(run_in_child(job)) + "\n")
            file.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
