"""Domain files: reading them, their scenes, and finding those that are shipped.

A file is YAML 1.2 with the sections `domain`, `types`, `fluents`, `derived`, `numbers`, `objects`, `skills`, `safety`, `scenarios`
and `physical`. The last two are kept as plain data in `Domain.extra`; `load_scene` reads the scenarios.
"""

from __future__ import annotations

from pathlib import Path

from handrail.domain.domain import Domain
from handrail.domain.text.document import read_document
from handrail.domain.text.frame import read_domain
from handrail.domain.text.scenes import Expect, Request, Scene, read_scene, scene_names
from handrail.errors import DomainError, Where

MAX_BYTES = 20_000_000
"""A domain file that is larger is refused."""


def load_domain(path: str | Path) -> Domain:
    """Read a domain file: YAML, or PDDL where the name ends in `.pddl`.

    Raises:
        DomainError: the file is not there or something in it is wrong. Every mistake is named with file, line and column and with
            what would be valid; `where` is the first one's.
    """
    path = Path(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DomainError(f"the file is larger than {MAX_BYTES // 1_000_000} MB", Where(str(path)))
        text = path.read_text(encoding="utf-8-sig")
    except OSError as e:
        raise DomainError(f"can't read the domain file: {e.strerror or e}", Where(str(path))) from None
    except UnicodeDecodeError as e:
        raise DomainError(f"the domain file is not UTF-8: {e.reason} at byte {e.start}", Where(str(path))) from None
    if path.suffix.lower() == ".pddl":
        from handrail.domain.pddl import read_domain as read_pddl

        return read_pddl(text, str(path))
    return domain_from_text(text, str(path))


def domain_from_text(text: str, source: str = "<text>") -> Domain:
    """Read a domain from the text of a YAML file.

    Args:
        text: the file's text.
        source: what errors call it.

    Raises:
        DomainError: as `load_domain`.
    """
    return read_domain(read_document(text, source), source)


def load_scene(domain: Domain, name: str | None = None) -> Scene:
    """A scene of the domain's `scenarios:` part; the first where no name is given.

    Raises:
        DomainError: there is none of that name, or something in it is wrong.
    """
    return read_scene(domain, name)


__all__ = ["Expect", "Request", "Scene", "domain_from_text", "load_domain", "load_scene", "scene_names"]
