"""Frames as an animated GIF, without a library: 125 colours, only the changed rectangle of each frame stored."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]

_LEVELS = 5
_CLEAR, _END = 128, 129


def gif(frames: Sequence[Pixels], seconds: float = 0.1) -> bytes:
    """An endless animation.

    With 128 colours LZW codes are one byte wide until the table reaches 256 entries; clearing it every 120 pixels keeps them
    so, which turns the encoder into a copy (a larger file for a hundredth of the time).

    Args:
        frames: pictures (height, width, 3) of one size; at least one.
        seconds: that each is shown.

    Raises:
        ValueError: no frames, or frames of different sizes.
    """
    if not frames:
        raise ValueError("a film needs at least one frame")
    h, w, _ = frames[0].shape
    if any(f.shape != frames[0].shape for f in frames):
        raise ValueError("all frames of a film must have one size")
    steps = np.round(np.linspace(0, 255, _LEVELS)).astype(np.uint8)
    table = np.zeros((128, 3), np.uint8)
    grid = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), -1).reshape(-1, 3)
    table[: len(grid)] = grid
    out = [b"GIF89a", struct.pack("<HHBBB", w, h, 0xF6, 0, 0), table.tobytes()]
    out.append(b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00")
    before: Pixels | None = None
    for frame in frames:
        level = ((frame.astype(np.uint16) * (_LEVELS - 1) + 127) // 255).astype(np.uint8)
        index = (level[..., 0] * _LEVELS * _LEVELS + level[..., 1] * _LEVELS + level[..., 2]).astype(np.uint8)
        y0, y1, x0, x1 = 0, h, 0, w
        if before is not None:
            rows, cols = np.flatnonzero((index != before).any(axis=1)), np.flatnonzero((index != before).any(axis=0))
            if len(rows):
                y0, y1, x0, x1 = int(rows[0]), int(rows[-1]) + 1, int(cols[0]), int(cols[-1]) + 1
            else:
                y0, y1, x0, x1 = 0, 1, 0, 1
        out.append(b"\x21\xf9\x04\x04" + struct.pack("<H", max(2, round(seconds * 100))) + b"\x00\x00")
        out.append(b"\x2c" + struct.pack("<HHHHB", x0, y0, x1 - x0, y1 - y0, 0) + b"\x07")
        out.append(_blocks(index[y0:y1, x0:x1].ravel()))
        before = index
    out.append(b"\x3b")
    return b"".join(out)


def _blocks(index: Pixels) -> bytes:
    pad = (-len(index)) % 120
    rows = np.concatenate([index, np.zeros(pad, np.uint8)]).reshape(-1, 120)
    coded = np.concatenate([np.full((len(rows), 1), _CLEAR, np.uint8), rows], axis=1).ravel()
    coded = np.concatenate([coded[: len(coded) - pad], np.array([_END], np.uint8)])
    body = coded.tobytes()
    return b"".join(bytes([len(body[i : i + 255])]) + body[i : i + 255] for i in range(0, len(body), 255)) + b"\x00"
