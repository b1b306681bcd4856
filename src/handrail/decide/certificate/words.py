"""The sentences a user reads, and the claims that no text here may make.

Every sentence about a certificate is made in this module and passes `checked`, which refuses the list of things
never to be claimed (`handrail.decide.certificate.claims`).
Silent failure is always shown together with task failure, help and P(wrong | says done).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from handrail.decide.certificate.certify import Certificate, Status
from handrail.decide.certificate.claims import ForbiddenClaimError, allowed
from handrail.decide.certificate.declaration import Limits

SIMULATOR = "simulator"


def checked(text: str, certificate: Certificate | None = None) -> str:
    """`text`, when it claims nothing that can't be known.

    Raises:
        ForbiddenClaimError: it makes a claim of the list; or it is about a certificate from simulated episodes or
            people without saying so; or it names the limit on silent failure without the three numbers beside it.
    """
    allowed(text)
    if certificate is not None and certificate.status is Status.CERTIFIED:
        if certificate.declaration.simulated and SIMULATOR not in text:
            raise ForbiddenClaimError(
                "episodes or people were simulated, so the text must say that the number is about the simulator"
            )
        if re.search(r"\bsay(s|ing)?\b.{0,10}\bdone\b", text):
            missing = [w for w in ("finished as meant", "hands over", "When it says done") if w not in text]
            if missing:
                raise ForbiddenClaimError(
                    "silent failure is only shown together with task failure, help and P(wrong | says done); "
                    f"missing: {', '.join(missing)}"
                )
    return text


def in_100(share: float, up: bool | None = None) -> str:
    """A share as "5 in 100", with one decimal where it is needed; `up` rounds bounds away from what they promise."""
    value = 100 * share
    if up is not None:
        step = -(-round(value * 10, 9) // 1) if up else round(value * 10, 9) // 1
        value = step / 10
    return f"{round(value, 1):g} in 100"


def one_in(delta: float) -> str:
    """The chance of a wrong statement: "1 time in 20"."""
    n = 1 / delta
    return f"1 time in {n:.0f}" if abs(n - round(n)) < 0.05 else f"{100 * delta:.3g} times in 100"


def wrong_given_done(limits: Limits) -> float:
    """The largest P(wrong | says done) that the two limits allow: R_s / (1 - R_t + R_s) rises in both risks."""
    return limits.silent / (1 - limits.task + limits.silent)


@dataclass(frozen=True, slots=True)
class Deployed:
    """What is known after deployment, for the words.

    Attributes:
        suspension: the sentence of a suspension; "" while there is none.
        audited: tasks audited.
        audit_share: share of tasks that is audited.
        done: audited tasks that ended as done.
        wrong: of these, the ones that were not as meant.
        bounds: anytime-valid upper bounds, keys silent, task, wrong_given_done.
    """

    suspension: str = ""
    audited: int = 0
    audit_share: float = 0.1
    done: int = 0
    wrong: int = 0
    bounds: Mapping[str, float] | None = None


def statement(certificate: Certificate, deployed: Deployed | None = None) -> str:
    """What may be said now, in full sentences; every number comes from this certificate's own data.

    Raises:
        ForbiddenClaimError: never for texts made here; it guards changes of this module.
    """
    d = certificate.declaration
    if deployed is not None and deployed.suspension:
        return checked(
            f"{deployed.suspension}\nUntil then no number about finished tasks holds for this robot. The certificate "
            f"of {_day(certificate.made)} for '{d.name}' was about {_where(certificate)}."
        )
    if certificate.status is Status.COLLECTING:
        return checked(f"Nothing is claimed yet about '{d.name}': {certificate.reason}.")
    if certificate.status is Status.NOT_CERTIFIED:
        return checked(
            f"Nothing is claimed about '{d.name}'. No setting met both limits (silent failure {in_100(d.limits.silent)}, "
            f"task failure {in_100(d.limits.task)}): {certificate.reason}. The robot asks and hands over until then."
            + _simulated_note(certificate)
        )
    return checked("\n".join([*_numbers(certificate), *_cover(certificate), *_now(deployed)]), certificate)


def _numbers(certificate: Certificate) -> list[str]:
    d, setting = certificate.declaration, certificate.setting
    assert certificate.chosen is not None and setting is not None  # status is CERTIFIED
    row = certificate.rows[certificate.chosen]
    who = f" ({certificate.group})" if certificate.group else ""
    family = sum(a.spent for a in d.earlier) + d.share
    attempts = f" (all {len(d.earlier) + 1} attempts counted)" if d.earlier else ""
    done = certificate.units - row.task + row.silent
    return [
        f"We ran {certificate.episodes} tasks like yours{who} with this exact setup, in {_where(certificate)}.",
        (
            f"By a method that is wrong at most {one_in(family)}{attempts}, at most {in_100(d.limits.silent)} such tasks "
            f"end with the robot saying done when it is not what you meant, and at least {in_100(1 - d.limits.task)} are "
            "finished as meant."
        ),
        f"It asks or hands over in about {in_100(row.help)}.",
        (
            f"When it says done, it is wrong in at most {in_100(wrong_given_done(d.limits), up=True)} (this follows from the two "
            f"limits); in these runs, scored as this setting would have run them, in {row.silent:g} of {done:g}."
        ),
    ]


def _cover(certificate: Certificate) -> list[str]:
    d = certificate.declaration
    groups = "; each group has its own number" if d.groups else ""
    lines = [
        f"It covers: {d.population}; {certificate.clusters} different clusters ({d.clusters}); judged by {d.judge}{groups}.",
        (
            "It is an average over tasks like those tested. It is not a promise for this task, for unusual requests, for "
            "one person or one object, or if anything changes (room, people, model, prompt, skills, verifier)."
        ),
        f"Setting: {certificate.setting.text() if certificate.setting else ''}.",
    ]
    if note := _simulated_note(certificate):
        lines.append(note.strip())
    return lines


def _simulated_note(certificate: Certificate) -> str:
    d = certificate.declaration
    if not d.simulated:
        return ""
    what = [n for n, simulated in (("world", d.world == "simulated"), ("people", d.people == "simulated")) if simulated]
    return (
        f" The {' and the '.join(what)} in these episodes {'were' if what != ['world'] else 'was'} simulated: this is a "
        f"statement about the {SIMULATOR}, not about a real home."
    )


def _now(deployed: Deployed | None) -> list[str]:
    if deployed is None:
        return ["Nothing is known about the time since these runs: start audits."]
    if not deployed.audited:
        return ["No task has been audited since: a change that only audits can see would go unnoticed."]
    lines = [
        (
            f"We check {in_100(deployed.audit_share)} tasks, {deployed.audited} so far: wrong in {deployed.wrong} of the "
            f"{deployed.done} that ended as done. No sign of change so far, which does not show that nothing changed."
        )
    ]
    if deployed.bounds:
        b = deployed.bounds
        lines.append(
            f"From audits alone, as long as nothing changed: silent failure below {in_100(b['silent'], up=True)}, task "
            f"failure below {in_100(b['task'], up=True)}, 'done' wrong below {in_100(b['wrong_given_done'], up=True)} "
            "(by a method wrong at most 1 time in 20, whenever it is looked at)."
        )
    return lines


def _where(certificate: Certificate) -> str:
    d = certificate.declaration
    first, last = _day(certificate.first), _day(certificate.last)
    when = first if first == last else f"{first} to {last}"
    place = f"the {SIMULATOR} '{d.place}'" if d.world == "simulated" else d.place
    people = f", answered by simulated people (their {SIMULATOR})" if d.people == "simulated" else ""
    return f"{place}{', ' + when if when else ''}{people}"


def _day(moment: str) -> str:
    return moment[:10]
