"""The private folder of sockets: where it is, what lies in it, who may remove what."""

import os
import secrets
import socket
import stat

from vram_lens_agent import identity

PATH_LIMIT = 100
"""Longest socket path in bytes: the kernel takes 107, some systems 103."""
_FOLDER_ENTRIES_LIMIT = 4096


class FolderRefused(Exception):
    """The folder is somebody else's, a link, or cannot be made: the agent does not start."""


def candidate_folders():
    """Where sockets may lie, best first. Clients look in all of them."""
    folders = []
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime) and os.path.isdir(runtime):
        folders.append(os.path.join(runtime, "vram-lens"))
    folders.append("/tmp/vram-lens-{}".format(os.getuid()))
    return folders


def _secure(folder):
    """Make the folder, or check that an existing one is ours, no link, and closed to others (closed if it is not)."""
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        pass
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise FolderRefused(folder)
    if stat.S_IMODE(found.st_mode) != 0o700:
        os.chmod(folder, 0o700)


def base_name():
    """File name of this process's socket without its ending."""
    return "-".join(identity.place() + (str(os.getpid()), identity.process_start() or "0"))


def _choose(name):
    refusal = None
    for folder in candidate_folders():
        if len(os.fsencode(os.path.join(folder, name + ".sock"))) > PATH_LIMIT:
            continue
        try:
            _secure(folder)
            return folder
        except OSError as error:
            refusal = error
    raise FolderRefused("no folder for the socket: {}".format(refusal))


def remove_dead(folder):
    """Remove what processes of this very host, boot and PID namespace left behind; nothing of any other."""
    prefix = "-".join(identity.place()) + "-"
    with os.scandir(folder) as entries:
        for _, entry in zip(range(_FOLDER_ENTRIES_LIMIT), entries):
            name, _, ending = entry.name.partition(".")
            if not name.startswith(prefix) or ending not in ("sock", "token", "new"):
                continue
            pid, _, start = name[len(prefix) :].partition("-")
            if pid.isdigit() and start.isdigit() and not _lives(int(pid), start):
                _unlink(entry.path)


def _lives(pid, start):
    if start != "0":
        return identity.process_start(pid) == start
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _unlink(path):
    try:
        os.unlink(path)
    except OSError:
        pass


class PublishedSocket:
    """Our listening socket and its token, none of it there before ``publish``: who closes a forked child's copies must
    know this object before the socket exists."""

    def __init__(self):
        self.pid = os.getpid()
        self.token = secrets.token_hex(16)
        self.listener = self.path = self.token_path = None

    def publish(self):
        """Make the files. The socket appears complete: bound and listening under another name first, the token
        already beside it. Raises FolderRefused and OSError, and then leaves nothing."""
        name = base_name()
        folder = _choose(name)
        base = os.path.join(folder, name)
        self.path = base + ".sock"
        self.token_path = base + ".token"
        remove_dead(folder)
        # After exec the process keeps PID and start time: a file of this name can only be our own earlier one.
        _unlink(self.token_path)
        _unlink(base + ".new")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.listener.setblocking(False)
            self._write_token()
            self.listener.bind(base + ".new")
            os.chmod(base + ".new", 0o600)
            self.listener.listen(16)
            os.rename(base + ".new", self.path)
        except BaseException:
            self.listener.close()
            for path in (self.token_path, base + ".new"):
                _unlink(path)
            raise

    def _write_token(self):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self.token_path, flags, 0o600)
        try:
            os.write(descriptor, self.token.encode("ascii"))
        finally:
            os.close(descriptor)

    def remove(self):
        """Close the listener and remove both files, where there are any; a forked child only closes."""
        if self.listener is None:
            return
        self.listener.close()
        if os.getpid() == self.pid:
            _unlink(self.path)
            _unlink(self.token_path)
