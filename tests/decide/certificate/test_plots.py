from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from handrail.decide.certificate import PartsData, certify, parts_estimate, plots
from handrail.decide.drift import Detector
from handrail.errors import ConfigError


def is_png(path):
    return path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_risks(make, tmp_path):
    for pool in (make.batch(2, 5, 93), make.batch(40, 5, 55)):
        assert is_png(plots.risks(certify(make.declaration(), pool), tmp_path / "a" / "risks.png"))
    with pytest.raises(ConfigError, match="nothing to draw"):
        plots.risks(certify(make.declaration(), make.batch(0, 0, 3)), tmp_path / "none.png")


def test_power(make, tmp_path):
    assert is_png(plots.power_curve(make.declaration(), tmp_path / "power.png"))


def test_stream_leaves_the_detector_alone(tmp_path):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.random(200) < 0.05, rng.random(200) < 0.4]).astype(float)
    detector = Detector(0.08, 1000)
    before = (detector.seen, list(detector.level))
    assert is_png(plots.stream("hand-over", list(x), detector, tmp_path / "stream.png"))
    assert (detector.seen, list(detector.level)) == before
    with pytest.raises(ConfigError, match="no observations"):
        plots.stream("hand-over", [], detector, tmp_path / "none.png")


def test_parts(tmp_path):
    data = PartsData(
        (6, 400), (8, 1000), {"pick": (10, 2000)}, {"pick": (60, 2000)}, (10, 500), (2, 400), {"pick": 2.0}, 1.5
    )
    assert is_png(plots.parts(parts_estimate(data), tmp_path / "parts.png"))
