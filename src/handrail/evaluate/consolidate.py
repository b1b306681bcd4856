"""`handrail eval consolidate`: several imperfect plans against one, on recipes, on PlanBench and in domains of ours."""

from __future__ import annotations

from typing import Any

from handrail.evaluate import consolidate_domains, consolidate_plans, consolidate_recipes
from handrail.evaluate.options import EvalOptions


def run(options: EvalOptions) -> dict[str, Any]:
    """The three parts.

    Returns:
        `recipes`: per number of merged trees `cheaper`, `valid`, `cost_ratio` (kitchen: what the trees take as given);
        `recipe_details`: the other kitchens, goal rule, accuracy by progress lines; `wrong_units`: by kind; `planbench`;
        `domains`.
    """
    recipes = consolidate_recipes.run(options)
    wrong = recipes.pop("wrong_units")
    planbench = consolidate_plans.run(options)
    domains = consolidate_domains.run(options)
    table = recipes.pop("recipes")
    return {
        "recipes": table,
        "recipe_details": recipes,
        "wrong_units": wrong,
        "planbench": planbench,
        "domains": domains,
        "table": [{"trees": k, **row} for k, row in table.items()],
    }
