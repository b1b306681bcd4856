import subprocess
import sys

import handrail.world.mujoco as package


def test_every_public_name_resolves():
    assert list(package.__all__) == sorted(package.__all__)
    for name in package.__all__:
        assert getattr(package, name) is not None


def test_importing_the_package_does_not_load_mujoco():
    code = "import sys, handrail.world.mujoco; assert 'mujoco' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_description_is_read_without_mujoco():
    code = "import sys; from handrail.world.mujoco.spec import read_physical; assert 'mujoco' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
