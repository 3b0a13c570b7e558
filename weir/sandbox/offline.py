"""Keeps a process from opening connections: the kernel refuses its calls."""

from __future__ import annotations

import ctypes
import platform
import struct

_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_LOAD, _EQUALS, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | 1  # EPERM
_X32 = 0x40000000
"""Numbers from here on are the same calls of another interface."""
_CALLS = {
    "x86_64": (0xC000003E, {"socket": 41, "connect": 42, "execve": 59, "execveat": 322}),
    "aarch64": (0xC00000B7, {"socket": 198, "connect": 203, "execve": 221, "execveat": 281}),
}
_IO_URING_SETUP = 425  # on all architectures; its calls pass no filter


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def go_offline() -> bool:
    """Refuse this process and its threads sockets and other programs, from now on.

    What is open stays open.

    Returns:
        Whether the kernel does: Linux on x86-64 and ARM, where it allows filters of calls.
    """
    known = _CALLS.get(platform.machine())
    if platform.system() != "Linux" or known is None:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    code = _program(known[0], [*known[1].values(), _IO_URING_SETUP])
    program = _Program(len(code) // 8, code)
    calls = (_NO_NEW_PRIVILEGES, 1, 0, 0, 0), (_SECCOMP, _FILTER, ctypes.byref(program), 0, 0)
    return all(libc.prctl(*call) == 0 for call in calls)


def _program(architecture: int, refused: list[int]) -> bytes:
    """A filter: load the architecture, then the number of the call, and compare them."""
    last = len(refused) + 5
    steps = [(_LOAD, 0, 0, 4), (_EQUALS, 0, last - 2, architecture), (_LOAD, 0, 0, 0)]
    steps.append((_AT_LEAST, last - 4, 0, _X32))
    steps += [(_EQUALS, last - 5 - i, 0, call) for i, call in enumerate(refused)]
    steps += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE)]
    return b"".join(struct.pack("HBBI", *step) for step in steps)
