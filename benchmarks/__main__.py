"""Run every benchmark, or those named: `python -m benchmarks [NAME ...] [--json]`.

Each module `bench_<name>.py` has `run(quick: bool) -> dict` and is run in a process of its own, so that none warms up another.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main(argv: list[str]) -> int:
    as_json = "--json" in argv
    quick = "--quick" in argv
    wanted = [a for a in argv if not a.startswith("-")]
    names = sorted(p.stem.removeprefix("bench_") for p in HERE.glob("bench_*.py"))
    unknown = [w for w in wanted if w not in names]
    if unknown:
        print(f"no benchmark '{unknown[0]}'; there are: {', '.join(names)}", file=sys.stderr)
        return 2
    results = {}
    failed = False
    for name in wanted or names:
        code = f"import json, benchmarks.bench_{name} as b; print(json.dumps(b.run({quick}), default=str))"
        print(f"-- {name}", file=sys.stderr, flush=True)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=HERE.parent)
        if done.returncode:
            failed = True
            results[name] = {"failed": done.stderr.strip().splitlines()[-1:] or ["no output"]}
        else:
            results[name] = json.loads(done.stdout.strip().splitlines()[-1])
        if not as_json:
            print(f"{name}:")
            print(json.dumps(results[name], indent=1))
    if as_json:
        print(json.dumps(results, indent=1))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
