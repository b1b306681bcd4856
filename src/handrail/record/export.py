"""Runs as files: JSON lines for people and scripts, MCAP for robotics tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from handrail.errors import MissingExtra, ParseError, StoreError, Where
from handrail.record.event import EVENT_VERSION, Event
from handrail.record.schema import upgrade_body
from handrail.record.store import RunInfo


def to_jsonl(info: RunInfo, events: Iterable[Event], path: Path) -> int:
    """Write a run as JSON lines: the first describes the run, each other is one event. Returns how many events were written.

    Raises:
        StoreError: the file can't be written.
    """
    n = 0
    head = {"handrail": "run", "id": info.id, "created": info.created, "request": info.request, "world": info.world}
    head |= {"domain": info.domain, "status": info.status, "ended": info.ended, "closed": info.closed}
    try:
        with path.open("w", encoding="utf-8") as out:
            out.write(json.dumps(head, ensure_ascii=False, sort_keys=True) + "\n")
            for e in events:
                out.write(json.dumps(e.to_json(), ensure_ascii=False, sort_keys=True) + "\n")
                n += 1
    except OSError as problem:
        raise StoreError(f"can't write {path}: {problem.strerror or problem}") from problem
    return n


def from_jsonl(path: Path) -> tuple[dict[str, Any], list[Event]]:
    """Read what `to_jsonl` wrote: the run's description and its events.

    Raises:
        ParseError: with the line that is wrong.
    """
    head: dict[str, Any] = {}
    events: list[Event] = []
    with path.open(encoding="utf-8") as lines:
        for n, line in enumerate(lines, 1):
            where = Where(str(path), n)
            try:
                body = json.loads(line)
                if n == 1:
                    if body.get("handrail") != "run":
                        raise ParseError("the first line does not describe a run of handrail", where)
                    head = body
                    continue
                made = upgrade_body(body["kind"], body["version"], body["body"], EVENT_VERSION)
                events.append(Event(body["run"], body["seq"], body["time"], body["kind"], made))
            except (ValueError, KeyError, TypeError, AttributeError) as e:
                raise ParseError(f"this is no event: {e}", where) from e
            if events[-1].seq != len(events) - 1:
                raise ParseError(f"event {len(events) - 1} is missing", where)
    if not head:
        raise ParseError("the file is empty", Where(str(path)))
    return head, events


_SCHEMA = {
    "type": "object",
    "properties": {
        "run": {"type": "string"},
        "seq": {"type": "integer"},
        "time": {"type": "number"},
        "kind": {"type": "string"},
        "version": {"type": "integer"},
        "body": {"type": "object"},
    },
    "required": ["run", "seq", "time", "kind", "version", "body"],
}


def to_mcap(info: RunInfo, events: Iterable[Event], path: Path) -> int:
    """Write a run as MCAP: one channel per kind of event (`/handrail/execute/step`), JSON messages with their schema.

    Returns:
        How many events were written.

    Raises:
        MissingExtra: the package mcap is not installed.
        StoreError: the file can't be written.
    """
    try:
        from mcap import writer as mcap_writer
    except ImportError as e:
        raise MissingExtra("export to MCAP", "mcap", "mcap") from e
    n = 0
    try:
        with path.open("wb") as out:
            writer: Any = mcap_writer.Writer(out)
            writer.start(profile="", library="handrail")
            schema = writer.register_schema("handrail.Event", "jsonschema", json.dumps(_SCHEMA).encode())
            writer.add_metadata("handrail.run", {"id": info.id, "request": info.request, "world": info.world})
            channels: dict[str, int] = {}
            for event in events:
                if event.kind not in channels:
                    topic = "/handrail/" + event.kind.replace(".", "/")
                    channels[event.kind] = writer.register_channel(topic, "json", schema)
                stamp = int(event.time * 1e9)
                data = json.dumps(event.to_json(), ensure_ascii=False).encode()
                writer.add_message(channels[event.kind], stamp, data, stamp, event.seq)
                n += 1
            writer.finish()
    except OSError as problem:
        raise StoreError(f"can't write {path}: {problem.strerror or problem}") from problem
    return n


def from_mcap(path: Path) -> Iterator[Event]:
    """Read what `to_mcap` wrote, in order of the events.

    Raises:
        MissingExtra: the package mcap is not installed.
    """
    try:
        from mcap import reader as mcap_reader
    except ImportError as e:
        raise MissingExtra("reading MCAP", "mcap", "mcap") from e
    with path.open("rb") as source:
        reading: Any = mcap_reader.make_reader(source)
        found = [json.loads(m.data) for _, c, m in reading.iter_messages() if c.topic.startswith("/handrail/")]
    for b in sorted(found, key=lambda b: b["seq"]):
        yield Event(b["run"], b["seq"], b["time"], b["kind"], b["body"], b["version"])
