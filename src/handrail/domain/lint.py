"""Warnings about a domain that reads well but won't do what its author wants.

Errors are the reader's; a warning here never changes what a plan may do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.domain.domain import Domain
from handrail.domain.files import Expect, Scene, load_domain, load_scene, scene_names
from handrail.domain.formula import Assign, Call, Condition, Effect, Term, When
from handrail.domain.grounder import grounder
from handrail.domain.reach import Reach, count_steps, ground_steps
from handrail.domain.rules import RuleKind
from handrail.domain.skill import Skill
from handrail.domain.task import Task
from handrail.domain.text.document import Map, Seq, read_document
from handrail.domain.text.scope import Scope
from handrail.domain.text.walk import assignments, calls_in, params_in, targets
from handrail.domain.types import Kind
from handrail.domain.values import UNKNOWN, show_atom
from handrail.errors import ConfigError, Where

LARGE = 20_000
"""Scenes with more ground steps than this are not searched for what can be reached."""


@dataclass(frozen=True)
class Warn:
    """One warning.

    Attributes:
        code: from a closed list, kebab-case.
        sentence: what is odd and what to do.
        where: its place; without a line where the domain has no file.
    """

    code: str
    sentence: str
    where: Where

    def __str__(self) -> str:
        return f"{self.where}  {self.sentence} [{self.code}]"

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        return {
            "code": self.code,
            "sentence": self.sentence,
            "file": self.where.source,
            "line": self.where.line,
            "column": self.where.column,
        }


def lint_file(path: str | Path) -> tuple[Domain, list[Warn]]:
    """Read a domain file with all its scenes and give what is odd about it.

    Raises:
        DomainError: the file or one of its scenes is wrong.
    """
    path = Path(path)
    domain = load_domain(path)
    document = (
        None if path.suffix.lower() == ".pddl" else read_document(path.read_text(encoding="utf-8-sig"), str(path))
    )
    return domain, lint(domain, document)


def lint(domain: Domain, document: Map | None = None) -> list[Warn]:
    """What is odd about a domain, in the order of the file.

    Args:
        domain: the domain.
        document: the file it was read from, for places.

    Raises:
        DomainError: one of its scenes is wrong.
    """
    found = [*_Lint(domain, document).all()]
    return sorted(dict.fromkeys(found), key=lambda w: (w.where.line, w.where.column))


class _Lint:
    def __init__(self, domain: Domain, document: Map | None) -> None:
        self.domain = domain
        self.document = document
        self.scenes = [load_scene(domain, n) for n in scene_names(domain)]

    def at(self, section: str, name: str = "") -> Where:
        """Where a section, or a name in it, stands."""
        doc = self.document
        if doc is None:
            return Where(self.domain.source)
        inner = doc.get(section)
        if isinstance(inner, Map):
            for key, where in inner.key_at.items():
                if key.split("(")[0].strip() == name:
                    return where
        if isinstance(inner, Seq) and name:
            for text, where in zip(inner, inner.item_at, strict=True):
                if str(text).split("(")[0].strip() == name:
                    return where
        return doc.key_at.get(section, Where(self.domain.source))

    def all(self) -> Iterator[Warn]:
        yield from self.names()
        for skill in self.domain.skills.values():
            yield from self.skill(skill)
        for scene in self.scenes:
            yield from self.scene(scene)
        yield from self.reachable()

    def names(self) -> Iterator[Warn]:
        """Fluents, derived fluents, types and numbers that nothing uses."""
        d = self.domain
        read: Counter[str] = Counter()
        written: set[str] = set()
        for c in self.conditions():
            read.update(t.name for t in calls_in(c))
        for e in (e for s in d.skills.values() for e in s.makes):
            read.update(_read_by(e))
            written.update(t.name for t in targets(e))
        used_in_goals = {t.name for s in self.scenes for c in _goal_conditions(s) for t in calls_in(c)}
        for name in d.fluents:
            where = self.at("fluents", name)
            if name not in read and name not in written and name not in used_in_goals:
                yield Warn("unused-fluent", f"nothing reads or changes the fluent '{name}'", where)
            elif name not in read and name not in used_in_goals and self.scenes:
                yield Warn(
                    "never-read",
                    f"no need, rule or goal reads the fluent '{name}', so changing it means nothing",
                    where,
                )
        for name in d.derived:
            if name not in read and name not in used_in_goals:
                yield Warn("unused-derived", f"nothing uses the derived fluent '{name}'", self.at("derived", name))
        priced = {call.name for s in d.skills.values() for _, call in s.cost.terms}
        for name in d.numbers:
            if name not in priced:
                yield Warn("unused-number", f"no cost uses the number '{name}'", self.at("numbers", name))
        for name in d.types:
            if not self.type_used(name):
                yield Warn("unused-type", f"nothing has the type '{name}'", self.at("types", name))

    def conditions(self) -> Iterator[Condition]:
        """Every condition of the domain outside effects and goals."""
        d = self.domain
        for s in d.skills.values():
            yield from s.needs
            yield s.approval
        for derived in d.derived.values():
            yield derived.condition
        for rule in d.safety.rules:
            yield rule.first
            if rule.second is not None:
                yield rule.second
        for ban in d.safety.forbid:
            yield ban.when

    def type_used(self, name: str) -> bool:
        d = self.domain
        below = d.subtypes(name)
        params = [p for s in d.skills.values() for p in s.params]
        params += [p for f in d.fluents.values() for p in f.params] + [p for x in d.derived.values() for p in x.params]
        if any(name in p.types for p in params) or any(name in f.types for f in d.fluents.values()):
            return True
        return any(o.type in below for s in self.scenes for o in s.objects) or any(o.type in below for o in d.constants)

    def skill(self, s: Skill) -> Iterator[Warn]:
        where = self.at("skills", s.name)
        if not s.says:
            yield Warn("no-says", f"skill '{s.name}' has no `says`: people will read its bare name", where)
        if not s.makes and not s.asks:
            yield Warn("no-effect", f"skill '{s.name}' changes nothing, so no planner will ever use it", where)
        used = {p.name for p in s.params if "{" + p.name + "}" in s.says}
        for part in (*s.needs, *s.makes, s.approval, *(c for _, c in s.cost.terms)):
            used |= params_in(part)
        for p in s.params:
            if p.name not in used and not s.asks:
                yield Warn("unused-parameter", f"skill '{s.name}' never uses its parameter '{p.name}'", where)
        for need, n in Counter(map(str, s.needs)).items():
            if n > 1:
                yield Warn("twice", f"skill '{s.name}' needs \"{need}\" twice", where)
        for quantity, bound in self.domain.safety.limits.items():
            declared = getattr(s, quantity, None)
            if declared is not None and declared > bound:
                said = f"skill '{s.name}' declares {quantity} {declared:g}, above the limit {bound:g}: it can never run"
                yield Warn("over-limit", said, where)
        scope = Scope.of(self.domain, s.params)
        for e in s.makes:
            yield from self.assigned(s, e, scope, where)

    def assigned(self, s: Skill, e: Effect, scope: Scope, where: Where) -> Iterator[Warn]:
        """Values that may not fit their target."""
        for a in assignments(e):
            if (
                not isinstance(a, Assign)
                or a.target.name not in self.domain.fluents
                or params_in(e) - {p.name for p in s.params}
            ):
                continue
            fluent = self.domain.fluents[a.target.name]
            have, want = scope.type_of(a.value), scope.type_of_fluent(fluent)
            if fluent.kind is not Kind.OBJECT or have.kind is not Kind.OBJECT:
                continue
            if have.optional and not fluent.optional and not self.asked_for(a.value, s):
                said = f"skill '{s.name}' makes \"{a}\": '{a.value}' may be none, and '{a.target}' may not; add a need"
                yield Warn("may-be-none", said, where)
            if not have.types <= want.types:
                said = f"skill '{s.name}' makes \"{a}\": '{a.value}' is {have}, which may be something else than {want}"
                yield Warn("may-not-fit", said, where)

    def asked_for(self, value: Term, s: Skill) -> bool:
        """Whether some need, directly or through derived fluents, looks at the fluent that a value is read from."""
        names = {c.name for n in s.needs for c in calls_in(n)}
        seen: set[str] = set()
        while more := (names & set(self.domain.derived)) - seen:
            seen |= more
            names |= {c.name for n in more for c in calls_in(self.domain.derived[n].condition)}
        return isinstance(value, Call) and value.name in names

    def scene(self, scene: Scene) -> Iterator[Warn]:
        where = self.at("scenarios", scene.name)
        for fluent in self.domain.fluents.values():
            if fluent.kind is not Kind.OBJECT or fluent.optional or len(fluent.params) != 1:
                continue
            for o in scene.objects.of(*fluent.params[0].types):
                atom = (fluent.name, o)
                if scene.state[atom] is UNKNOWN and atom not in scene.state.values:
                    said = f"scene '{scene.name}' does not say what {show_atom(atom)} is; steps that read it can't run"
                    yield Warn("no-value", said, where)
        ground = grounder(scene.objects)
        for rule in self.domain.safety.rules:
            if rule.kind in (RuleKind.NEVER, RuleKind.ALWAYS):
                holds = ground.node(rule.first).holds(scene.state.values)
                if holds == (rule.kind is RuleKind.NEVER):
                    said = f"scene '{scene.name}' starts with the rule \"{rule}\" broken"
                    yield Warn("broken-at-start", said, where)

    def reachable(self) -> Iterator[Warn]:
        """Skills, needs and goals that nothing can ever bring about."""
        if not self.scenes:
            return
        never: set[tuple[str, int]] = {(s.name, i) for s in self.domain.skills.values() for i in range(len(s.needs))}
        unused = set(self.domain.skills)
        looked = 0
        for scene in self.scenes:
            if count_steps(scene.objects) > LARGE:
                continue
            try:
                task = Task(scene.objects)
                reach = Reach(task, scene.state)
            except ConfigError:
                continue
            looked += 1
            unused -= {s.skill for s in reach.reached}
            for step in ground_steps(scene.objects):
                open_needs = [(name, i) for name, i in never if name == step.skill]
                if open_needs:
                    needs = task.operator(step).needs
                    never -= {(name, i) for name, i in open_needs if reach.possible(needs[i][1])}
            for r in scene.requests:
                if r.expect is not Expect.REFUSE:
                    for g in r.goals:
                        if not reach.possible(task.ground.node(g.final)):
                            said = f'scene \'{scene.name}\', "{r.say}": nothing can ever bring about "{g}"'
                            yield Warn("unreachable-goal", said, self.at("scenarios", scene.name))
        if not looked:
            return
        for name, i in sorted(never):
            said = f"skill '{name}' needs \"{self.domain.skills[name].needs[i]}\", which holds in no scene and is never made"
            yield Warn("need-never-holds", said, self.at("skills", name))
        for name in sorted(unused - {n for n, _ in never}):
            yield Warn("unreachable-skill", f"skill '{name}' can run in no scene of the file", self.at("skills", name))


def _read_by(e: Effect) -> Iterator[str]:
    """Names that an effect reads: in its conditions, in values, and inside its targets."""
    while not isinstance(e, Assign) and hasattr(e, "effect"):
        if isinstance(e, When):
            yield from (c.name for c in calls_in(e.condition))
        e = e.effect
    for a in assignments(e):
        parts = (*a.target.args, a.value) if isinstance(a, Assign) else a.target.args
        for part in parts:
            yield from (c.name for c in calls_in(part))


def _goal_conditions(scene: Scene) -> Iterator[Condition]:
    for r in scene.requests:
        for g in r.goals:
            yield from (g.final, *g.subgoals, *g.keep)
