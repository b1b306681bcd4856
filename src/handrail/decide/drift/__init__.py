"""After deployment: audits, check questions and detectors that tell when a certificate is no longer true."""

from handrail.decide.drift.audit import AuditPlan, CheckQuestions, wrong_answer_bound
from handrail.decide.drift.deployment import Deployment
from handrail.decide.drift.detector import Detector
from handrail.decide.drift.monitor import Cause, Monitor, Suspension, TaskReport
from handrail.decide.drift.streams import Stream, baseline, streams_of

__all__ = [
    "AuditPlan",
    "Cause",
    "CheckQuestions",
    "Deployment",
    "Detector",
    "Monitor",
    "Stream",
    "Suspension",
    "TaskReport",
    "baseline",
    "streams_of",
    "wrong_answer_bound",
]
