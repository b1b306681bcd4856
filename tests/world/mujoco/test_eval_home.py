import pytest

from handrail.evaluate import home
from handrail.evaluate.options import EvalOptions


def fake(shard):
    match shard.part:
        case "case":
            return {"name": str(shard.args), "expected": "DONE", "actual": "DONE", "cpu_s": 0.1}
        case "pick":
            name, first, count, _ = shard.args
            rows = [
                {"k": k, "ok": k != 3, "code": "DONE", "cpu_s": 0.5, "sim_s": 20.0} for k in range(first, first + count)
            ]
            return {"object": name, "rows": rows}
        case "request":
            rows = [{"request": "r", "ended": "DONE", "true": True, "faults": ["slip"], "cpu_s": 1.0, "replans": 1}]
            rows.append({"request": "r", "ended": "NO_PLAN", "true": False, "faults": [], "cpu_s": 1.0})
            return {"request": "r", "rows": rows}
        case "agree":
            return {
                "rows": [["pick", True, True, "DONE", "DONE"], ["pick", True, False, "DONE", "SLIPPED"]],
                "bitwise": [True],
            }
        case _:
            rows = [
                {"ok": True, "cpu_s": 0.1},
                {"ok": False, "code": "TOO_WIDE", "step": "s", "forced": False, "cpu_s": 0.1},
            ]
            return {"rows": rows}


@pytest.mark.parametrize("quick", [True, False])
def test_shards_are_distinct(quick):
    names = [s.name for s in home.shards(quick, 0)]
    assert len(set(names)) == len(names)


def test_sums(monkeypatch):
    monkeypatch.setattr(home, "work", fake)
    found = home.run(EvalOptions())
    assert found["cases_ok"] == len(found["cases"]) >= 25
    for row in found["pick_place"].values():
        assert (row["n"], row["ok"]) == (100, 99) and row["low"] < 0.99 < row["high"] and len(row["failures"]) == 1
    r = found["requests"]
    assert r["n"] == r["finished"] + r["escalated"] + r["wrongly_done"] == 80 and r["wrongly_done"] == 0
    a = found["agreement"]
    assert a["n"] == a["yes_yes"] + a["yes_no"] + a["no_yes"] + a["no_no"] and a["yes_no"] == 30
    assert found["missed"]["share"] == 0.5 and found["missed"]["forced_succeeded"] == 0


def test_a_cut_run_goes_on_where_it_was(monkeypatch, tmp_path):
    done = []

    def once(shard):
        done.append(shard.name)
        if len(done) == 6:
            raise KeyboardInterrupt
        return fake(shard)

    monkeypatch.setattr(home, "work", once)
    options = EvalOptions(cache=tmp_path, quick=True)
    with pytest.raises(KeyboardInterrupt):
        home.run(options)
    assert home.run(EvalOptions(cache=tmp_path, quick=True, extra={"finished_only": True}))["shards"]["done"] == 5
    found = home.run(options)
    assert found["shards"]["done"] == found["shards"]["of"]
    assert len(done) == len(set(done)) + 1
