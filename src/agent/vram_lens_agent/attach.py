"""Getting from an imported torch to a running session: the hooks we leave, and the thread they start."""

import atexit
import functools
import os
import socket
import sys
import threading
import time

from vram_lens_agent.guard import must_pass, shielded

WAIT_FOR_CUDA_S = 60.0
_JOIN_S = 1.0


class _Agent:
    """What is running in this process: at most one session on one thread."""

    def __init__(self):
        self.session = None
        self.thread = None
        self.ending = threading.Event()


_agent = _Agent()


def attach(torch):
    """Leave our hooks in this torch, once: one call queued for the end of CUDA's initialisation (run at once when it
    is initialised already) and one after optimizer steps. Nothing runs and no thread exists until then."""
    if getattr(torch.cuda, "_vram_lens_attached", False):
        return
    torch.cuda._vram_lens_attached = True
    _hook_steps(torch)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_after_fork)
    torch.cuda._lazy_call(shielded(lambda: _start(torch)))


def _hook_steps(torch):
    optimizer_module = sys.modules.get("torch.optim.optimizer")
    compiling = getattr(getattr(torch, "compiler", None), "is_compiling", None) or (lambda: False)

    def after_step(optimizer, args, kwargs):
        # Dynamo folds this to a constant and so leaves us out of what it compiles.
        if compiling():
            return
        session = _agent.session
        if session is None:
            return
        try:
            session.optimizer_ended(optimizer)
        except BaseException as error:
            if must_pass(error):
                raise

    register = getattr(optimizer_module, "register_optimizer_step_post_hook", None)
    if register is not None:
        register(after_step)
    else:
        _wrap_steps(getattr(optimizer_module, "Optimizer", None), after_step)


def _wrap_steps(optimizer_class, after_step):
    """torch before 2.0 has no global hook, but it wraps each optimizer class's ``step`` when the first instance is
    made: wrap once more there."""
    wrap = getattr(optimizer_class, "_hook_for_profile", None)
    if wrap is None:
        return

    @functools.wraps(wrap)
    def wrap_and_count(optimizer):
        wrap(optimizer)
        _wrap_class(type(optimizer), after_step)

    optimizer_class._hook_for_profile = wrap_and_count


@shielded
def _wrap_class(optimizer_class, after_step):
    step = optimizer_class.step
    if getattr(step, "_vram_lens_counts", False):
        return

    @functools.wraps(step)
    def counted(*args, **kwargs):
        result = step(*args, **kwargs)
        after_step(args[0], args, kwargs)
        return result

    counted._vram_lens_counts = True
    optimizer_class.step = counted


def _in_data_loader_worker():
    worker = sys.modules.get("torch.utils.data._utils.worker")
    return getattr(worker, "_worker_info", None) is not None


def _start(torch):
    """Start the agent's thread; runs inside the script's own CUDA initialisation."""
    if _agent.thread is not None or not hasattr(socket, "AF_UNIX") or _in_data_loader_worker():
        return
    thread = threading.Thread(target=_run, args=(torch, _agent), name="vram-lens", daemon=True)
    _agent.thread = thread
    atexit.register(stop)
    _stop_with_multiprocessing()
    try:
        thread.start()
    except RuntimeError:
        _agent.thread = None


def _stop_with_multiprocessing():
    """Children of multiprocessing leave by os._exit, without atexit but with its finalizers."""
    process = sys.modules.get("multiprocessing.process")
    util = sys.modules.get("multiprocessing.util")
    if util is not None and getattr(process, "_parent_process", None) is not None:
        util.Finalize(None, stop, exitpriority=0)


def _run(torch, agent):
    try:
        if _wait_for_cuda(torch, agent):
            from vram_lens_agent.session import Session
            from vram_lens_agent.socket_folder import PublishedSocket

            published = PublishedSocket()
            try:
                session = agent.session = Session(torch, published)
                # A fork from here on finds the session, and the child closes its copy of the socket.
                published.publish()
                if not agent.ending.is_set():
                    session.run()
            finally:
                published.remove()
    except BaseException:
        pass
    finally:
        agent.session = None
        agent.thread = None


def _wait_for_cuda(torch, agent):
    """True once CUDA is initialised and the process has touched a device: our call is queued *before* the flag is
    set, and another queued call may still fail."""
    from vram_lens_agent import stats

    give_up = time.monotonic() + WAIT_FOR_CUDA_S
    pause = 0.01
    while not agent.ending.is_set():
        if torch.cuda.is_initialized():
            if stats.touched_devices(torch):
                return True
            pause = min(0.25, pause * 1.05)
        elif time.monotonic() > give_up:
            return False
        agent.ending.wait(pause)
    return False


@shielded
def stop():
    """End the session and wait a moment for its files to be gone. Safe to call again."""
    agent = _agent
    agent.ending.set()
    session, thread = agent.session, agent.thread
    if session is not None:
        session.stop()
    if thread is not None and thread is not threading.current_thread():
        thread.join(_JOIN_S)


@shielded
def _after_fork():
    """In a forked child the thread is gone and the sockets are the parent's: close our copies, remove nothing."""
    global _agent
    session = _agent.session
    _agent = _Agent()
    if session is not None:
        session.close_in_child()
