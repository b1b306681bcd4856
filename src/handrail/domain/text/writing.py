"""A domain as a file again: what `load_domain` reads back to the same meaning, and the same fingerprint."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from typing import Any

from handrail.domain.domain import Domain, Number
from handrail.domain.formula import FALSE, TRUE
from handrail.domain.rules import Rule
from handrail.domain.skill import OnStop, Skill
from handrail.domain.text.document import plain
from handrail.domain.text.rename import renamed
from handrail.domain.types import Kind, Obj, Type
from handrail.domain.values import show_value


def write_domain(domain: Domain) -> str:
    """The text of a domain file.

    Names that the language has no room for (PDDL allows `-` in names, and one name for several kinds) are changed, the same way each
    time. A Python guard has no text; a comment says where one is missing.
    """
    domain = renamed(domain)
    lines = [f"domain: {_quoted(domain.name)}"]
    if domain.extra.get("about"):
        lines.append(f"about: {_quoted(str(domain.extra['about']))}")
    lines += _section("types", (_type(t) for t in domain.types.values()))
    lines += _section("fluents", (f"- {_quoted(str(f))}" for f in domain.fluents.values()))
    lines += _section("derived", (f"- {_quoted(str(d))}" for d in domain.derived.values()))
    lines += _section("numbers", (_number(n) for n in domain.numbers.values()))
    lines += _section("objects", (_object(o) for o in domain.constants))
    lines += ["", "skills:"]
    for s in domain.skills.values():
        lines += ["  " + line for line in _skill(s)]
    lines += _safety(domain)
    for key in ("scenarios", "physical"):
        if key in domain.extra:
            lines += ["", _dump({key: plain(domain.extra[key])}).rstrip()]
    return "\n".join(lines) + "\n"


def _section(name: str, items: Iterable[str]) -> list[str]:
    inner = ["  " + i for i in items]
    return ["", f"{name}:", *inner] if inner else []


def _quoted(text: str) -> str:
    return json.dumps(" ".join(text.split()), ensure_ascii=False)


def _flow(body: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{k}: {v}" for k, v in body.items()) + "}"


def _type(t: Type) -> str:
    body = {"is": t.parent} if t.parent else {}
    if t.attributes:
        kinds = {a.name: "bool" if a.kind is Kind.BOOL else f"[{', '.join(a.symbols)}]" for a in t.attributes}
        body["attributes"] = _flow(kinds)
    return f"{t.name}: {_flow(body)}" if body else f"{t.name}:"


def _number(n: Number) -> str:
    head = f"{n.name}({', '.join(map(str, n.params))})"
    body = {_quoted(", ".join(atom[1:])): _amount(v) for atom, v in n.values.items()}
    if n.otherwise is not None:
        body["otherwise"] = _amount(n.otherwise)
    return f"{_quoted(head)}: {_flow(body)}" if body else f"{_quoted(head)}:"


def _object(o: Obj) -> str:
    body = {"is": o.type, **{a: show_value(v) for a, v in o.attributes.items()}}
    if o.words:
        body["words"] = "[" + ", ".join(_quoted(w) for w in o.words) + "]"
    return f"{o.name}: {_flow(body) if len(body) > 1 else o.type}"


def _amount(value: float) -> str:
    return f"{value:.17g}" if float(f"{value:g}") != value else f"{value:g}"


def _skill(s: Skill) -> list[str]:
    out = [f"{s.name}:"]
    if s.says:
        out.append(f"  says: {_quoted(s.says)}")
    if s.params:
        out.append(f"  with: {_flow({p.name: ' | '.join(p.types) for p in s.params})}")
    for key, parts in (("needs", s.needs), ("makes", s.makes)):
        if parts:
            out.append(f"  {key}:")
            out += [f"    - {_quoted(str(p))}" for p in parts]
    base = {("default" if k == "" else k): _amount(v) for k, v in s.cost.base.items()}
    if s.cost.terms:
        terms = ", ".join(_flow({"per": _quoted(str(call)), "factor": _amount(f)}) for f, call in s.cost.terms)
        base["plus"] = f"[{terms}]"
    out.append(f"  cost: {base['default'] if set(base) == {'default'} else _flow(base)}")
    if s.approval != TRUE:
        out.append(f"  approval: {'never' if s.approval == FALSE else _quoted(str(s.approval))}")
    if s.approval_because:
        out.append(f"  approval_because: {_quoted(s.approval_because)}")
    if s.on_stop is not OnStop.HOLD:
        out.append(f"  on_stop: {s.on_stop}")
    out += [f"  {key}: {'true' if v else 'false'}" for key, v, usual in _switches(s) if v is not usual]
    units = (("speed", s.speed, "m/s"), ("force", s.force, "N"), ("duration", s.duration, "s"))
    out += [f"  {key}: {_amount(v)} {unit}" for key, v, unit in units if v is not None]
    if s.hook is not None:
        out.append("  # a Python guard of this skill can't be written here")
    return out


def _switches(s: Skill) -> tuple[tuple[str, bool, bool], ...]:
    return (("repeatable", s.repeatable, True), ("asks", s.asks, False), ("adding_wins", s.true_wins, False))


def _safety(domain: Domain) -> list[str]:
    safety = domain.safety
    out: list[str] = []
    if safety.limits:
        units = {"speed": "m/s", "force": "N"}
        out.append(f"  limits: {_flow({q: f'{_amount(v)} {units[q]}' for q, v in safety.limits.items()})}")
    if safety.rules:
        out += ["  rules:", *(f"    - {_rule(r)}" for r in safety.rules)]
    if safety.forbid:
        out.append("  forbid:")
        for ban in safety.forbid:
            body = {"skill": _quoted(ban.skill), "when": _quoted(str(ban.when))}
            if ban.because:
                body["because"] = _quoted(ban.because)
            out.append(f"    - {_flow(body)}")
    if safety.no_go:
        out.append(f"  no_go: [{', '.join(safety.no_go)}]")
    return ["", "safety:", *out] if out else []


def _rule(r: Rule) -> str:
    return _flow({"rule": _quoted(str(r)), "because": _quoted(r.because)}) if r.because else _quoted(str(r))


def _dump(body: Any) -> str:
    from ruamel.yaml import YAML

    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.width = 130
    out = io.StringIO()
    yaml.dump(body, out)
    return out.getvalue()
