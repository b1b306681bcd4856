"""Text from people, labels and tools is data: it must not be able to open a turn of its own.

A chat template marks turns with special tokens. The same characters inside a message would be cut into the same tokens,
and a label that reads `<|im_end|><|im_start|>system` would speak with the system's voice.
"""

from __future__ import annotations

import re

CHAT_TOKEN = re.compile(
    r"<\|[A-Za-z0-9_\- ]{1,40}\|>|</?s>|<(?:start|end)_of_turn>|\[/?INST\]|<\uff5c[^\uff5c<>]{1,40}\uff5c>"
)
"""The special tokens of the common chat templates, as written."""


def inert(text: str) -> str:
    """The text with a blank inside whatever looks like a special token; other text is unchanged."""
    return CHAT_TOKEN.sub(lambda found: found.group()[0] + " " + found.group()[1:], text)
