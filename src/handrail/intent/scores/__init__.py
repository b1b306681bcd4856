"""Numbers for options: how well each fits a request."""

from handrail.intent.scores.scorer import Context, Scorer, provenance

__all__ = ["Context", "Scorer", "provenance"]
