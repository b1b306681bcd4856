"""Which labels are tools, containers and appliances, and what kind of leaf a node is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from handrail.network.model import LeafKind, ObjectNode
from handrail.network.names import DATA, load_yaml


@dataclass(frozen=True)
class Kinds:
    """Vocabulary of what stays when it is used.

    Attributes:
        tools: utensils.
        containers: vessels and surfaces that hold things.
        appliances: machines and furniture.
        lids: covers and foils.
        raw_states: states that an unprocessed object may have.
        made_states: states that show a mixture, whatever the label.
        packages: containers that things are sold in.
    """

    tools: frozenset[str]
    containers: frozenset[str]
    appliances: frozenset[str]
    lids: frozenset[str]
    raw_states: frozenset[str]
    made_states: frozenset[str]
    packages: frozenset[str]

    def stays(self, label: str) -> bool:
        """True for what is still there after use; compound labels are judged by their last word too."""
        if label in self._all:
            return True
        return " " in label and label.rsplit(" ", 1)[1] in self._all

    @property
    def _all(self) -> frozenset[str]:
        known: frozenset[str] | None = self.__dict__.get("_known")
        if known is None:
            known = self.tools | self.containers | self.appliances | self.lids
            object.__setattr__(self, "_known", known)
        return known

    def leaf(self, node: ObjectNode) -> LeafKind:
        """What a node is where nothing makes it.

        A tool, container or appliance without content is a tool. With one ingredient it is a package (raw), with more
        a composite. Food in a state that nobody had to make, or in the package it is sold in, is raw; anything else is
        composite.
        """
        if self.stays(node.label):
            if not node.ingredients and not node.states & self.made_states:
                return LeafKind.TOOL
            if len(node.ingredients) <= 1 and not node.states & self.made_states:
                return LeafKind.RAW
            return LeafKind.COMPOSITE
        if not node.ingredients and not node.treatments:
            packed = any(r.container in self.packages for r in node.relations)
            if packed or node.states <= self.raw_states:
                return LeafKind.RAW
        return LeafKind.COMPOSITE


@cache
def kinds() -> Kinds:
    """The shipped vocabulary."""
    raw = load_yaml(DATA / "kinds.yaml")
    names = ("tools", "containers", "appliances", "lids", "raw_states", "made_states", "packages")
    return Kinds(*(frozenset(map(str, raw[name])) for name in names))
