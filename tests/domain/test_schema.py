"""The published schema fits what we ship, refuses what the reader refuses in the frame, and knows the reader's keys."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from handrail.domain.files import domain_from_text
from handrail.domain.schema import frame_schema
from handrail.domain.text.document import plain, read_document
from handrail.domain.text.frame import SECTIONS
from handrail.domain.text.safety import LIMITS
from handrail.domain.text.skills import KEYS
from handrail.domains import NAMES, path
from handrail.errors import DomainError


def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(frame_schema())


def data(text: str) -> Any:
    return plain(read_document(text, "f"))


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(frame_schema())


@pytest.mark.parametrize("name", [*NAMES, "starter"])
def test_what_we_ship_fits(name: str) -> None:
    assert list(map(str, validator().iter_errors(data(path(name).read_text(encoding="utf-8"))))) == []


def test_the_test_domain_fits(kitchen_text: str) -> None:
    assert list(map(str, validator().iter_errors(data(kitchen_text)))) == []


def test_it_has_the_readers_keys() -> None:
    s = frame_schema()
    assert tuple(s["properties"]) == SECTIONS
    assert tuple(s["$defs"]["skill"]["properties"]) == KEYS
    assert tuple(s["$defs"]["safety"]["properties"]["limits"]["properties"]) == LIMITS


BASE = "domain: d\nskills:\n  go: {}\n"
BAD = [
    "skills: {go: {}}",
    "domain: d",
    "domain: d\nskills: {}",
    "domain: d\nskills: {1go: {}}",
    BASE + "rules: []",
    BASE + "types: {t: {parent: u}}",
    BASE + "types: {t: {attributes: {a: int}}}",
    BASE + "types: {t: {attributes: {a: []}}}",
    BASE + "objects: {o: {sharp: true}}",
    BASE + "fluents: [{at: b}]",
    BASE + "safety: {limits: {speed: 0.5}}",
    BASE + "safety: {limits: {speed: .nan}}",
    BASE + "safety: {limits: {speed: -1 m/s}}",
    BASE + "safety: {limits: {speed: fast}}",
    BASE + "safety: {limits: {torque: 1 N}}",
    BASE + "safety: {forbid: [{when: x}]}",
    "domain: d\nskills: {go: {cost: -1}}",
    "domain: d\nskills: {go: {cost: {a: x}}}",
    "domain: d\nskills: {go: {on_stop: freeze}}",
    "domain: d\nskills: {go: {repeatable: maybe}}",
    "domain: d\nskills: {go: {speed: 3}}",
    "domain: d\nskills: {go: {preconditions: []}}",
    BASE + "scenarios: {s: {requests: [{goal: x}]}}",
    BASE + "scenarios: {s: {requests: [{say: hi, expect: dance}]}}",
]


@pytest.mark.parametrize("text", BAD)
def test_schema_and_reader_refuse_alike(text: str) -> None:
    assert not validator().is_valid(data(text))
    if "scenarios" not in text:
        with pytest.raises(DomainError):
            domain_from_text(text, "f.yaml")
