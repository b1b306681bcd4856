import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.world.mujoco.kinematics import axis_rotation, matrix_quat, quat_matrix, rot_z, rotation_error
from handrail.world.mujoco.reach import starts

unit = st.floats(0, 1, allow_nan=False)
quats = st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: sum(x * x for x in q) > 0.05)


@given(quats)
def test_quaternion_and_matrix_agree(q):
    r = quat_matrix(np.array(q))
    assert np.allclose(r @ r.T, np.eye(3), atol=1e-9) and np.linalg.det(r) > 0
    back = matrix_quat(r)
    given_ = np.array(q) / np.linalg.norm(q)
    assert min(np.abs(back - given_).max(), np.abs(back + given_).max()) < 1e-7


@given(st.floats(-3, 3))
def test_rotations_about_z(a):
    assert np.allclose(rot_z(a), axis_rotation(np.array([0, 0, 1.0]), a))


@settings(max_examples=25, deadline=None)
@given(st.lists(unit, min_size=8, max_size=8))
def test_forward_kinematics_is_mujocos(scene, share):
    chain = scene.arm
    q = chain.low + np.array(share) * (chain.high - chain.low)
    data = mujoco.MjData(scene.model)
    data.qpos[scene.arm_q] = q
    mujoco.mj_kinematics(scene.model, data)
    p, r = chain.forward(q[None])
    assert np.allclose(p[0], data.site("robot.grip").xpos, atol=1e-9)
    assert np.allclose(r[0].ravel(), data.site("robot.grip").xmat, atol=1e-9)


def test_jacobian_is_the_derivative(scene):
    chain = scene.whole
    rng = np.random.default_rng(1)
    q = np.concatenate([[0.3, -0.2, 0.7], scene.ready + rng.normal(size=8) * 0.1])[None]
    _, r, jac = chain.jacobian(q)
    for i in range(chain.n):
        h = 1e-6
        step = np.zeros_like(q)
        step[0, i] = h
        p1, r1 = chain.forward(q + step)
        p0, r0 = chain.forward(q - step)
        assert np.allclose((p1 - p0)[0] / (2 * h), jac[0, :3, i], atol=1e-6)
        assert np.allclose(rotation_error(r1, r0)[0] / (2 * h), jac[0, 3:, i], atol=1e-5)
    assert r.shape == (1, 3, 3)


def test_inverse_kinematics_reaches_grasps_from_above(scene):
    chain = scene.arm
    rng = np.random.default_rng(3)
    p = np.column_stack([rng.uniform(0.4, 0.6, 64), rng.uniform(-0.25, 0.25, 64), rng.uniform(0.6, 1.2, 64)])
    down = np.column_stack([[1, 0, 0], [0, -1, 0], [0, 0, -1.0]])
    r = rot_z(rng.uniform(-1.5, 1.5, 64)) @ down
    found, ok = chain.solve(p, r, starts(scene, p, r, 0), scene.ready)
    again, ok2 = chain.solve(p, r, starts(scene, p, r, 1), scene.ready)
    assert (ok | ok2).mean() > 0.95
    at, turned = chain.forward(found[ok])
    assert np.abs(at - p[ok]).max() < 1e-3
    assert np.linalg.norm(rotation_error(r[ok], turned), axis=1).max() < 1e-2
    assert (found >= chain.low).all() and (found <= chain.high).all()
    assert again.shape == found.shape


def test_out_of_reach_is_said_so(scene):
    p, r = np.array([[0.5, 0.0, 3.0]]), np.diag([1.0, -1.0, -1.0])[None]
    _, ok = scene.arm.solve(p, r, scene.ready[None], scene.ready)
    assert not ok[0]


@pytest.mark.parametrize("variant", [0, 1, 2])
def test_starts_for_grasps_from_above_are_nearly_solutions(scene, variant):
    p = np.array([[0.55, 0.1, 0.95], [0.6, -0.2, 1.1], [0.5, 0.0, 0.8]])
    r = np.stack([np.column_stack([[1, 0, 0], [0, -1, 0], [0, 0, -1.0]])] * 3)
    q = starts(scene, p, r, variant)
    at, _ = scene.arm.forward(q)
    assert np.linalg.norm(at - p, axis=1).max() < 0.25  # the lift may be at its end
    if variant == 0:
        assert np.linalg.norm(at - p, axis=1).min() < 1e-6
