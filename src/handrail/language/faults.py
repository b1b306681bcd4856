"""How a language model can fail.

ModelError (handrail.errors)
├── ModelTimeoutError      no whole answer within the call's time
├── ModelCancelledError    the caller cancelled
├── ModelAnswerError       it answered, but not with what the interface promises
├── ModelRefusedError      it refused the request itself (bad key, unknown model, request too long ...)
├── IncapableError         it can't do this kind of request at all
└── MissError              a recording does not hold this request
"""

from __future__ import annotations

from handrail.errors import ModelError


class ModelTimeoutError(ModelError):
    """No whole answer within the call's time."""


class ModelCancelledError(ModelError):
    """The caller cancelled the request."""


class ModelAnswerError(ModelError):
    """The endpoint answered, but not with what its interface promises."""


class ModelRefusedError(ModelError):
    """The endpoint refused the request: key, model name, length, or a feature that it does not have.

    Attributes:
        status: the HTTP status, 0 where there is none.
    """

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class IncapableError(ModelError):
    """The model or endpoint can't do this kind of request; the message says what it lacks."""


class MissError(ModelError):
    """A recording holds no answer to this request; nothing is invented in its place."""
