"""Compiles the C++ extension `simulated_cuda` for the torch at hand, once, and loads it.

torch's C++ interface changes with every release, so the extension cannot be shipped compiled. It is
built at first use and kept in `<cache>/vram-lens/simulated_cuda/<key>/simulated_cuda.so`. The key names
torch's version, its C++ ABI, Python's version and a hash of the sources and flags, so an update of any of
them builds anew. torch.utils.cpp_extension is not used: it wants ninja.
"""

import contextlib
import hashlib
import importlib.machinery
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from types import ModuleType
from typing import Iterator, List

from .messages import SimulatorError, text

MODULE = "simulated_cuda"
LIBRARIES = ("c10", "torch_cpu", "torch", "torch_python")
PARALLEL_JOBS = 2  # one translation unit that includes torch takes up to 1.5 GiB of memory to compile


def ensure_built(torch: ModuleType) -> Path:
    """The compiled extension for this torch, compiling it when no earlier process did. Raises SimulatorError."""
    if sys.platform == "win32":
        raise SimulatorError(text("no_windows"))
    sources = _sources()
    flags = _flags(torch)
    folder = _cache_folder()
    key = _key(torch, sources, flags)
    library = folder / key / f"{MODULE}.so"
    if library.exists():
        return library
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _exclusive(folder / f"{key}.lock", torch):
            if not library.exists():  # unless another process built it while this one waited
                _compile(torch, sources, flags, library)
    except OSError as error:
        raise SimulatorError(text("no_cache", reason=error)) from error
    return library


def load(library: Path) -> ModuleType:
    """Import the compiled extension. One that cannot be loaded (the C++ library changed) is removed, to be built anew."""
    name = f"{__package__}.{MODULE}"
    loader = importlib.machinery.ExtensionFileLoader(name, str(library))
    spec = importlib.util.spec_from_file_location(name, str(library), loader=loader)
    assert spec is not None
    try:
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
    except ImportError as error:
        shutil.rmtree(library.parent, ignore_errors=True)
        raise SimulatorError(text("load_failed", reason=error)) from error
    sys.modules[name] = module
    return module


def _sources() -> List[Path]:
    """The extension's C++ files: beside the package in an installed copy, in native/ in the source tree."""
    here = Path(__file__).resolve().parent.parent
    folders = [here / "native", here.parent.parent / "native" / MODULE]
    for folder in folders:
        files = sorted(folder.glob("*.cc")) + sorted(folder.glob("*.h"))
        if files:
            return files
    raise SimulatorError(text("no_sources", folders=", ".join(map(str, folders))))


def _flags(torch: ModuleType) -> List[str]:
    """Compiler flags that make object files fit this torch and this Python."""
    include = Path(torch.__file__).parent / "include"
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    # torch's headers need C++20 from 2.12 on (measured by building against the releases).
    standard = "c++20" if version >= (2, 12) else "c++17"
    return [
        "-O2",
        f"-std={standard}",
        "-fPIC",
        "-fvisibility=hidden",
        f"-DTORCH_EXTENSION_NAME={MODULE}",
        "-DTORCH_API_INCLUDE_EXTENSION_H",
        f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}",
        f"-I{include}",
        f"-I{include}/torch/csrc/api/include",
        f"-I{sysconfig.get_paths()['include']}",
    ]


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "vram-lens" / MODULE


def _key(torch: ModuleType, sources: List[Path], flags: List[str]) -> str:
    digest = hashlib.sha256("\0".join(flags).encode())
    for source in sources:
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    abi = "cxx11" if torch.compiled_with_cxx11_abi() else "pre-cxx11"
    python = f"{sys.implementation.name}{sys.version_info[0]}{sys.version_info[1]}"
    return f"{torch.__version__}-{abi}-{python}-{digest.hexdigest()[:16]}"


@contextlib.contextmanager
def _exclusive(lock: Path, torch: ModuleType) -> Iterator[None]:
    """Only one process at a time builds; the others wait here. The lock goes with the process that holds it."""
    import fcntl

    with open(lock, "w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say(text("waiting", version=torch.__version__))
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _compiler() -> List[str]:
    named = shlex.split(os.environ.get("CXX", ""))
    for candidate in [named] if named else [["c++"], ["g++"], ["clang++"]]:
        if shutil.which(candidate[0]):
            return candidate
    raise SimulatorError(text("no_compiler"))


def _check_headers(torch: ModuleType) -> None:
    """Say what to install before a compiler says it in its own way."""
    python_header = Path(sysconfig.get_paths()["include"]) / "Python.h"
    if not python_header.exists():
        raise SimulatorError(text("no_python_headers", path=python_header))
    torch_header = Path(torch.__file__).parent / "include" / "torch" / "extension.h"
    if not torch_header.exists():
        raise SimulatorError(text("no_torch_headers", path=torch_header))


def _compile(torch: ModuleType, sources: List[Path], flags: List[str], library: Path) -> None:
    """Compile and link in a temporary folder, then move it into place in one step."""
    compiler = _compiler()
    _check_headers(torch)
    _say(text("preparing", version=torch.__version__))
    started = time.monotonic()
    target = library.parent
    log = target.with_name(f"{target.name}.log")
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as temporary:
        work = Path(temporary)
        units = [source for source in sources if source.suffix == ".cc"]
        objects = [work / f"{unit.stem}.o" for unit in units]
        commands = [
            [*compiler, *flags, "-c", str(unit), "-o", str(object_file)] for unit, object_file in zip(units, objects)
        ]
        # The largest first: the last one to start decides when all are ready.
        commands.sort(key=lambda command: -Path(command[-3]).stat().st_size)
        _run(commands, torch, log)
        libraries = Path(torch.__file__).parent / "lib"
        built = work / "built"
        built.mkdir()
        link = [*compiler, "-shared", *map(str, objects), "-o", str(built / library.name)]
        link += [f"-L{libraries}", f"-Wl,-rpath,{libraries}", *(f"-l{name}" for name in LIBRARIES)]
        if sys.platform == "darwin":  # Python's own symbols are found when the module is loaded
            link += ["-undefined", "dynamic_lookup"]
        _run([link], torch, log)
        built.rename(target)
    log.unlink(missing_ok=True)
    _say(text("ready", seconds=time.monotonic() - started))


def _run(commands: List[List[str]], torch: ModuleType, log: Path) -> None:
    """Run the commands, at most PARALLEL_JOBS at once; the first failure stops all and raises SimulatorError."""
    environment = {**os.environ, "LC_ALL": "C"}
    waiting = list(commands)
    running: List[subprocess.Popen] = []
    with open(log, "w+", encoding="utf-8", errors="replace") as output:
        try:
            while waiting or running:
                while waiting and len(running) < PARALLEL_JOBS:
                    command = waiting.pop(0)
                    running.append(subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment))
                time.sleep(0.02)
                for process in [process for process in running if process.poll() is not None]:
                    running.remove(process)
                    if process.returncode != 0:
                        output.seek(0)
                        line = _first_error(output.read().splitlines(), process.returncode)
                        raise SimulatorError(text("compile_failed", version=torch.__version__, line=line, log=log))
        finally:
            for process in running:
                process.kill()
                process.wait()


def _first_error(lines: List[str], code: int) -> str:
    for line in lines:
        if "error" in line.lower() or "undefined reference" in line:
            return line.strip()
    return lines[-1].strip() if lines else f"exit code {code}"


def _say(sentence: str) -> None:
    print(f"VRAM Lens: {sentence}", file=sys.stderr, flush=True)
