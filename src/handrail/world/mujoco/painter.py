"""Renders pictures in a process of its own, so that GL never enters the process in which physics and dry-runs happen.

MuJoCo picks its GL platform when it is imported; here that choice is made for this process alone, and a driver that fails takes
nobody with it. Run as `python -m handrail.world.mujoco.painter`; messages are pickles with a length before them, both ways.
"""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
import sys
import zlib
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]

WIDTH, HEIGHT = 640, 480


def backends() -> tuple[str, ...]:
    """GL platforms worth trying here, in order; MUJOCO_GL alone where it is set."""
    chosen = os.environ.get("MUJOCO_GL")
    if chosen:
        return (chosen,)
    if sys.platform == "darwin":
        return ("cgl",)
    return ("wgl",) if sys.platform == "win32" else ("egl", "osmesa")


@dataclass(frozen=True)
class Look:
    """A free camera: what it looks at (3,) [m], from how far [m], azimuth and elevation [degrees]; or a fixed camera's name."""

    at: tuple[float, float, float] = (0.0, 0.0, 0.5)
    distance: float = 2.0
    azimuth: float = 60.0
    elevation: float = -30.0
    camera: str | None = None


class Painter:
    """The rendering process, started at the first picture.

    Attributes:
        backend: the platform in use; None until started, or when none works.
        why: what each platform that failed said, for `handrail doctor`.
    """

    def __init__(self, spec_json: str, width: int = WIDTH, height: int = HEIGHT) -> None:
        self.backend: str | None = None
        self.why: dict[str, str] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._job = (spec_json, width, height)
        self._started = False

    def start(self) -> bool:
        """Start it with the first platform that works; False when none does."""
        if self._started:
            return self._process is not None
        self._started = True
        for name in backends():
            env = {**os.environ, "MUJOCO_GL": name}
            process = subprocess.Popen(
                [sys.executable, "-m", "handrail.world.mujoco.painter"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env,
            )  # fmt: skip
            try:
                assert process.stdin is not None and process.stdout is not None
                _send(process.stdin, self._job)
                answer = _receive(process.stdout)
            except (OSError, EOFError):
                answer = None
            if answer == "ready":
                self.backend, self._process = name, process
                return True
            _, err = process.communicate()
            self.why[name] = (err.decode(errors="replace").strip().splitlines() or ["it did not start"])[-1][:300]
        return False

    def render(self, qpos: NDArray[np.float64], look: Look) -> Pixels | None:
        """The picture (height, width, 3) of a state; None where there is no GL."""
        if not self.start():
            return None
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        try:
            _send(process.stdin, (np.array(qpos), look))
            found = _receive(process.stdout)
        except (OSError, EOFError) as e:
            self.why[self.backend or "?"] = f"the rendering process ended: {e}"
            self.close()
            return None
        return np.asarray(found, dtype=np.uint8)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
                if pipe is not None:
                    pipe.close()
            self._process.wait(timeout=10)
            self._process = None

    def __enter__(self) -> Painter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def explain() -> tuple[str | None, str]:
    """Which GL platform pictures would use here, and a sentence on why; for `handrail doctor`."""
    from handrail.world.mujoco.scene import EMPTY

    with Painter(EMPTY.model_dump_json(), 64, 48) as painter:
        if painter.start():
            tried = f" ({', '.join(painter.why)} did not work)" if painter.why else ""
            forced = " because MUJOCO_GL says so" if os.environ.get("MUJOCO_GL") else ""
            return painter.backend, f"pictures are rendered with {painter.backend}{forced}{tried}"
        said = "; ".join(f"{k}: {v}" for k, v in painter.why.items())
        return None, (
            f"no OpenGL platform works ({said}); pictures are drawn as SVG instead. On Debian or Ubuntu "
            "`apt install libegl1 libgl1-mesa-dri` or `apt install libosmesa6` adds one. Physics does not need it."
        )


def png(pixels: Pixels) -> bytes:
    """A picture (height, width, 3) as PNG."""
    h, w, _ = pixels.shape
    raw = np.concatenate([np.zeros((h, 1), np.uint8), pixels.reshape(h, w * 3)], axis=1).tobytes()

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw, 6)) + chunk(b"IEND", b"")


def _send(pipe: IO[bytes], message: Any) -> None:
    body = pickle.dumps(message)
    pipe.write(struct.pack(">Q", len(body)) + body)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    head = pipe.read(8)
    if len(head) < 8:
        raise EOFError("no answer")
    (length,) = struct.unpack(">Q", head)
    body = pipe.read(length)
    if len(body) < length:
        raise EOFError("the answer was cut")
    return pickle.loads(body)  # noqa: S301 - from the process we started, over its own pipe


def _main() -> None:
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    spec_json, width, height = _receive(source)
    import mujoco

    from handrail.world.mujoco.scene import Scene
    from handrail.world.mujoco.spec import Physical

    scene = Scene.compile(Physical.model_validate_json(spec_json))
    data = mujoco.MjData(scene.model)
    renderer = mujoco.Renderer(scene.model, height, width)
    camera = mujoco.MjvCamera()
    _send(sink, "ready")
    try:
        while True:
            qpos, look = _receive(source)
            data.qpos[:] = qpos
            mujoco.mj_forward(scene.model, data)
            if look.camera is not None:
                renderer.update_scene(data, look.camera)
            else:
                camera.lookat[:] = look.at
                camera.distance, camera.azimuth, camera.elevation = look.distance, look.azimuth, look.elevation
                renderer.update_scene(data, camera)
            renderer.scene.flags[int(mujoco.mjtRndFlag.mjRND_REFLECTION)] = 0
            _send(sink, renderer.render())
    except EOFError:
        pass
    finally:
        renderer.close()


if __name__ == "__main__":
    _main()
