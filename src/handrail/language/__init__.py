"""Language models: one seam, several models behind it, and the reading of what they write.

    Message ─▶ Model.chat / json ─▶ Answer ─▶ reading.read ─▶ Reading (nodes with places, repeated keys kept)
    prompt, texts ─▶ Model.likelihoods ─▶ TextScore per text        prompt, labels ─▶ Model.letters ─▶ LetterScores

`Embedded` computes in this process, `Endpoint` asks an OpenAI-compatible server, `Cassette` records and plays back,
`Canned` says what it was told to, `Watched` tells a recorder of each request. `handrail.models` makes them.
"""

from handrail.language.faults import (
    IncapableError,
    MissError,
    ModelAnswerError,
    ModelCancelledError,
    ModelRefusedError,
    ModelTimeoutError,
)
from handrail.language.model import Call, Model, Wrapper
from handrail.language.reading import Reading, read
from handrail.language.records import (
    Answer,
    Capabilities,
    Fingerprint,
    LetterScores,
    Message,
    TextScore,
    TokenScore,
)

__all__ = [
    "Answer",
    "Call",
    "Capabilities",
    "Fingerprint",
    "IncapableError",
    "LetterScores",
    "Message",
    "MissError",
    "Model",
    "ModelAnswerError",
    "ModelCancelledError",
    "ModelRefusedError",
    "ModelTimeoutError",
    "Reading",
    "TextScore",
    "TokenScore",
    "Wrapper",
    "read",
]
