"""The public surface: what is exported resolves, and importing costs little and pulls in nothing optional."""

from __future__ import annotations

import subprocess
import sys

import handrail as hr

OPTIONAL = ("mujoco", "xllamacpp", "openai", "fastapi", "matplotlib", "ortools", "highspy", "unified_planning", "rclpy")


def test_every_exported_name_resolves() -> None:
    for name in hr.__all__:
        assert getattr(hr, name) is not None, name
    assert len(set(hr.__all__)) == len(hr.__all__)
    assert set(hr.__all__) <= set(dir(hr))


def test_an_unknown_name_is_an_attribute_error() -> None:
    try:
        hr.nonsense  # noqa: B018
    except AttributeError as e:
        assert "nonsense" in str(e)
    else:
        raise AssertionError("hr.nonsense resolved")


def test_importing_pulls_in_nothing_optional() -> None:
    code = (
        "import sys, handrail, handrail.check, handrail.mission, handrail.assembly, handrail.cli.main\n"
        f"found = [m for m in {OPTIONAL!r} if m in sys.modules]\n"
        "assert not found, found\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_bare_package_imports_no_numpy() -> None:
    code = "import sys, handrail; assert 'numpy' not in sys.modules and 'pydantic' not in sys.modules, 'heavy import'"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
