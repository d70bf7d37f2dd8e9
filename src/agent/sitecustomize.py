"""Runs when Python starts with the agent's folder on PYTHONPATH.

Two duties: let torch versions without the ``torch.backends`` entry point (before 2.5) tell us when they are imported,
and run the ``sitecustomize`` that would have run without us. Imports nothing that Python has not loaded already.
"""

import os
import sys


class TorchNotice:
    """A finder that finds nothing: it only notices that torch is being imported.

    ``find_spec`` always returns None, so loaders, specs and probes such as ``find_spec("torch")`` stay as they are.
    It attaches on the first import inside torch after ``torch.cuda`` and ``torch.optim.optimizer`` are complete;
    torch imports dozens of modules after those two, so no thread has to wait for the end of the import.
    It stays in ``sys.meta_path`` when done: removing it while the import system walks that list would skip a finder.
    """

    def __init__(self, cwd):
        self.cwd = cwd
        self.watching = True

    def find_spec(self, name, path=None, target=None):
        """Never finds a module (returns None); see the class."""
        if self.watching and name[:6] == "torch.":
            try:
                self.look()
            except KeyboardInterrupt:
                raise
            except BaseException:
                self.watching = False
        return None

    def look(self):
        """Attach the agent once the two modules it needs are complete, or leave it to the entry point."""
        modules = sys.modules
        torch = modules.get("torch")
        for needed in ("torch.cuda", "torch.optim.optimizer"):
            spec = getattr(modules.get(needed), "__spec__", None)
            if spec is None or getattr(spec, "_initializing", False):
                return
        self.watching = False
        major, minor = str(torch.__version__).split(".")[:2]
        entry_point = os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD", "1") == "1"
        if (int(major), int(minor)) >= (2, 5) and entry_point:
            return
        import vram_lens_agent

        vram_lens_agent.autoload()


def _install_notice():
    if sys.version_info < (3, 8) or os.environ.get("VRAM_LENS", "").strip().lower() == "off":
        return
    try:
        cwd = os.getcwd()
    except OSError:
        cwd = ""
    # The agent reads the start folder from here: by the time torch is imported the script may have changed it.
    sys.meta_path.insert(0, TorchNotice(cwd))


def _next_spec():
    """The spec of the sitecustomize behind ours on the path, or None."""
    from importlib.machinery import PathFinder

    here = os.path.realpath(os.path.dirname(os.path.abspath(__file__)))
    for position, entry in enumerate(sys.path):
        if os.path.realpath(entry or os.curdir) == here:
            # Only what comes after us: two agent folders on one path must not call each other for ever.
            return PathFinder.find_spec("sitecustomize", sys.path[position + 1 :])
    return None


def _run_next():
    """Run the next sitecustomize under the same module name; its own errors are reported as Python always does."""
    try:
        spec = _next_spec()
        if spec is None or spec.loader is None:
            return
        from importlib.util import module_from_spec

        module = module_from_spec(spec)
    except Exception:
        return
    # importlib takes the module back from sys.modules when we return, so something must stay there.
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


try:
    _install_notice()
except Exception:
    pass
_run_next()
