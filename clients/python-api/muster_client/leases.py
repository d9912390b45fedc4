"""A lease that is renewed in the background while its holder works."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable, Iterator, Literal, Mapping, Optional

from .errors import MusterError, is_refusal

if TYPE_CHECKING:
    from . import Muster

#: The shares of the lease's duration after which it is renewed, and after which a failed renewal is repeated.
_renew_after_share = 0.5
_retry_after_share = 0.1
#: Statuses of a refused renewal that mean a permanent loss. A renewal names only the lease.
_lost_statuses = frozenset((401, 403, 404))

OnSignal = Callable[[Mapping[str, Any]], None]


class Lease:
    """The interface through which a holder uses its lease. Each call through it renews the lease.

    ``lost`` is set when another caller has the lease, or when the holder lost the right to it. Stop working
    then: the server rejects everything that the holder still sends.
    """

    def __init__(self, muster: "Muster", acquired: Mapping[str, Any], on_signal: OnSignal) -> None:
        self._muster = muster
        self._on_signal = on_signal
        self.execution_id: str = acquired["execution"]["id"]
        self.lease_token: str = acquired["leaseToken"]
        self._lease_params: Mapping[str, Any] = {"execution_id": self.execution_id, "lease_token": self.lease_token}
        self._ended = threading.Event()
        self._wake = threading.Event()
        self._wait_share = _renew_after_share
        #: True while a call is pending that ends the lease. A renewal refused in that time means no loss.
        self._is_ending = False
        self.lost = threading.Event()
        #: True if there is earlier work. Continue from ``execution["checkpoint"]``.
        self.resumed: bool = acquired["resumed"]
        #: The execution as the last answer showed it.
        self.execution: Mapping[str, Any] = acquired["execution"]
        self._thread = threading.Thread(target=self._renew_in_time, name="muster-lease", daemon=True)
        self._apply_answer(acquired)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """True if this holder ended or lost the lease."""
        return self._ended.is_set() or self.lost.is_set()

    def renew(self, **params: Any) -> Mapping[str, Any]:
        try:
            return self._apply_answer(self._muster.delivery_executions.renew(**self._lease_params, **params))
        except MusterError as error:
            if error.status in _lost_statuses:
                self._lose()
            self._note_loss(error)
            raise

    def checkpoint(self, **params: Any) -> Mapping[str, Any]:
        return self._as_holder(self._muster.delivery_executions.checkpoint, params)

    def update(self, **params: Any) -> Mapping[str, Any]:
        return self._as_holder(self._muster.delivery_executions.update, params)

    def handoff(self, **params: Any) -> Mapping[str, Any]:
        """Hands the work over to another member or agent. Like ``complete`` and ``release``, ends the lease."""
        return self._end(self._muster.delivery_executions.handoff, params)

    def complete(self, **params: Any) -> Mapping[str, Any]:
        return self._end(self._muster.delivery_executions.complete, params)

    def release(self, **params: Any) -> Mapping[str, Any]:
        return self._end(self._muster.delivery_executions.release, params)

    def stop_renewing(self) -> None:
        """Stops the renewals without releasing the lease. Others can claim the work after it expires."""
        self._ended.set()
        self._wake.set()

    def _as_holder(self, method: Callable[..., Any], params: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            return self._apply_answer(method(**self._lease_params, **params))
        except MusterError as error:
            self._note_loss(error)
            raise

    def _end(self, method: Callable[..., Any], params: Mapping[str, Any]) -> Mapping[str, Any]:
        self._is_ending = True
        try:
            answer = method(**self._lease_params, **params)
        except BaseException as error:
            self._is_ending = False
            if isinstance(error, MusterError):
                self._note_loss(error)
            raise
        self.stop_renewing()
        return self._apply_answer(answer)

    def _apply_answer(self, answer: Mapping[str, Any]) -> Mapping[str, Any]:
        self.execution = answer["execution"]
        for signal in answer.get("signals") or ():
            self._on_signal(signal)
        self._wait_share = _renew_after_share
        self._wake.set()
        return self.execution

    def _note_loss(self, error: MusterError) -> None:
        if is_refusal(error, "stale_lease"):
            self._lose()

    def _lose(self) -> None:
        if not self._ended.is_set() and not self._is_ending:
            self.lost.set()
            self._wake.set()

    def _renew_in_time(self) -> None:
        while not self.is_over:
            self._wake.clear()
            lease = self.execution.get("lease") or {}
            # Every answer wakes the thread, so that the time counts from the last renewal.
            if self._wake.wait(lease.get("ttlSeconds", 60) * self._wait_share) or self.is_over:
                continue
            try:
                self.renew()
            except Exception:
                # A temporary failure does not lose the lease. An expired lease stays with its holder until
                # another caller claims it.
                self._wait_share = _retry_after_share


@contextmanager
def with_lease(
    muster: "Muster",
    target_type: Literal["story", "delivery_group"],
    target_id: str,
    *,
    on_signal: Optional[OnSignal] = None,
    **params: Any,
) -> Iterator[Lease]:
    """Acquires a lease for a block, and releases it unless the block ended it.

    ``on_signal`` is called once for each signal, in the thread that received it. ``params`` are further
    parameters of ``delivery_executions.acquire``.

    Raises ``ConflictError`` with the reason ``lease_held`` if another caller has the lease.
    """
    acquired = muster.delivery_executions.acquire(target_type=target_type, target_id=target_id, **params)
    lease = Lease(muster, acquired, on_signal or (lambda _: None))
    try:
        yield lease
    except BaseException:
        try:
            _release(lease)
        except Exception:
            # The error of the block matters more than a failed release.
            pass
        raise
    _release(lease)


def _release(lease: Lease) -> None:
    is_over = lease.is_over
    lease.stop_renewing()
    if is_over:
        return
    try:
        lease.release()
    except MusterError as error:
        # Another caller has the lease by now.
        if not is_refusal(error, "stale_lease"):
            raise
