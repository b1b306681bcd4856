from __future__ import annotations

import itertools

import numpy as np
import pytest

from handrail.decide.question import best_partition, best_question, describable, expected_remaining
from handrail.domain.option import Option
from handrail.errors import ConfigError


def bring(name, **attributes):
    return Option(name, f"bring the {name}", attributes=(("object", name), *attributes.items()))


def brute_force(options, weights, most):
    """The best over every question: all choices of at most `most` disjoint cells that words can name."""
    cells = list(describable(options))
    best = float(len(options))
    for count in range(1, most + 1):
        for chosen in itertools.combinations(cells, count):
            union = 0
            for mask in chosen:
                if union & mask:
                    break
                union |= mask
            else:
                best = min(best, expected_remaining(chosen, weights))
    return best


def random_set(rng):
    n = int(rng.integers(2, 8))
    names = {"object": 5, "place": 4, "material": 3}
    seen, options = set(), []
    while len(options) < n:
        values = tuple((a, f"{a}{rng.integers(k)}") for a, k in names.items())
        if values not in seen:
            seen.add(values)
            options.append(Option(str(values), " ".join(v for _, v in values), attributes=values))
    return options, rng.dirichlet(np.full(n, rng.choice([0.3, 1.0, 5.0]))).tolist()


def test_within_5_percent_of_the_best_over_all_questions():
    rng = np.random.default_rng(8)
    worst, exact = 1.0, 0
    for i in range(500):
        options, weights = random_set(rng)
        most = 2 + i % 2
        best = brute_force(options, weights, most)
        found = expected_remaining(best_partition(options, weights, most), weights)
        worst = max(worst, found / best)
        exact += found <= best + 1e-12
        question = best_question(options, weights, most)
        assert question.expected_remaining == pytest.approx(found)
        keys = [k for c in question.cells for k in c.keys] + list(question.rest)
        assert sorted(keys) == sorted(o.key for o in options)
    assert worst <= 1.05
    assert exact >= 400


def test_asks_about_the_attribute_where_that_cuts_more():
    options = [
        Option(f"{o}-{p}", f"put the {o} in the {p}", attributes=(("object", o), ("place", p)))
        for o in ("Coke", "Sprite", "Pepsi", "tea", "juice", "milk")
        for p in ("top drawer", "bottom drawer")
    ]
    question = best_question(options, most_named=1)
    assert question.sentence.startswith("Where to: the ") and " drawer or the " in question.sentence
    assert question.expected_remaining == pytest.approx(6)
    assert len(question.remaining(0)) == 6


def test_words():
    bowls = [bring("metal bowl"), bring("plastic bowl")]
    assert best_question(bowls, [0.6, 0.4]).sentence == "Do you mean the metal or the plastic bowl?"
    drinks = [bring("Coke"), bring("bottled water")]
    assert best_question(drinks, [0.6, 0.4]).sentence == "Do you mean the Coke or the bottled water?"
    plain = [Option("a", "Open the door"), Option("b", "Close the USB lid.")]
    assert best_question(plain, [0.6, 0.4]).sentence == "Should I open the door or close the USB lid?"
    assert best_question(plain[:1]).sentence == "Should I open the door?"
    many = [bring(n) for n in ("Coke", "Sprite", "tea", "milk", "juice", "water")]
    asked = best_question(many, [0.3, 0.3, 0.2, 0.1, 0.05, 0.05], most_named=3)
    assert asked.sentence.endswith(", or something else?") and len(asked.cells) == 3
    assert len(asked.rest) == 3
    assert asked.remaining(None) == asked.rest
    assert best_question([]).sentence.endswith("?")


def test_unusable_weights_count_as_equal():
    drinks = [bring("Coke"), bring("Sprite")]
    for weights in (None, [float("nan"), 1.0], [0.0, 0.0], [-1.0, 2.0]):
        assert best_question(drinks, weights).expected_remaining == pytest.approx(1)


def test_misuse():
    question = best_question([bring("Coke"), bring("Sprite")])
    with pytest.raises(ConfigError, match="alternatives 0 to 1"):
        question.remaining(2)
    with pytest.raises(ConfigError):
        best_question([bring("Coke")], most_named=0)
