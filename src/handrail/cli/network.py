"""`handrail network`: merge task trees, retrieve the cheapest plan with its proof, measure, export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from handrail.cli.exits import Exit
from handrail.cli.tree import Files, Json, View, print_json, trees_of
from handrail.errors import ConfigError

if TYPE_CHECKING:
    from handrail.network.model import ObjectNode, TaskTree
    from handrail.network.network import Network

app = typer.Typer(
    name="network", help="Networks of task trees: merge, retrieve, measure, export.", no_args_is_help=True
)

Profile = Annotated[str, typer.Option("--robot", help="Cost profile: one_arm, two_arms, or a YAML or JSON file.")]


def _goal(network: Network, text: str, trees: list[TaskTree]) -> ObjectNode:
    """A goal by tree name, node text or label; the candidates are listed where it is not clear."""
    by_name = [t for t in trees if t.target is not None and text in (t.name, t.name.removesuffix(".txt"))]
    if len(by_name) == 1 and by_name[0].target is not None:
        return by_name[0].target
    exact = [n for n in network.nodes if repr(n) == text]
    if exact:
        return exact[0]
    made = {o for outs in network.outs for o in outs}
    same = [network.nodes[k] for k in sorted(made) if network.nodes[k].label == text]
    if len(same) == 1:
        return same[0]
    if same:
        raise ConfigError(f"'{text}' could be any of: " + "; ".join(map(repr, same[:12])))
    from handrail.errors import did_you_mean

    labels = {network.nodes[k].label for k in made}
    raise ConfigError(f"nothing makes '{text}'.{did_you_mean(text, labels)}")


@app.command()
def retrieve(
    goal: Annotated[str, typer.Argument(help="What is wanted: a label, a node as shown, or a tree's name.")],
    files: Files,
    robot: Profile = "one_arm",
    consuming: Annotated[bool, typer.Option("--consuming", help="What is used up is gone; tools return.")] = False,
    best: Annotated[int, typer.Option(min=1, help="How many plans, cheapest first.")] = 1,
    buy: Annotated[float | None, typer.Option(min=0, help="Price of buying what nothing makes.")] = None,
    person: Annotated[int, typer.Option(min=0, help="How many steps a person may do.")] = 0,
    seconds: Annotated[float, typer.Option(min=0.01, help="Wall time at most.")] = 10.0,
    as_json: Json = False,
) -> None:
    """The task tree that this robot executes best, with its bound and whether it is proved.

    Ends with code 3 where the goal is out of reach.
    """
    from itertools import islice

    from handrail.network.costs import CostProfile
    from handrail.network.network import merge
    from handrail.network.retrieval import Kitchen, Prices, Semantics
    from handrail.network.retrieve.progress import Effort

    trees = trees_of(files)
    network = merge(trees)
    kitchen = Kitchen(network, Prices(CostProfile.load(robot)))
    target = _goal(network, goal, trees)
    semantics = Semantics.CONSUMING if consuming else Semantics.MONOTONE
    effort = Effort(scale=max(1.0, seconds / 10), seconds=seconds)
    if best > 1:
        if consuming or person:
            raise ConfigError("several plans are offered for the monotone semantics without a person's help only")
        found = list(islice(kitchen.plans(target, buy, seconds), best))
    else:
        found = [kitchen.retrieve(target, semantics, effort, buy, person)]
    body = [item.to_json() for item in found]
    if as_json:
        print_json(body if best > 1 else body[0] if body else None)
    for item in () if as_json else found:
        typer.echo(item.sentence)
        for k, step in enumerate(item.steps or ()):
            by = "  [a person]" if step.person else ""
            typer.echo(f"{k + 1:3}  {step.cost:5.2f}  {step.unit}{by}")
        for bought in item.shopping:
            typer.echo(f"buy  {bought.cost:5.2f}  {bought.node!r}")
        for node, copies in item.copies:
            typer.echo(f"needs {copies} of {node!r}")
    if not found or found[0].steps is None:
        raise typer.Exit(Exit.REFUSED)


@app.command()
def stats(
    files: Files, top: Annotated[int, typer.Option(min=1, help="How many of each.")] = 10, as_json: Json = False
) -> None:
    """The commonest motions, ingredients, utensils and states; sizes of the merged network."""
    from handrail.network.statistics import of

    body = of(trees_of(files), top)
    if as_json:
        print_json(body)
        return
    typer.echo(
        f"{body['trees']} trees, {body['units_written']} units written, {body['units']} distinct, {body['nodes']} nodes"
    )
    for part in ("motions", "ingredients", "utensils", "states"):
        typer.echo(f"{part}: " + ", ".join(f"{name} {share:.1%}" for name, _, share in body[part]))


@app.command()
def pddl(
    goal: Annotated[str, typer.Argument(help="What is wanted: a label, a node as shown, or a tree's name.")],
    files: Files,
    out: Annotated[Path, typer.Option(help="Folder for domain.pddl and problem.pddl.")] = Path("pddl"),
    robot: Profile = "one_arm",
    consuming: Annotated[bool, typer.Option("--consuming", help="Used-up nodes are deleted.")] = False,
) -> None:
    """Write the network and a goal as a PDDL planning problem with costs."""
    from handrail.network.costs import CostProfile
    from handrail.network.network import merge
    from handrail.network.pddl import write
    from handrail.network.retrieval import Kitchen, Prices

    trees = trees_of(files)
    network = merge(trees)
    kitchen = Kitchen(network, Prices(CostProfile.load(robot)))
    target = kitchen.node(_goal(network, goal, trees))
    written = write(
        kitchen.graph, kitchen.stock - {target}, [target], network.nodes, [u.motion for u in network.units], consuming
    )
    out.mkdir(parents=True, exist_ok=True)
    (out / "domain.pddl").write_text(written.domain, encoding="utf-8")
    (out / "problem.pddl").write_text(written.problem, encoding="utf-8")
    typer.echo(f"{written.actions} actions in {out}")


@app.command()
def graph(
    files: Files,
    view: Annotated[View, typer.Option(help="mermaid or graphviz")] = View.GRAPHVIZ,
) -> None:
    """The merged network as Mermaid or Graphviz text."""
    from handrail.network import graphs
    from handrail.network.network import merge

    network = merge(trees_of(files))
    if view not in (View.MERMAID, View.GRAPHVIZ):
        raise ConfigError("a network can be shown as mermaid or graphviz")
    typer.echo(graphs.mermaid(network) if view is View.MERMAID else graphs.graphviz(network), nl=False)
