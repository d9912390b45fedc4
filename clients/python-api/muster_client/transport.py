"""Calls of the API over HTTP, with retries."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
import urllib.request
import uuid
from typing import Any, Mapping, Optional

from .errors import MusterError, NoAnswerError, error_of

#: The first retry waits up to this time, and each later one up to twice the time before it.
_first_pause_seconds = 0.2
_max_pause_seconds = 5.0


class Omitted:
    """The type of ``OMITTED``, the default of optional parameters. ``None`` is sent as null."""

    def __repr__(self) -> str:
        return "OMITTED"

    def __bool__(self) -> bool:
        return False


OMITTED = Omitted()


class _EveryAnswer(urllib.request.HTTPErrorProcessor):
    """Returns every answer. Redirects are not followed: they would take the token to another address."""

    def http_response(self, request: Any, response: Any) -> Any:
        return response

    https_response = http_response


class Transport:
    """Sends calls to ``POST {base_url}/api/<namespace>/<operation>``.

    Every write carries an Idempotency-Key. A call without an answer, and a call that the server cannot
    answer now (429, 503), is repeated for ``retry_seconds`` with exponential backoff and full jitter. If an
    answer was lost after the write happened, the repetition receives the stored result.

    One transport can be used by several threads.
    """

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        retry_seconds: float = 30.0,
        timeout_seconds: float = 60.0,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._token = token
        self._retry_seconds = retry_seconds
        self._timeout_seconds = timeout_seconds
        self._opener = urllib.request.build_opener(_EveryAnswer)
        self._position: Optional[str] = None
        self._position_lock = threading.Lock()

    def call(
        self,
        operation: str,
        params: Mapping[str, Any],
        *,
        writes: bool,
        idempotency_key: Optional[str] = None,
    ) -> Any:
        body = {name: value for name, value in params.items() if not isinstance(value, Omitted)}
        headers = {"content-type": "application/json", "authorization": f"Bearer {self._token}"}
        if writes:
            headers["idempotency-key"] = idempotency_key or str(uuid.uuid4())
        elif self._position is not None:
            headers["muster-position"] = self._position
        path = operation.replace(".", "/")
        deadline = time.monotonic() + self._retry_seconds
        most = _first_pause_seconds
        while True:
            try:
                return self._send(path, body, headers)
            except (MusterError, NoAnswerError) as error:
                if not _is_temporary(error):
                    raise
                asked = getattr(error, "retry_after_seconds", None) or 0.0
                pause = asked + random.uniform(0, most)
                if time.monotonic() + pause > deadline:
                    raise
                time.sleep(pause)
                most = min(_max_pause_seconds, most * 2)

    def _send(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> Any:
        request = urllib.request.Request(
            f"{self._base_url}/api/{path}",
            data=json.dumps(body).encode(),
            headers=dict(headers),
            method="POST",
        )
        try:
            with self._opener.open(request, timeout=self._timeout_seconds) as response:
                text = response.read()
                if response.status >= 300:
                    raise self._failure(response, text)
                self._remember_position(response.headers.get("muster-position"))
                return json.loads(text)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise NoAnswerError(f"no answer from {self._base_url}: {error}") from error

    def _failure(self, response: http.client.HTTPResponse, text: bytes) -> Exception:
        try:
            body = json.loads(text)
            is_error_object = isinstance(body, dict) and {"code", "message", "status"} <= body.keys()
        except ValueError:
            is_error_object = False
        if not is_error_object:
            return NoAnswerError(f"{self._base_url} answered {response.status} in an unexpected format")
        try:
            retry_after = float(response.headers.get("retry-after", ""))
        except ValueError:
            retry_after = None
        return error_of(body, retry_after)

    def _remember_position(self, received: Optional[str]) -> None:
        """Keeps the newest position, so that a standby answers a later read only if it has caught up."""
        if received is None:
            return
        with self._position_lock:
            if self._position is None or _parse_position(received) > _parse_position(self._position):
                self._position = received


def _parse_position(position: str) -> int:
    """Parses a WAL position: two hexadecimal numbers of 32 bits, such as ``0/16B3748``."""
    high, _, low = position.partition("/")
    return (int(high, 16) << 32) + int(low, 16)


def _is_temporary(error: Exception) -> bool:
    if isinstance(error, NoAnswerError):
        return True
    return isinstance(error, MusterError) and (
        error.status in (429, 503) or error.reason == "idempotency_in_flight"
    )
