"""A run's report: one self-contained HTML file, made from the run's record and the pictures that were taken."""

from __future__ import annotations

import html
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from handrail.domain.values import show_atom
from handrail.record.event import Event
from handrail.record.store import RunStore

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1c2430;background:#fff}
h1{font-size:1.6rem;margin-bottom:.2rem}h2{font-size:1.15rem;margin-top:2rem;border-bottom:1px solid #d8dee6;padding-bottom:.2rem}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #e6eaf0;vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}.ok{color:#17663a}.no{color:#a3151d}
pre{white-space:pre-wrap;background:#f5f7fa;padding:.8rem;border-radius:6px;font-size:.85rem}blockquote{margin:.3rem 0;padding:.1rem .8rem;
border-left:3px solid #b8c4d4;color:#334}figure{margin:0;display:inline-block;width:49%}img{width:100%;border-radius:6px}
small{color:#566}section{border-top:1px solid #e6eaf0;padding:.6rem 0}.bad{color:#a3151d}.good{color:#17663a}
@media(prefers-color-scheme:dark){body{background:#14181e;color:#e4e9f0}pre{background:#1d232c}td,th,h2,section{border-color:#2c3541}}
"""


def write_report(store: RunStore, run: str, path: Path, pictures: str = "") -> Path:
    """Write the report of a run.

    Args:
        store: where it is recorded.
        run: its id.
        path: the HTML file; its folder is made.
        pictures: HTML of pictures around the steps, already safe; "" for none.

    Raises:
        StoreError: no such run, or a damaged record.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render(store.events(run), run, pictures), encoding="utf-8")
    return path


def render(events: Sequence[Event], run: str, pictures: str = "") -> str:
    """The page; all text of models, persons and perception is escaped."""
    request = _first(events, "run.request").get("request", "")
    end = _first(events, "run.end")
    said = end.get("sentence", "The record has no end: the run was killed or is still going on.")
    mark = "ok" if end.get("reason") in ("DONE", "ALREADY") else "no"
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' content='width=device-width'>",
        f"<title>Run {_e(run)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{_e(request)}</h1>",
        f"<p class='{mark}'><b>{_e(end.get('reason', 'NOT ENDED'))}</b> {_e(said)}</p>",
        f"<p><small>Run {_e(run)} · {_when(events)} · {len(events)} events · same again: handrail replay {_e(run)}</small></p>",
        _talk(events),
        _card(events),
        _checks(events),
        _steps(events),
    ]
    if pictures:
        parts.append(f"<h2>Pictures</h2>{pictures}")
    parts.append(_models(events))
    parts.append("</body></html>")
    return "\n".join(p for p in parts if p)


def _e(value: Any) -> str:
    return html.escape(str(value))


def _first(events: Sequence[Event], kind: str) -> dict[str, Any]:
    return next((e.body for e in events if e.kind == kind), {})


def _when(events: Sequence[Event]) -> str:
    if not events:
        return "no events"
    return datetime.fromtimestamp(events[0].time, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _talk(events: Sequence[Event]) -> str:
    rows = []
    for e in events:
        if e.kind == "mission.weighed":
            answer = e.body["answer"]
            left = "; ".join(_e(o["text"]) for o in answer["options"]) or "none"
            decided = f"{_e(answer['kind'])}: {_e(answer['sentence'])}<br><small>{left}</small>"
            rows.append(f"<tr><td>{_e(e.body['asked']['request'])}</td><td>{decided}</td></tr>")
        elif e.kind == "mission.asked":
            said = e.body["answer"]
            words = f"{_e(said['text'])} <small>({_e(said['by'])})</small>" if said else "<i>no answer in time</i>"
            rows.append(f"<tr><td>Question: {_e(e.body['asked']['sentence'])}</td><td>{words}</td></tr>")
    return f"<h2>What was understood</h2><table>{''.join(rows)}</table>" if rows else ""


def _card(events: Sequence[Event]) -> str:
    cards = [e.body["text"] for e in events if e.kind == "person.shown"]
    chosen = [e.body["answer"]["sentence"] for e in events if e.kind == "mission.chosen"]
    out = "".join(f"<p>{_e(c)}</p>" for c in chosen)
    return f"<h2>Plan</h2>{out}" + "".join(f"<pre>{_e(c)}</pre>" for c in cards) if out or cards else ""


def _checks(events: Sequence[Event]) -> str:
    rows = []
    for e in events:
        if e.kind != "mission.checked":
            continue
        verdict = e.body["answer"]["verdict"]
        for layer in verdict["layers"]:
            mark = "<span class='ok'>passed</span>" if layer["passed"] else "<span class='no'>refused</span>"
            why = " ".join(_e(r["sentence"]) for r in layer["reasons"])
            figures = ", ".join(
                f"{_e(k)} {_figure(v)}" for k, v in layer["figures"].items() if not isinstance(v, (list, dict))
            )
            rows.append(f"<tr><td>{_e(layer['layer'])}</td><td>{mark}</td><td>{why or figures}</td></tr>")
        if verdict["unchecked"]:
            rows.append(f"<tr><td>{_e(', '.join(verdict['unchecked']))}</td><td>not checked</td><td></td></tr>")
    return f"<h2>Checks</h2><table>{''.join(rows)}</table>" if rows else ""


def _figure(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else _e(value)


def _steps(events: Sequence[Event]) -> str:
    start = events[0].time if events else 0.0
    rows = []
    for e in events:
        text = _happened(e)
        if text:
            rows.append(f"<tr><td class='n'>{e.time - start:.1f} s</td><td>{text}</td></tr>")
    return f"<h2>What happened</h2><table>{''.join(rows)}</table>" if rows else ""


def _happened(e: Event) -> str:
    """One event of an execution in a line; "" for those that only machines need."""
    kind, body = e.kind.removeprefix("execute."), e.body
    if kind == "judged":
        step = show_atom(tuple(body["step"]))
        if body["effect"] == "seen":
            return f"<span class='ok'>✓</span> {_e(step)}"
        return f"<span class='no'>✗ {_e(body['code'])}</span> {_e(body['sentence'])}"
    if kind == "excluded":
        return f"left out of new plans while things stay so: {_e(show_atom(tuple(body['step'])))}"
    if kind == "late":
        return f"<span class='no'>a rule can't be kept in time any more</span>: {_e(body['rule'])}"
    if kind == "verdict":
        return "a new plan was proven" if body["accepted"] else "<span class='no'>a new plan was refused</span>"
    if kind == "approved":
        return f"the new plan was approved by {_e(body['by'])}"
    if kind == "escalated":
        return f"<span class='no'>a person was called</span>: {_e(body['sentence'])}"
    if kind == "end":
        return f"<b>{_e(body['ended'])}</b> {_e(body['sentence'])}"
    if kind == "run.stop":
        found = ", ".join(f"{_e(r)} {_e(v)}" for r, v in body["verdict"].items())
        return f"<span class='no'>stopped</span> by {_e(body['by'])}: {found}"
    return ""


def _models(events: Sequence[Event]) -> str:
    rows = []
    for e in events:
        if e.kind == "propose.proposal":
            for a in e.body["attempts"]:
                reasons = " ".join(_e(r["sentence"]) for r in a["reasons"])
                rows.append(
                    f"<tr><td><blockquote>{_e(a['text'][:2000])}</blockquote></td><td>{reasons or 'passed'}</td></tr>"
                )
    return f"<h2>What the model wrote</h2><table>{''.join(rows)}</table>" if rows else ""
