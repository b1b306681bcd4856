"""Locks between processes that a crash can't leave behind (flock: the kernel frees them when the process ends)."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path


class FileLock:
    """An exclusive lock on a file. The file stays; only the lock on it counts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd: int | None = None

    def take(self) -> bool:
        """Try to take it; whether it is ours now. Waits at most 50 ms, because `is_held` holds a lock for a moment to ask."""
        if self._fd is not None:
            return True
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        for left in range(5, -1, -1):
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if not left:
                    os.close(fd)
                    return False
                time.sleep(0.01)
        os.ftruncate(fd, 0)
        os.pwrite(fd, str(os.getpid()).encode(), 0)
        self._fd = fd
        return True

    def holder(self) -> str:
        """` (process 123)` as the holder noted it, or nothing."""
        try:
            text = self.path.read_text(encoding="utf-8").strip()
        except OSError:
            return ""
        return f" (process {text})" if text else ""

    def release(self) -> None:
        """Give it back. May be called twice."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def is_held(path: Path) -> bool:
    """Whether some process holds the lock."""
    if not path.exists():
        return False
    fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False
