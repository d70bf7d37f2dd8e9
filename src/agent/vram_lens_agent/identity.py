"""Who this process is: the parts of the socket's name, the script, the start time."""

import hashlib
import os
import socket
import sys
import time

# Programs that run another script in their own process and put that script into sys.argv[0].
_RUNNERS = frozenset(
    ["debugpy", "pdb", "ipdb", "cProfile", "profile", "trace", "coverage", "kernprof", "viztracer", "scalene", "memray"]
)
# Interpreter options whose value is the next argument.
_OPTIONS_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")


def _read(path):
    with open(path, "rb") as file:
        return file.read(65536).decode("utf-8", "replace")


def process_start(pid="self"):
    """Start time of a process in clock ticks since boot, as text: field 22 of /proc/PID/stat. "0" without /proc,
    None when the process does not exist."""
    try:
        text = _read("/proc/{}/stat".format(pid))
    except OSError:
        return None if os.path.exists("/proc/self/stat") else "0"
    # The second field is the command in brackets and may hold spaces and brackets itself.
    return text.rpartition(")")[2].split()[19]


def place():
    """(host, boot, pid namespace): sockets of another place are never touched. "0" for what the system lacks."""
    host = hashlib.sha256(socket.gethostname().encode("utf-8", "replace")).hexdigest()[:8]
    try:
        boot = _read("/proc/sys/kernel/random/boot_id").strip().replace("-", "")[:8] or "0"
    except OSError:
        boot = "0"
    try:
        namespace = "".join(c for c in os.readlink("/proc/self/ns/pid") if c.isdigit()) or "0"
    except OSError:
        namespace = "0"
    return host, boot, namespace


def start_time_ms():
    """When this process started, milliseconds since 1970; now where the system does not say."""
    now = time.time()
    try:
        ticks = int(process_start())
        if ticks > 0:
            age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
            return int((now - max(0.0, age)) * 1000)
    except (AttributeError, TypeError, ValueError, OSError):
        pass
    return int(now * 1000)


def start_folder():
    """The working directory at start, as sitecustomize saw it; the present one where it did not run."""
    for finder in sys.meta_path:
        if type(finder).__name__ == "TorchNotice" and getattr(finder, "cwd", ""):
            return finder.cwd
    try:
        return os.getcwd()
    except OSError:
        return ""


def _command_line():
    words = getattr(sys, "orig_argv", None)
    if words:
        return list(words)
    try:
        return _read("/proc/self/cmdline").split("\0")[:-1]
    except OSError:
        return []


def script_of(words, argv0):
    """What a command line runs: the script's path, ``-c``, or ``-m name``; ``argv0`` where the line does not say.

    >>> script_of(["python3", "-u", "-W", "ignore", "train.py", "--lr"], "train.py")
    'train.py'
    """
    found = ""
    position = 1
    while position < len(words):
        word = words[position]
        if word in _OPTIONS_WITH_VALUE:
            position += 2
            continue
        if not word.startswith("-") or word == "-":
            found = word
            break
        if not word.startswith("--"):
            # Short options combine: -um pkg.train, -Ic code, -mpkg.train.
            for index, letter in enumerate(word[1:], 1):
                if letter == "c":
                    return "-c"
                if letter == "m":
                    rest = word[index + 1 :]
                    found = "-m " + (rest or "".join(words[position + 1 : position + 2]))
                    break
                if letter in "WX":
                    break
            if found:
                break
        position += 1
    name = os.path.basename(found[3:].split(".")[0] if found.startswith("-m ") else found)
    if name in _RUNNERS and argv0 and argv0 not in ("-c", "-m"):
        return argv0
    return found or argv0


def script():
    """Path of the script as this process was started with it (see ``script_of``)."""
    argv = getattr(sys, "argv", None) or [""]
    return script_of(_command_line(), str(argv[0]))


def whole_number(name):
    """An environment variable as an integer, None when absent or something else."""
    try:
        return int(os.environ[name])
    except (KeyError, ValueError):
        return None
