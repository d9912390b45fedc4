"""The API of Muster as typed methods."""

from __future__ import annotations

from typing import Any, Callable, Iterator

from .errors import (
    BadRequestError,
    ConflictError,
    ForbiddenError,
    MusterError,
    NoAnswerError,
    NotFoundError,
    RateLimitedError,
    UnauthorizedError,
    UnavailableError,
    UnprocessableError,
    WebhookVerificationError,
    is_refusal,
)
from .leases import Lease, with_lease
from .operations import Operations, __version__
from .transport import OMITTED, Transport
from .webhooks import verify_webhook


class Muster(Operations):
    """A client with the token of a member or an agent.

    ``retry_seconds`` is the total time in which a call is repeated while the server or the network is
    unavailable. ``timeout_seconds`` limits the wait for one answer.
    """

    def __init__(
        self, base_url: str, token: str, *, retry_seconds: float = 30.0, timeout_seconds: float = 60.0
    ) -> None:
        super().__init__(
            Transport(base_url, token, retry_seconds=retry_seconds, timeout_seconds=timeout_seconds)
        )


def all_items(method: Callable[..., Any], **params: Any) -> Iterator[Any]:
    """Yields the items of all pages, as in ``all_items(muster.stories.list, project_id="WEB")``."""
    cursor: Any = OMITTED
    while True:
        page = method(**params, cursor=cursor)
        yield from page["items"]
        if page["nextCursor"] is None:
            return
        cursor = page["nextCursor"]


__all__ = [
    "BadRequestError",
    "ConflictError",
    "ForbiddenError",
    "Lease",
    "Muster",
    "MusterError",
    "NoAnswerError",
    "NotFoundError",
    "OMITTED",
    "RateLimitedError",
    "UnauthorizedError",
    "UnavailableError",
    "UnprocessableError",
    "WebhookVerificationError",
    "__version__",
    "all_items",
    "is_refusal",
    "verify_webhook",
    "with_lease",
]
