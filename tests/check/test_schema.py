from __future__ import annotations

import json

import jsonschema
import pytest

from handrail.check import Declined, plan_schema, read_plan
from handrail.domain import Code, LayerResult, Plan, State, Step
from handrail.errors import ConfigError

GOOD = {
    "reasoning": "fetch it",
    "steps": [{"skill": "go", "args": {"r": "robo", "to": "table"}}, {"skill": "pick", "args": {"thing": "mug"}}],
}


def plan(text: str, state: State, **more) -> Plan:
    out = read_plan(text, state.objects, **more)
    assert isinstance(out, Plan), out
    return out


def refusal(text: str, state: State, **more):
    out = read_plan(text, state.objects, **more)
    assert isinstance(out, LayerResult), out
    assert not out.passed
    (reason,) = out.reasons
    if reason.step is not None:
        assert f"Step {reason.step + 1}" in reason.sentence
    return reason


def test_parameters_with_one_candidate_may_be_left_out(start: State) -> None:
    made = plan(json.dumps(GOOD), start)
    assert made.steps == (Step("go", ("robo", "table")), Step("pick", ("robo", "left", "mug")))
    assert made.reasoning == "fetch it"


@pytest.mark.parametrize(
    "text",
    [
        '[{"skill": "go", "args": {"to": "table"}}]',
        '{"reasoning": "", "steps": [{"skill": "go", "args": ["table"]}]}',
        '{"steps": ["go(robo, table)"]}',
        "{'reasoning': 'x', 'steps': [{'skill': 'go', 'args': {'to': 'table'}}]}",
        '```json\n{"steps": [{"skill": "go", "args": {"to": "table"},}]}\n```<|eot_id|>',
        'Sure!\n```\nnot json\n```\nthen\n```json\n{"steps": [{"skill": "go", "args": {"to": "table"}}]}\n```',
    ],
)
def test_one_plan_in_many_spellings(start: State, text: str) -> None:
    assert plan(text, start).steps == (Step("go", ("robo", "table")),)


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("", Code.BAD_JSON, ""),
        ("I would go to the table.", Code.BAD_JSON, ""),
        ("{}", Code.EMPTY_PLAN, "empty"),
        ('{"steps": []}', Code.EMPTY_PLAN, "no steps"),
        ('{"steps": "go"}', Code.NOT_A_PLAN, "must be a list"),
        ('{"plan": [1]}', Code.NOT_A_PLAN, "'plan' is none of them"),
        ('{"steps": [{"skill": "go", "skill": "pick"}]}', Code.DUPLICATE_KEY, "twice"),
        ('{"steps": [{"args": {"to": "table"}}]}', Code.NOT_A_PLAN, "no 'skill'"),
        ('{"steps": [{"skill": "goo", "args": {"to": "table"}}]}', Code.UNKNOWN_SKILL, "'go'"),
        ('{"steps": [{"skill": "go", "args": {"to": "tabel"}}]}', Code.UNKNOWN_OBJECT, "'table'"),
        ('{"steps": [{"skill": "go", "args": {"to": "mug"}}]}', Code.WRONG_TYPE, "is a item"),
        ('{"steps": [{"skill": "go", "args": {}}]}', Code.WRONG_ARGUMENTS, "missing"),
        ('{"steps": [{"skill": "go", "args": {"to": "table", "fast": "yes"}}]}', Code.WRONG_ARGUMENTS, "'fast'"),
        ('{"steps": [{"skill": "go", "args": {"to": ["table"]}}]}', Code.WRONG_ARGUMENTS, "a list"),
        ('{"steps": [{"skill": "go", "to": "table"}]}', Code.NOT_A_PLAN, "'args'"),
        ('{"steps": [{"skill": "go", "args": {"to": "table"}}', Code.BAD_JSON, "cut off"),
        ('{"steps": [{"skill": "go", "args": ["a", "b", "c"]}]}', Code.WRONG_ARGUMENTS, "3 arguments"),
        ('{"steps": ["go to the table"]}', Code.NOT_A_PLAN, "skill(object, ...)"),
        ('{"steps": [{"skill": "go", "args": {"to": "table"}}], "ask": "x"}', Code.NOT_A_PLAN, "exactly one"),
    ],
)
def test_what_is_not_a_plan_is_refused_with_a_reason(start: State, text: str, code: Code, words: str) -> None:
    reason = refusal(text, start)
    assert reason.code == code
    assert words in reason.sentence


def test_a_refusal_says_where(start: State) -> None:
    reason = refusal('{"steps": [\n  {"skill": "go", "args": {"to": "table"}},\n  {"skill": "fly", "args": {}}]}', start)
    assert (reason.line, reason.column) == (3, 3)
    assert reason.step == 1


def test_names_near_the_right_one_are_suggested_never_taken(start: State) -> None:
    reason = refusal('{"steps": [{"skill": "plac", "args": {}}]}', start)
    assert reason.details["nearest"][0] == "place"


def test_too_long(start: State) -> None:
    step = {"skill": "go", "args": {"to": "table"}}
    assert len(plan(json.dumps({"steps": [step] * 12}), start)) == 12
    assert refusal(json.dumps({"steps": [step] * 13}), start).code == Code.TOO_LONG
    assert len(plan(json.dumps({"steps": [step] * 13}), start, max_steps=13)) == 13
    with pytest.raises(ConfigError, match="at least one step"):
        read_plan("{}", start.objects, max_steps=0)


@pytest.mark.parametrize("kind", ["ask", "refuse"])
def test_asking_and_refusing_are_answers_but_no_plans(start: State, kind: str) -> None:
    out = read_plan(json.dumps({"reasoning": "r", kind: "Which mug?"}), start.objects)
    assert out == Declined(kind, "Which mug?", "r")


def test_the_json_schema_accepts_what_the_reader_accepts(start: State) -> None:
    schema = plan_schema(start.objects)
    jsonschema.Draft202012Validator.check_schema(schema)
    good = {"reasoning": "", "steps": [{"skill": "pick", "args": {"thing": "mug"}}]}
    jsonschema.validate(good, schema)
    plan(json.dumps(good), start)
    for bad in ({"reasoning": "", "steps": []}, {"reasoning": "", "steps": [{"skill": "pick", "args": {"thing": "table"}}]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, schema)


@pytest.mark.parametrize(
    "second",
    [
        '{"args": {}}',
        '"go to the table"',
        "7",
        '{"skill": "goo", "args": {}}',
        '{"skill": "go", "args": {"to": "tabel"}}',
        '{"skill": "go", "args": {"to": "mug"}}',
        '{"skill": "go", "args": {}}',
        '{"skill": "go", "args": {"to": ["table"]}}',
        '{"skill": "go", "args": 7}',
        '{"skill": "go", "args": {"too": "table"}}',
        '{"skill": "go", "args": ["a", "b", "c"]}',
        '{"skill": "go", "to": "table"}',
    ],
)
def test_steps_are_counted_from_one_for_people(start: State, second: str) -> None:
    reason = refusal('{"steps": ["go(robo, table)", ' + second + "]}", start)
    assert reason.step == 1
    assert reason.sentence.startswith("Step 2")
