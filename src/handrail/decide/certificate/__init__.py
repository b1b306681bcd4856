"""The certificate: what share of tasks ends as the person meant, for the whole closed loop.

Declare first, run episodes, judge them apart from the robot, test. `statement` puts the outcome into words.
"""

from handrail.decide.certificate.binomial import kmax, minimum_episodes, p_value, power, required_episodes
from handrail.decide.certificate.certify import Certificate, Row, Status, accept, certify
from handrail.decide.certificate.claims import ForbiddenClaimError
from handrail.decide.certificate.declaration import Declaration, EarlierAttempt, Limits, next_share
from handrail.decide.certificate.dryrun import DryRunThreshold, calibrate_dry_run
from handrail.decide.certificate.episode import (
    Choice,
    DryRun,
    Ended,
    Episode,
    Judgement,
    ReadBack,
    Replan,
    Verified,
)
from handrail.decide.certificate.eprocess import anytime_lower, anytime_upper
from handrail.decide.certificate.folder import CertificateFolder
from handrail.decide.certificate.log import EpisodeLog
from handrail.decide.certificate.order import starts_from_simulator
from handrail.decide.certificate.parts import PartsData, PartsEstimate, parts_estimate
from handrail.decide.certificate.replay import Losses, replay
from handrail.decide.certificate.setting import Setting, collecting, grid
from handrail.decide.certificate.words import Deployed, checked, statement

__all__ = [
    "Certificate",
    "CertificateFolder",
    "Choice",
    "Declaration",
    "Deployed",
    "DryRun",
    "DryRunThreshold",
    "EarlierAttempt",
    "Ended",
    "Episode",
    "EpisodeLog",
    "ForbiddenClaimError",
    "Judgement",
    "Limits",
    "Losses",
    "PartsData",
    "PartsEstimate",
    "ReadBack",
    "Replan",
    "Row",
    "Setting",
    "Status",
    "Verified",
    "accept",
    "anytime_lower",
    "anytime_upper",
    "calibrate_dry_run",
    "certify",
    "checked",
    "collecting",
    "grid",
    "kmax",
    "minimum_episodes",
    "next_share",
    "p_value",
    "parts_estimate",
    "power",
    "replay",
    "required_episodes",
    "starts_from_simulator",
    "statement",
]
