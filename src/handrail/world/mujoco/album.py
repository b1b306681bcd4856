"""The pictures of a run: a still before and after each step, a film if wanted, and a report in one HTML file."""

from __future__ import annotations

import base64
import html
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from handrail.domain.plan import Step
from handrail.world.mujoco import svg
from handrail.world.mujoco.audit import Audit, audit
from handrail.world.mujoco.film import gif
from handrail.world.mujoco.outcome import Outcome
from handrail.world.mujoco.painter import Look, Painter, Pixels, png
from handrail.world.mujoco.sim import Sim

FRAME_EVERY = 20
"""Control periods between two frames of a film."""


@dataclass(frozen=True)
class Still:
    """One picture: its kind (`image/png` or `image/svg+xml`), its bytes, and whether the state it shows is sound."""

    kind: str
    data: bytes
    audit: Audit

    @property
    def uri(self) -> str:
        """The picture as a data: URI."""
        return f"data:{self.kind};base64,{base64.b64encode(self.data).decode()}"


@dataclass
class Page:
    """One step's part of the report."""

    step: Step
    before: Still | None = None
    after: Still | None = None
    outcome: Outcome | None = None


@dataclass
class Album:
    """Collects pictures; give `look` to a `MujocoWorld` as its `watch`.

    Attributes:
        gl: whether to try GL; without it (or where there is none) pictures are drawn as SVG.
        film: whether to keep frames for a GIF (needs GL); see `frame`.
    """

    gl: bool = True
    film: bool = False
    pages: list[Page] = field(default_factory=list)
    frames: list[Pixels] = field(default_factory=list)
    _painter: Painter | None = None

    def look(self, sim: Sim, step: Step, when: str) -> None:
        """Take a still before or after a step."""
        still = self.still(sim)
        if when == "before" or not self.pages or self.pages[-1].step != step:
            self.pages.append(Page(step))
        if when == "before":
            self.pages[-1].before = still
        else:
            self.pages[-1].after = still

    def still(self, sim: Sim) -> Still:
        """A picture of a state."""
        pixels = self._render(sim)
        found = audit(sim)
        if pixels is not None:
            return Still("image/png", png(pixels), found)
        around, span = svg.focus(sim)
        return Still("image/svg+xml", svg.draw(sim, around=around, span=span).encode(), found)

    def frame(self, sim: Sim) -> None:
        """Take a frame of the film, where there is GL; every 0.4 s of simulated time if given to `Sim.on_tick`."""
        if self.film and sim.memory.ticks % FRAME_EVERY == 0 and (pixels := self._render(sim)) is not None:
            self.frames.append(pixels[::2, ::2].copy())

    def _render(self, sim: Sim) -> Pixels | None:
        if not self.gl:
            return None
        if self._painter is None:
            self._painter = Painter(sim.scene.spec.model_dump_json())
        return self._painter.render(sim.data.qpos, view_of(sim))

    def close(self) -> None:
        """End the rendering process."""
        if self._painter is not None:
            self._painter.close()
            self._painter = None

    def sections(self) -> str:
        """The steps as HTML, to be put into a page."""
        return "\n".join(_section(k, p) for k, p in enumerate(self.pages, 1))

    def html(self, title: str = "Run") -> str:
        """One self-contained page."""
        reel = ""
        if self.frames:
            data = base64.b64encode(gif(self.frames)).decode()
            reel = f'<figure><img alt="The run as a film" src="data:image/gif;base64,{data}"></figure>'
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
            "<style>body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#222}"
            "section{border-top:1px solid #ddd;padding:1rem 0}figure{margin:0;display:inline-block;width:49%}"
            "img{width:100%;border-radius:6px}.bad{color:#a11}.good{color:#275}small{color:#555}</style></head><body>"
            f"<h1>{html.escape(title)}</h1>{reel}{self.sections()}</body></html>"
        )

    def save(self, path: Path, title: str = "Run") -> Path:
        """Write the page."""
        path.write_text(self.html(title), encoding="utf-8")
        return path


def view_of(sim: Sim) -> Look:
    """A camera that looks at the hand from the side of the room that is open."""
    p = sim.grip.p
    base = sim.base if sim.scene.profile.kind == "mobile_arm" else np.array([*p[:2], 1.57])
    azimuth = float(np.degrees(base[2])) + 35
    return Look((float(p[0]), float(p[1]), float(p[2]) * 0.8), 2.1, azimuth, -32.0)


def _section(k: int, page: Page) -> str:
    def figure(still: Still | None, when: str) -> str:
        if still is None:
            return ""
        note = "" if still.audit.sound else f' <b class="bad">unsound state: {html.escape(str(still.audit))}</b>'
        return f'<figure><img alt="{when} step {k}" src="{still.uri}"><figcaption><small>{when}{note}</small></figcaption></figure>'

    said = ""
    if page.outcome is not None:
        o = page.outcome
        tone = "good" if o.ok else "bad"
        near = "" if np.isinf(o.clearance) else f", clearance {max(0.0, o.clearance) * 100:.1f} cm"
        said = (
            f'<p class="{tone}">{html.escape(str(o.code))}: {html.escape(o.sentence)}</p>'
            f"<p><small>{o.seconds:.1f} s, {o.work:.0f} J{near}</small></p>"
        )
    both = figure(page.before, "before") + figure(page.after, "after")
    return f"<section><h2>{k}. {html.escape(str(page.step))}</h2>{said}{both}</section>"
