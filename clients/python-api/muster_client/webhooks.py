"""Verification of webhook messages, as Standard Webhooks specifies it (https://www.standardwebhooks.com)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Any, Mapping, Sequence, Union

from .errors import WebhookVerificationError


def verify_webhook(
    secrets: Union[str, Sequence[str]],
    headers: Mapping[str, str],
    body: Union[bytes, str],
    *,
    tolerance_seconds: float = 300.0,
) -> Any:
    """Returns the parsed message if one of the secrets signed it; raises WebhookVerificationError otherwise.

    ``body`` must be the body as it was received, before any parsing. Names in ``headers`` may be in any case.
    A message whose timestamp differs from the clock by more than ``tolerance_seconds`` is refused. Use the
    header ``webhook-id`` to find messages that were delivered twice.
    """
    content = body.encode() if isinstance(body, str) else body
    values = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, timestamp = values["webhook-id"], values["webhook-timestamp"]
        signatures = values["webhook-signature"].split()
        age_seconds = time.time() - int(timestamp)
    except (KeyError, ValueError):
        raise WebhookVerificationError("A header of the signature is missing or invalid.") from None
    if abs(age_seconds) > tolerance_seconds:
        raise WebhookVerificationError("The timestamp differs too much from the clock of this computer.")
    signed = b".".join((message_id.encode(), timestamp.encode(), content))
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        expected = "v1," + base64.b64encode(hmac.digest(_key_of(secret), signed, hashlib.sha256)).decode()
        if any(hmac.compare_digest(expected.encode(), one.encode()) for one in signatures):
            return json.loads(content)
    raise WebhookVerificationError("The message was not signed with this secret.")


def _key_of(secret: str) -> bytes:
    text = secret[len("whsec_") :] if secret.startswith("whsec_") else secret
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise WebhookVerificationError("The secret is not in the format whsec_…") from None
