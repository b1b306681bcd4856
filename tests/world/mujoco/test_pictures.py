import struct
import xml.etree.ElementTree as ET
import zlib

import numpy as np
import pytest

from handrail.domain.plan import Step
from handrail.world.mujoco import svg
from handrail.world.mujoco.album import Album
from handrail.world.mujoco.film import gif
from handrail.world.mujoco.painter import Look, Painter, backends, png


def unpng(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, body, size = 8, b"", None
    while at < len(data):
        (n,) = struct.unpack(">I", data[at : at + 4])
        kind, chunk = data[at + 4 : at + 8], data[at + 8 : at + 8 + n]
        assert struct.unpack(">I", data[at + 8 + n : at + 12 + n])[0] == zlib.crc32(kind + chunk)
        if kind == b"IHDR":
            size = struct.unpack(">II", chunk[:8])
        if kind == b"IDAT":
            body += chunk
        at += 12 + n
    w, h = size
    rows = np.frombuffer(zlib.decompress(body), np.uint8).reshape(h, 1 + 3 * w)
    assert (rows[:, 0] == 0).all()
    return rows[:, 1:].reshape(h, w, 3)


def lzw(data, bits):
    """A plain GIF decoder, to read back what was written."""
    clear, end = 1 << bits, (1 << bits) + 1
    table, width, out, previous = [], bits + 1, [], None
    acc = have = 0
    for byte in data:
        acc |= byte << have
        have += 8
        while have >= width:
            code = acc & ((1 << width) - 1)
            acc >>= width
            have -= width
            if code == clear:
                table, width, previous = [[i] for i in range(clear)] + [None, None], bits + 1, None
                continue
            if code == end:
                return out
            entry = table[code] if code < len(table) else [*previous, previous[0]]
            out += entry
            if previous is not None and len(table) < 4096:
                table.append([*previous, entry[0]])
                if len(table) == 1 << width and width < 12:
                    width += 1
            previous = entry
    raise AssertionError("no end code")


def ungif(data):
    assert data[:6] == b"GIF89a" and data[-1:] == b"\x3b"
    w, h = struct.unpack("<HH", data[6:10])
    table = np.frombuffer(data[13 : 13 + 384], np.uint8).reshape(128, 3)
    at, frames, canvas = 13 + 384, [], np.zeros((h, w, 3), np.uint8)
    while data[at] != 0x3B:
        if data[at] == 0x21:
            at += 2
            while data[at]:
                at += data[at] + 1
            at += 1
            continue
        x, y, fw, fh = struct.unpack("<HHHH", data[at + 1 : at + 9])
        bits = data[at + 10]
        at += 11
        body = b""
        while data[at]:
            body += data[at + 1 : at + 1 + data[at]]
            at += data[at] + 1
        at += 1
        index = np.array(lzw(body, bits), np.uint8)
        assert len(index) == fw * fh
        canvas = canvas.copy()
        canvas[y : y + fh, x : x + fw] = table[index].reshape(fh, fw, 3)
        frames.append(canvas)
    return frames


def test_png_keeps_every_pixel():
    pixels = np.random.default_rng(0).integers(0, 256, (7, 5, 3)).astype(np.uint8)
    assert (unpng(png(pixels)) == pixels).all()


def test_gif_plays_back_what_was_filmed():
    rng = np.random.default_rng(0)
    levels = np.round(np.linspace(0, 255, 5)).astype(np.uint8)
    first = levels[rng.integers(0, 5, (40, 37, 3))]
    second = first.copy()
    second[10:20, 5:9] = (255, 0, 128)
    frames = [first, second, second]
    back = ungif(gif(frames))
    assert len(back) == 3
    for a, b in zip(frames, back, strict=True):
        assert np.abs(a.astype(int) - b.astype(int)).max() <= 32  # colours are rounded to five levels
    assert (back[1] == back[2]).all()


def test_films_need_frames_of_one_size():
    with pytest.raises(ValueError, match="at least one"):
        gif([])
    with pytest.raises(ValueError, match="one size"):
        gif([np.zeros((2, 2, 3), np.uint8), np.zeros((3, 2, 3), np.uint8)])


def test_svg_is_well_formed_and_shows_the_things(sim):
    text = svg.draw(sim)
    root = ET.fromstring(text)
    polygons = root.findall("{http://www.w3.org/2000/svg}polygon")
    assert len(polygons) > 100
    assert "nan" not in text
    around, span = svg.focus(sim)
    assert svg.draw(sim, around=around, span=span) != text


def test_hull():
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5], [0.2, 0.9]])
    assert len(svg._hull(square)) == 4


def test_an_album_without_gl_is_self_contained(sim, tmp_path):
    album = Album(gl=False)
    step = Step("pick", ("robot_1", "hand_1", "mug"))
    album.look(sim, step, "before")
    album.look(sim, step, "after")
    page = album.save(tmp_path / "run.html", "Two <mugs>").read_text(encoding="utf-8")
    assert "Two &lt;mugs&gt;" in page and page.count("data:image/svg+xml;base64,") == 2
    assert "http://" not in page and "https://" not in page and "unsound" not in page


def test_rendering_happens_in_another_process(sim):
    with Painter(sim.scene.spec.model_dump_json(), 80, 60) as painter:
        if not painter.start():
            assert set(painter.why) == set(backends())
            pytest.skip(f"no GL here: {painter.why}")
        pixels = painter.render(sim.data.qpos, Look(camera="over"))
        assert pixels.shape == (60, 80, 3) and pixels.std() > 5


def test_a_platform_that_fails_is_explained(sim, monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "nonsense")
    with Painter(sim.scene.spec.model_dump_json(), 16, 16) as painter:
        assert painter.render(sim.data.qpos, Look()) is None
        assert "nonsense" in painter.why
