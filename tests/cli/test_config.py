from __future__ import annotations

from pathlib import Path

import pytest

from handrail.cli.config import load
from handrail.errors import ConfigError


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def env(tmp_path: Path, **more: str) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path / "config"), **more}


def test_precedence_from_weak_to_strong(tmp_path: Path) -> None:
    assert load({}, None, env(tmp_path)).replans == 3
    (tmp_path / "config" / "handrail").mkdir(parents=True)
    (tmp_path / "config" / "handrail" / "config.toml").write_text("replans = 4\nseed = 1\n")
    assert load({}, None, env(tmp_path)).replans == 4
    (tmp_path / "handrail.toml").write_text("[handrail]\nreplans = 5\n")
    assert load({}, None, env(tmp_path)).replans == 5
    assert load({}, None, env(tmp_path, HANDRAIL_REPLANS="6")).replans == 6
    strongest = load({"replans": 7, "domain": None}, None, env(tmp_path, HANDRAIL_REPLANS="6"))
    assert (strongest.replans, strongest.seed, strongest.domain) == (7, 1, "home")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"replans": -1}, "command line: replans = -1"),
        ({"replans": 21}, "less than or equal to 20"),
        ({"model_timeout": "nan"}, "model_timeout"),
        ({"model_timeout": "fast"}, "valid number"),
        ({"approve": "maybe"}, "'ask', 'yes' or 'safe'"),
        ({"replan": 1}, "Did you mean 'replans'?"),
    ],
)
def test_a_wrong_value_says_where_and_what_is_valid(tmp_path: Path, options: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError) as e:
        load(options, None, env(tmp_path))
    assert words in str(e.value)


def test_the_place_of_a_wrong_value_is_named(tmp_path: Path) -> None:
    (tmp_path / "handrail.toml").write_text("seed = -3\n")
    with pytest.raises(ConfigError, match=r"handrail\.toml: seed = -3"):
        load({}, None, env(tmp_path))
    with pytest.raises(ConfigError, match="HANDRAIL_COPIES"):
        load({"seed": 0}, None, env(tmp_path, HANDRAIL_COPIES="many"))


def test_broken_and_missing_files(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no configuration file"):
        load({}, tmp_path / "none.toml", env(tmp_path))
    bad = tmp_path / "bad.toml"
    bad.write_text("seed = = 1")
    with pytest.raises(ConfigError, match="not valid TOML"):
        load({}, bad, env(tmp_path))
