"""Act, ask or refuse: calibrated decisions over scored options.

    decision = decide(options, scores, calibration)        # Act | Ask | Refuse

`rank` and `conformal` hold the statistics, `calibration` the file, `policy` what a set means, `question` what to ask,
`baselines` the rules it is compared with, `feedback` how it learns from answers, `limits` joint limits on misses and help.
"""

from handrail.decide.calibration import Calibration
from handrail.decide.policy import Act, Ask, ConformalDecider, Decider, Reason, Refuse, decide
from handrail.decide.question import Question, best_question

__all__ = [
    "Act",
    "Ask",
    "Calibration",
    "ConformalDecider",
    "Decider",
    "Question",
    "Reason",
    "Refuse",
    "best_question",
    "decide",
]
