"""Task trees and networks: several imperfect plans in, the one that this robot executes best out, with a proof.

The way of the data: files and models give task trees (`document`, `generate`), names are made one (`names`), units are
judged (`units`), trees are merged (`network`), priced for a robot (`costs`) and searched (`retrieval`); skill plans take the
same way through `skills` and `consolidate`; `lines` and `edits` are what a person sees and changes.
"""

from handrail.network.consolidate import Consolidation, consolidate
from handrail.network.costs import CostProfile
from handrail.network.document import Document, read, read_all
from handrail.network.edits import Edit, Edited, Field, History
from handrail.network.library import shipped
from handrail.network.lines import Lines, lines_of, tree_of
from handrail.network.model import FunctionalUnit, Identity, LeafKind, ObjectNode, Origin, Relation, Source, TaskTree
from handrail.network.names import Names
from handrail.network.network import Network, merge
from handrail.network.retrieval import Kitchen, Measure, Prices, Retrieval, Semantics
from handrail.network.retrieve.progress import Effort
from handrail.network.skills import plan_of_tree, tree_of_plan
from handrail.network.transitions import Transitions
from handrail.network.units import UnitCheck, gaps

__all__ = [
    "Consolidation",
    "CostProfile",
    "Document",
    "Edit",
    "Edited",
    "Effort",
    "Field",
    "FunctionalUnit",
    "History",
    "Identity",
    "Kitchen",
    "LeafKind",
    "Lines",
    "Measure",
    "Names",
    "Network",
    "ObjectNode",
    "Origin",
    "Prices",
    "Relation",
    "Retrieval",
    "Semantics",
    "Source",
    "TaskTree",
    "Transitions",
    "UnitCheck",
    "consolidate",
    "gaps",
    "lines_of",
    "merge",
    "plan_of_tree",
    "read",
    "read_all",
    "shipped",
    "tree_of",
    "tree_of_plan",
]
