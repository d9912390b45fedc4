"""The exceptions that a call can raise."""

from __future__ import annotations

from typing import Any, Mapping, Optional


class MusterError(Exception):
    """The error object of the API. Act on ``code`` and ``reason``, not on the message."""

    def __init__(self, body: Mapping[str, Any], retry_after_seconds: Optional[float] = None) -> None:
        super().__init__(f"{body['code']}: {body['message']}")
        self.body = body
        #: The delay in seconds that the server asks for before the next call; None if it asks for none.
        self.retry_after_seconds = retry_after_seconds

    @property
    def status(self) -> int:
        return int(self.body["status"])

    @property
    def code(self) -> str:
        return str(self.body["code"])

    @property
    def reason(self) -> Optional[str]:
        return self.details.get("reason")

    @property
    def details(self) -> Mapping[str, Any]:
        return self.body.get("details") or {}


class BadRequestError(MusterError):
    """400: the parameters are invalid. ``details["issues"]`` lists the problems."""


class UnauthorizedError(MusterError):
    """401: the token is missing, unknown, revoked or expired."""


class ForbiddenError(MusterError):
    """403: the caller may see the record, but must not do this."""


class NotFoundError(MusterError):
    """404: the record does not exist, or the caller must not see it."""


class ConflictError(MusterError):
    """409: the state has changed, or another caller holds the record. The reason says which."""


class UnprocessableError(MusterError):
    """422: a rule forbids the call. The reason names the rule."""


class RateLimitedError(MusterError):
    """429: the caller made too many calls."""


class UnavailableError(MusterError):
    """503: the server cannot answer now."""


class NoAnswerError(Exception):
    """The connection failed, or an intermediary such as a proxy answered instead of the API."""


class WebhookVerificationError(Exception):
    """The message was not signed with the secret of the webhook, or it is too old."""


_classes = {
    "bad_request": BadRequestError,
    "unauthorized": UnauthorizedError,
    "forbidden": ForbiddenError,
    "not_found": NotFoundError,
    "unknown_operation": NotFoundError,
    "conflict": ConflictError,
    "unprocessable": UnprocessableError,
    "rate_limited": RateLimitedError,
    "unavailable": UnavailableError,
}


def error_of(body: Mapping[str, Any], retry_after_seconds: Optional[float]) -> MusterError:
    """Converts the error object to the exception of its code."""
    return _classes.get(body["code"], MusterError)(body, retry_after_seconds)


def is_refusal(error: BaseException, reason: str) -> bool:
    """Returns True if the API refused a call for this reason, as in ``is_refusal(error, "lease_held")``."""
    return isinstance(error, MusterError) and error.reason == reason
