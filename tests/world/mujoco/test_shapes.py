import numpy as np
import pytest

from handrail.world.mujoco import shapes


def test_grasp_frames_are_rotations(spec):
    for item in spec.items.values():
        g = shapes.grasps(item.shape)
        assert len(g) == len(g.width) == len(g.kind)
        assert np.allclose(g.rotation @ g.rotation.transpose(0, 2, 1), np.eye(3), atol=1e-9)
        assert np.allclose(np.linalg.det(g.rotation), 1)


def test_grasps_lie_at_the_item(spec):
    for item in spec.items.values():
        g = shapes.grasps(item.shape)
        tall, wide = shapes.height(item.shape), shapes.footprint(item.shape)
        assert (g.position[:, 2] > 0.005).all() and (g.position[:, 2] <= tall + 1e-9).all()
        assert (np.hypot(g.position[:, 0], g.position[:, 1]) <= wide + 1e-9).all()


def test_nothing_is_approached_from_below(spec):
    for item in spec.items.values():
        assert (shapes.grasps(item.shape).rotation[:, 2, 2] <= 1e-9).all()


@pytest.mark.parametrize(("item", "narrowest"), [("box", 0.18), ("cube", 0.05), ("mug", 0.008), ("cola", 0.066)])
def test_widths(spec, item, narrowest):
    assert shapes.grasps(spec.items[item].shape).width.min() == pytest.approx(narrowest, abs=1e-3)


def test_the_ear_of_a_mug_is_left_alone(spec):
    g = shapes.grasps(spec.items["mug"].shape)
    for p, r, kind in zip(g.position, g.rotation, g.kind, strict=True):
        if kind in ("side", "low", "slant"):
            # Neither a finger (along the opening) nor the palm (against the approach) points to the ear at azimuth 0.
            assert abs(r[0, 1]) < 0.83
            assert -r[0, 2] < 0.83
        if kind == "rim":
            assert p[0] < 0.03


def test_mass_is_what_the_description_says(scene):
    for name, item in scene.spec.items.items():
        assert scene.model.body_mass[scene.body[name]] == pytest.approx(item.mass, rel=1e-5)
