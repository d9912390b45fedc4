"""A license client for one program on one machine, in Python 3.9 and newer. It needs only the standard library.

    from muster_license import LicenseClient

    licenses = LicenseClient(url="https://licenses.example.com", product="my-program")
    standing = licenses.activate(key)   # once, after the purchase
    standing = licenses.check()         # at each start
    standing = licenses.trial()         # or a trial without a key
    if not standing.may_run:
        raise SystemExit(standing.message)

It trusts only answers that are signed for its own request. Everything else counts as an outage, and then the stored
certificate decides. It uses the same file as the client for Node, so a program may use both.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import json
import os
import re
import secrets
import subprocess
import sys
import time
import urllib.parse
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping, Optional

__all__ = ["LicenseClient", "Standing"]

_ATTEMPT_SECONDS = 10
_MOST_BYTES = 256 * 1024
_TOLERANCE_MILLIS = 10 * 60_000

# Verification of Ed25519 (RFC 8032). It handles no secrets, so it need not run in constant time.
_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)


def _recover_x(y: int, sign: int) -> Optional[int]:
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    if square == 0:
        return None if sign else 0
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT % _P
    if (x * x - square) % _P:
        return None
    return _P - x if (x & 1) != sign else x


def _add(a, b):
    s, t = (a[1] - a[0]) * (b[1] - b[0]) % _P, (a[1] + a[0]) * (b[1] + b[0]) % _P
    u, v = 2 * a[3] * b[3] * _D % _P, 2 * a[2] * b[2] % _P
    e, f, g, h = t - s, v - u, v + u, t + s
    return (e * f % _P, g * h % _P, f * g % _P, e * h % _P)


def _times(scalar: int, point):
    result = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            result = _add(result, point)
        point = _add(point, point)
        scalar >>= 1
    return result


def _point(data: bytes):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & ((1 << 255) - 1)
    x = _recover_x(y, sign)
    return None if x is None else (x, y, 1, x * y % _P)


_G_Y = 4 * pow(5, _P - 2, _P) % _P
_G_X = _recover_x(_G_Y, 0) or 0
_G = (_G_X, _G_Y, 1, _G_X * _G_Y % _P)


def verify_ed25519(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Answers True if the 32-byte key signed the message."""
    if len(public_key) != 32 or len(signature) != 64:
        return False
    a, r = _point(public_key), _point(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= _L:
        return False
    digest = hashlib.sha512(signature[:32] + public_key + message).digest()
    left, right = _times(s, _G), _add(r, _times(int.from_bytes(digest, "little") % _L, a))
    return (left[0] * right[2] - right[0] * left[2]) % _P == 0 and (
        left[1] * right[2] - right[1] * left[2]
    ) % _P == 0


def _b64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _ring(keys: Any) -> dict:
    """Answers the 32 bytes of each key by key ID. Skips keys of other types."""
    ring = {}
    for key in keys if isinstance(keys, list) else []:
        if isinstance(key, dict) and key.get("kty") == "OKP" and key.get("crv") == "Ed25519":
            try:
                ring[str(key["kid"])] = _b64url(key["x"])
            except (KeyError, ValueError, TypeError):
                continue
    return ring


# Signed texts: certificates, which allow one machine to run offline until a time, and answers that people carry.


def _read_signed(text: str, kind: str, keys: Mapping[str, bytes]) -> Optional[dict]:
    parts = text.split(".")
    if len(parts) != 3 or parts[0] != kind:
        return None
    try:
        payload, signature = json.loads(_b64url(parts[1])), _b64url(parts[2])
    except (ValueError, RecursionError):
        return None
    key = keys.get(payload["kid"]) if isinstance(payload, dict) and isinstance(payload.get("kid"), str) else None
    if key is None or not verify_ed25519(key, f"{parts[0]}.{parts[1]}".encode(), signature):
        return None
    return payload


def read_certificate(text: str, keys: Mapping[str, bytes], kind: str = "lic1") -> Optional[dict]:
    """Answers the payload of a certificate that one of these keys signed, even if it has expired; None if it is invalid.

    kind: `lic1` of a license, `trial1` of a trial.
    """
    payload = _read_signed(text, kind, keys)
    texts = payload is not None and all(isinstance(payload.get(name), str) for name in ("lic", "plan", "machine"))
    return payload if texts and all(type(payload.get(name)) is int for name in ("iat", "exp")) else None


def request_text(license_key: str, machine_id: str, nonce: str) -> str:
    """Makes the request of an offline machine, a text for people to carry."""
    asked = json.dumps({"licenseKey": license_key, "machineId": machine_id, "nonce": nonce})
    return "licreq1." + base64.urlsafe_b64encode(asked.encode()).rstrip(b"=").decode()


def answer_to(request: Mapping[str, str], text: str, keys: Mapping[str, bytes]) -> dict:
    """Reads the answer to a request (licenseKey, machineId, nonce). `reason` is `granted` if it has a certificate.

    is_own: the service itself refused this request.
    """
    said = _read_signed(text.strip(), "licans1", keys)
    if said is None or type(said.get("iat")) is not int:
        return {"reason": "untrusted", "is_own": False}
    key = said.get("licenseKey")
    is_own = said.get("nonce") == request["nonce"] and is_of_machine(said, request["machineId"])
    if not is_own or not isinstance(key, str) or not _same_key(key, request["licenseKey"]):
        return {"reason": "answer_of_another_request", "is_own": False}
    reason, message = said.get("reason"), said.get("message")
    if isinstance(reason, str):
        is_final = said.get("retryable") is not True
        return {"reason": reason, "is_own": True, "is_final": is_final, "message": message}
    certificate = said.get("certificate")
    payload = read_certificate(certificate, keys) if isinstance(certificate, str) else None
    if payload is None or not is_of_machine(payload, request["machineId"]):
        return {"reason": "untrusted", "is_own": False}
    granted = {"licenseKey": key, "certificate": certificate, "payload": payload, "seconds": said["iat"]}
    return {"reason": "granted", "is_own": True, **granted}


def is_of_machine(payload: Mapping[str, Any], machine_id: str) -> bool:
    mark = base64.urlsafe_b64encode(hashlib.sha256(machine_id.encode()).digest()).rstrip(b"=")
    return payload.get("machine") == mark.decode()


# Verification of signed answers: the part of RFC 9421 that the service uses.


def digest_of(body: bytes) -> str:
    return "sha-256=:" + base64.b64encode(hashlib.sha256(body).digest()).decode() + ":"


def _member(dictionary: str, name: str) -> Optional[str]:
    for member in re.findall(r'(?:"(?:[^"\\]|\\.)*"|\([^)]*\)|[^,"(])+', dictionary):
        if member.strip().startswith(name + "="):
            return member.strip()[len(name) + 1 :]
    return None


def _bytes_in(member: Optional[str]) -> Optional[bytes]:
    found = re.fullmatch(r":([A-Za-z0-9+/]+={0,2}):", member or "")
    try:
        return base64.b64decode(found.group(1)) if found else None
    except ValueError:
        return None


def key_id_of(headers: Mapping[str, str]) -> Optional[str]:
    found = re.search(r';keyid="([^"\\]+)"', _member(headers.get("signature-input", ""), "license") or "")
    return found.group(1) if found else None


def signed_at(question: Mapping[str, Any], answer: Mapping[str, Any], keys: Mapping[str, bytes]) -> Optional[int]:
    """Verifies an answer to a request. Answers its time in seconds since 1970; None if the signature is not valid.

    question: method, target, body (bytes or None), nonce. answer: status, headers by their names in lower case, body.
    """
    headers, body = answer["headers"], answer["body"]
    sent = _member(headers.get("signature-input", ""), "license")
    found = re.fullmatch(r"\(([^)]*)\)(;.+)", sent or "")
    signature = _bytes_in(_member(headers.get("signature", ""), "license"))
    key = keys.get(key_id_of(headers) or "")
    created = re.search(r";created=(\d{1,12})(?:;|$)", found.group(2)) if found else None
    if not found or signature is None or key is None or not created or int(created.group(1)) == 0:
        return None
    if _bytes_in(_member(headers.get("content-digest", ""), "sha-256")) != hashlib.sha256(body).digest():
        return None
    path, mark, query = question["target"].partition("?")
    values = {
        '"@status"': str(answer["status"]),
        '"content-digest"': headers.get("content-digest", ""),
        '"@method";req': question["method"],
        '"@path";req': path,
        '"@query";req': mark + query if mark else "?",
        '"license-nonce";req': question["nonce"],
    }
    if question["body"] is not None:
        values['"content-digest";req'] = digest_of(question["body"])
    covered = found.group(1).split(" ")
    # The signature must cover exactly the known components.
    if len(covered) != len(values) or set(covered) != set(values):
        return None
    lines = [f"{name}: {values[name]}" for name in covered] + [f'"@signature-params": {sent}']
    if not verify_ed25519(key, "\n".join(lines).encode("latin-1"), signature):
        return None
    return int(created.group(1))


# The trusted time.


def time_now(seen: Mapping[str, float], clock_millis: float, written_millis: float = 0) -> Optional[float]:
    """The time in milliseconds since 1970; None where the clock was turned back."""
    if clock_millis < written_millis - _TOLERANCE_MILLIS:
        return None
    now = clock_millis + seen["aheadMillis"]
    if now < seen["latestMillis"] - _TOLERANCE_MILLIS:
        return None
    return max(now, seen["latestMillis"])


# The machine ID: an HMAC of the product name with the ID of the operating system as key, which never leaves the machine.


def _id_in(text: str) -> Optional[str]:
    fits = re.fullmatch(r"[0-9a-fA-F]{32}\s*", text) and not re.fullmatch(r"0+\s*", text)
    return text.strip().lower() if fits else None


def _id_of_system() -> Optional[str]:
    if sys.platform == "darwin":
        said = subprocess.run(
            ["/usr/sbin/ioreg", "-rd1", "-c", "IOPlatformExpertDevice"],
            capture_output=True, text=True, timeout=10, check=True,
        ).stdout
        found = re.search(r'"IOPlatformUUID"\s*=\s*"([0-9a-fA-F-]{36})"', said)
    elif sys.platform == "win32":
        import winreg  # noqa: PLC0415 - only on Windows

        access = winreg.KEY_READ | winreg.KEY_WOW64_64KEY
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, r"SOFTWARE\Microsoft\Cryptography", 0, access) as key:
            found = re.fullmatch(r"\{?([0-9a-fA-F-]{36})\}?", winreg.QueryValueEx(key, "MachineGuid")[0])
    else:
        for file in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
            try:
                known = _id_in(Path(file).read_text())
            except OSError:
                continue
            if known:
                return known
        return None
    if not found:
        raise RuntimeError("the operating system does not report a machine id")
    return found.group(1).lower()


def _id_of_folder(folder: Path) -> str:
    file = folder / "machine-id"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = folder / f"machine-id.{secrets.token_hex(8)}"
        draft.write_text(secrets.token_hex(16) + "\n")
        try:
            # Another process may create it at the same time. The first file wins.
            os.link(draft, file)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    known = _id_in(file.read_text())
    if known is None:
        raise RuntimeError(f"{file} has no id of a machine")
    return known


@dataclass(frozen=True)
class Standing:
    """The license state: may the program run, on which basis, and with which features."""

    may_run: bool
    #: A message for people.
    message: str
    #: `active` or the reason of a refusal: `license_revoked`, `active_on_another_machine`, `certificate_ended`, `unreachable`, …
    reason: str
    #: True if the service has refused. Otherwise the program may ask again.
    is_final: bool = False
    #: The basis: `service` or `certificate`.
    by: Optional[str] = None
    plan: Optional[str] = None
    #: The end of offline use, in seconds since 1970.
    offline_until: Optional[int] = None
    features: Mapping[str, Any] = field(default_factory=dict)
    #: True for a trial without a key.
    is_trial: bool = False

    def has(self, feature: str) -> bool:
        """Answers True if a feature is on or its number is positive."""
        return bool(self.features.get(feature))

    def limit(self, feature: str) -> Optional[int]:
        """Answers the number of a feature; None if the license has no number for it."""
        value = self.features.get(feature)
        return value if type(value) is int else None


_MESSAGES = {
    "no_license": "No license was activated on this machine.",
    "unreachable": "The license service does not answer.",
    "untrusted": "What answered was not the license service.",
    "certificate_not_genuine": "The certificate of this machine is not genuine.",
    "certificate_of_another_machine": "The certificate is of another machine.",
    "certificate_ended": "The certificate has ended, and the license service does not answer.",
    "clock_turned_back": "The clock of this machine was turned back.",
    "answer_of_another_request": "The response does not belong to a request of this machine, or it is outdated.",
    "not_activated": "This license is not active on this machine.",
    "refused": "The license service refused this license.",
}
_STATES = {
    "unactivated": "not_activated", "other_machine": "active_on_another_machine", "expired": "license_expired",
    "suspended": "license_suspended", "revoked": "license_revoked",
}  # fmt: skip


def _no(reason: str, is_final: bool = False, message: Optional[str] = None) -> Standing:
    return Standing(False, message or _MESSAGES.get(reason, _MESSAGES["refused"]), reason, is_final)


@dataclass(frozen=True)
class _Heard:
    status: int
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    seconds: int


def _same_key(one: str, other: str) -> bool:
    def bare(key: str) -> str:
        return re.sub(r"[^0-9a-zA-Z]", "", key).upper().replace("O", "0").translate(str.maketrans("IL", "11"))[-25:]

    return bare(one) == bare(other)


def _is_of(kept: Mapping[str, Any], license_key: str) -> bool:
    """Answers True if the stored license has this key. A trial has no key."""
    return kept["licenseKey"] is not None and _same_key(kept["licenseKey"], license_key)


class LicenseClient:
    """The license client of one program on one machine. A call takes up to `patience_seconds` and one more attempt."""

    def __init__(
        self, url: str, product: str, *, folder: Optional[os.PathLike] = None, public_keys: Optional[list] = None,
        patience_seconds: float = 10, machine_id: Optional[str] = None, service_product: Optional[str] = None,
    ) -> None:  # fmt: skip
        parts = urllib.parse.urlsplit(url)
        is_here = bool(re.fullmatch(r"localhost|127(\.\d+){3}|::1", parts.hostname or ""))
        if parts.scheme not in ("http", "https") or parts.path not in ("", "/") or parts.query:
            raise ValueError("url must name a host by http or https, and no path")
        if parts.scheme == "http" and not is_here and public_keys is None:
            raise ValueError("url must be of https, unless public_keys are given")
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", product):
            raise ValueError("product must consist of letters, digits and the characters . _ -")
        self._parts, self._product, self._patience = parts, product, patience_seconds
        self._service_product = service_product
        self._pinned = None if public_keys is None else _ring(public_keys)
        if self._pinned is not None and len(self._pinned) != len(public_keys or []):
            raise ValueError("public_keys must be Ed25519 keys as /.well-known/license-keys.json has them")
        self._folder = Path(folder) if folder is not None else self._usual_folder()
        self._file, self._request = self._folder / "license.json", self._folder / "request.json"
        self._fetched: list = []
        self._own_id = machine_id

    def _usual_folder(self) -> Path:
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / self._product
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Application Support" / self._product
        return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / self._product

    def machine_id(self) -> str:
        """Answers the machine ID that the service knows."""
        if self._own_id is None:
            own = _id_of_system() or _id_of_folder(self._folder)
            about = f"license-client:{self._product}".encode()
            self._own_id = hmac.new(own.encode(), about, hashlib.sha256).hexdigest()
        return self._own_id

    def activate(self, license_key: str) -> Standing:
        """Activates a license on this machine. Without an answer, the stored license counts if it has this key."""
        kept = self._read()
        outcome = self._activate(license_key)
        if outcome.reason not in ("unreachable", "untrusted") or kept is None:
            return outcome
        return self._without(outcome) if _is_of(kept, license_key) else outcome

    def check(self) -> Standing:
        """Checks the license with the service or, without an answer, by the certificate."""
        kept = self._read()
        if kept is None:
            return _no("no_license", is_final=True)
        if kept["licenseKey"] is None:
            return self._try()
        query = urllib.parse.urlencode({"licenseKey": kept["licenseKey"], "machineId": self.machine_id()})
        heard = self._ask("GET", f"/api/activate/check?{query}")
        if isinstance(heard, str):
            return self._without(_no(heard))
        if heard.status == 200 and heard.body.get("valid") is True:
            return self._renewed(kept, heard)
        self._drop(kept, heard)
        if heard.status == 200 and kept.get("isLent") is True:
            return self._activate(kept["licenseKey"])
        if heard.status == 200:
            return _no(_STATES.get(heard.headers.get("license-state", ""), "refused"), is_final=True)
        return self._refusal(heard)

    def check_offline(self) -> Standing:
        """Checks the license by the certificate alone, without asking the service."""
        kept = self._read()
        if kept is None or kept.get("certificate") is None:
            return _no("no_license", is_final=True)
        payload = self._certificate_in(kept)
        if payload is None:
            return _no("certificate_not_genuine")
        if not is_of_machine(payload, self.machine_id()):
            return _no("certificate_of_another_machine")
        seen = dict(kept["time"])
        seen["latestMillis"] = max(seen["latestMillis"], payload["iat"] * 1000)
        now = time_now(seen, time.time() * 1000, self._written_millis())
        if now is None:
            return _no("clock_turned_back")
        if now > kept["time"]["latestMillis"]:
            kept["time"]["latestMillis"] = now
            self._keep_if_possible(kept)
        if now >= payload["exp"] * 1000:
            return _no("certificate_ended")
        return self._yes("certificate", payload, is_trial=kept["licenseKey"] is None)

    def trial(self) -> Standing:
        """Starts the trial of this machine or continues it. Each machine has only one.

        If a license was activated here, answers the same as check.
        """
        kept = self._read()
        return self._try() if kept is None or kept["licenseKey"] is None else self.check()

    def request_offline(self, license_key: str) -> str:
        """Makes the activation request of an offline machine, a text that people carry to the seller, who answers it.

        A new request replaces the previous one. Needs public_keys to verify the answer.
        """
        nonce = secrets.token_urlsafe(18)
        self._put(self._request, {"licenseKey": license_key, "nonce": nonce, "isAnswered": False})
        return request_text(license_key, self.machine_id(), nonce)

    def accept_offline(self, answer: str) -> Standing:
        """Accepts the answer to the request. Accepting it again changes nothing."""
        request, kept = self._asked(), self._read()
        if request is None:
            return _no("answer_of_another_request")
        said = answer_to({**request, "machineId": self.machine_id()}, answer, self._keys(kept))
        is_kept = kept is not None and _is_of(kept, request["licenseKey"])
        if said["reason"] != "granted":
            if said["is_own"] and is_kept:
                self._keep({**kept, "certificate": None})
                self._request.unlink(missing_ok=True)
            return _no(said["reason"], is_final=said.get("is_final", False), message=said.get("message"))
        # The time of the answer counts from its first acceptance, so accepting it again must not reset the clock.
        if not (request.get("isAnswered") is True and is_kept):
            ahead = max(0, said["seconds"] * 1000 - time.time() * 1000)
            self._keep({
                "licenseKey": said["licenseKey"], "certificate": said["certificate"], "isLent": "lease" in said["payload"],
                "publicKeys": self._to_keep(kept), "time": {"aheadMillis": ahead, "latestMillis": said["seconds"] * 1000},
            })  # fmt: skip
            self._put(self._request, {**request, "isAnswered": True})
        return self.check_offline()

    def release(self) -> Standing:
        """Releases the license for another machine. The reason is `released` or that of a refusal."""
        kept = self._read()
        if kept is None or kept["licenseKey"] is None:
            return _no("no_license", is_final=True)
        asked = {"licenseKey": kept["licenseKey"], "machineId": self.machine_id()}
        heard = self._ask("POST", "/api/activate/release", asked)
        if isinstance(heard, str):
            return _no(heard)
        if heard.status == 200 and self._is_mine(heard, kept["licenseKey"]):
            self._request.unlink(missing_ok=True)
            self._file.unlink(missing_ok=True)
            return _no("released", is_final=True, message="The license was given back.")
        if heard.status == 200:
            return _no("untrusted")
        refusal = self._refusal(heard)
        if refusal.reason != "transfers_exhausted":
            self._drop(kept, heard)
        return refusal

    # Internal functions.

    def _yes(
        self, by: str, payload: Mapping[str, Any], plan: Optional[str] = None, is_trial: bool = False
    ) -> Standing:
        found = payload.get("features")
        features = found if isinstance(found, dict) else {}
        plan = plan or payload.get("plan")
        message = "On trial." if is_trial else f"Licensed, plan {plan}."
        return Standing(True, message, "active", False, by, plan, payload.get("exp"), features, is_trial)

    def _try(self) -> Standing:
        heard = self._ask("POST", "/api/trials", {"machineId": self.machine_id()})
        if isinstance(heard, str):
            return self._without(_no(heard))
        kept = self._read()
        if heard.status != 200:
            if kept is not None:
                self._drop(kept, heard)
            return self._refusal(heard)
        text, found = heard.headers.get("license-certificate", ""), heard.body.get("trial")
        payload = read_certificate(text, self._keys(kept), "trial1")
        is_mine = isinstance(found, dict) and found.get("machineId") == self.machine_id()
        if not is_mine or payload is None or not is_of_machine(payload, self.machine_id()):
            return _no("untrusted")
        self._keep({
            "licenseKey": None, "certificate": text, "isLent": False,
            "publicKeys": self._to_keep(kept), "time": self._time_of(heard),
        })  # fmt: skip
        return self._yes("service", payload, is_trial=True)

    def _certificate_in(self, kept: Mapping[str, Any]) -> Optional[dict]:
        """Answers the certificate of the license or trial."""
        kind = "trial1" if kept["licenseKey"] is None else "lic1"
        return read_certificate(kept.get("certificate") or "", self._keys(kept), kind)

    def _activate(self, license_key: str) -> Standing:
        asked = {"licenseKey": license_key, "machineId": self.machine_id()}
        heard = self._ask("POST", "/api/activate", asked)
        if isinstance(heard, str):
            return _no(heard)
        kept = self._read()
        if heard.status != 200:
            if kept is not None and _is_of(kept, license_key):
                self._drop(kept, heard)
            return self._refusal(heard)
        text = heard.headers.get("license-certificate", "")
        payload = read_certificate(text, self._keys(kept))
        # An approval of this request has all three. Otherwise the answer is for another request.
        if payload is None or not is_of_machine(payload, self.machine_id()) or not self._is_mine(heard, license_key):
            return _no("untrusted")
        self._keep({
            "licenseKey": heard.body["license"]["key"], "certificate": text, "isLent": "lease" in payload,
            "publicKeys": self._to_keep(kept), "time": self._time_of(heard),
        })  # fmt: skip
        return self._yes("service", payload, heard.body["license"].get("plan"))

    def _is_mine(self, heard: _Heard, license_key: str) -> bool:
        found = heard.body.get("license")
        own = found if isinstance(found, dict) else {}
        key = own.get("key")
        return isinstance(key, str) and _same_key(key, license_key) and own.get("machineId") == self.machine_id()

    def _renewed(self, kept: dict, heard: _Heard) -> Standing:
        payload = self._certificate_in(kept)
        is_good = payload is not None and is_of_machine(payload, self.machine_id())
        if not is_good or payload["exp"] - heard.seconds < (payload["exp"] - payload["iat"]) / 2:
            outcome = self._activate(kept["licenseKey"])
            if outcome.reason not in ("unreachable", "untrusted"):
                return outcome
        self._keep_if_possible({**kept, "publicKeys": self._to_keep(kept), "time": self._time_of(heard)})
        return self._yes("service", payload if is_good else {}, heard.body.get("plan"))

    def _refusal(self, heard: _Heard) -> Standing:
        found = heard.body.get("details")
        details = found if isinstance(found, dict) else {}
        reason, message = details.get("reason"), heard.body.get("message")
        return _no(
            reason if isinstance(reason, str) else "refused",
            is_final=details.get("retryable") is not True,
            message=message if isinstance(message, str) else None,
        )

    def _without(self, outcome: Standing) -> Standing:
        standing = self.check_offline()
        return outcome if standing.reason == "no_license" else standing

    def _drop(self, kept: dict, heard: _Heard) -> None:
        """Drops the license after a refusal, so that only the service can allow it again. A failed write changes nothing in that."""
        self._keep_if_possible({**kept, "certificate": None, "time": self._time_of(heard)})
        try:
            # Earlier answers are invalid after a refusal.
            self._request.unlink(missing_ok=True)
        except OSError:
            pass

    @staticmethod
    def _time_of(heard: _Heard) -> dict:
        return {"aheadMillis": heard.seconds * 1000 - time.time() * 1000, "latestMillis": heard.seconds * 1000}

    def _read(self) -> Optional[dict]:
        try:
            kept = json.loads(self._file.read_text())
            seen = kept["time"]
            numbers = all(isinstance(seen[name], (int, float)) for name in ("aheadMillis", "latestMillis"))
            return kept if isinstance(kept["licenseKey"], (str, type(None))) and numbers else None
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            return None

    def _asked(self) -> Optional[dict]:
        try:
            asked = json.loads(self._request.read_text())
        except (FileNotFoundError, ValueError):
            return None
        is_whole = isinstance(asked, dict) and all(isinstance(asked.get(name), str) for name in ("licenseKey", "nonce"))
        return asked if is_whole else None

    def _written_millis(self) -> float:
        try:
            times = [one for file in (self._file, self._folder) for one in (file.stat().st_mtime, file.stat().st_ctime)]
        except OSError:
            return 0
        return max(times) * 1000

    def _keep(self, kept: Mapping[str, Any]) -> None:
        self._put(self._file, kept)

    def _put(self, file_to_be: Path, value: Mapping[str, Any]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = self._folder / f"{file_to_be.name}.{os.getpid()}.{secrets.token_hex(4)}"
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(json.dumps(value, indent=2) + "\n")
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, file_to_be)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise

    def _keep_if_possible(self, kept: Mapping[str, Any]) -> None:
        try:
            self._keep(kept)
        except OSError:
            pass

    def _to_keep(self, kept: Optional[Mapping[str, Any]]) -> list:
        if self._pinned is not None:
            return []
        return self._fetched or (kept or {}).get("publicKeys") or []

    def _keys(self, kept: Optional[Mapping[str, Any]]) -> Mapping[str, bytes]:
        return self._pinned if self._pinned is not None else _ring(self._to_keep(kept))

    def _keys_for(self, kid: str) -> Mapping[str, bytes]:
        kept = self._read()
        keys = self._keys(kept)
        # An unknown key may be new, so the keys are fetched again. Pinned keys are never fetched.
        if self._pinned is None and kid not in keys:
            named = f"?product={self._service_product}" if self._service_product else ""
            answer = self._send("GET", f"/.well-known/license-keys.json{named}", None, {})
            if answer["status"] == 200:
                self._fetched = json.loads(answer["body"]).get("keys") or self._fetched
            keys = self._keys(kept)
        return keys

    def _send(self, method: str, target: str, body: Optional[bytes], headers: Mapping[str, str]) -> dict:
        kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(self._parts.hostname or "", self._parts.port, timeout=_ATTEMPT_SECONDS)
        try:
            connection.request(method, target, body=body, headers=dict(headers))
            response = connection.getresponse()
            data = response.read(_MOST_BYTES + 1)
            if len(data) > _MOST_BYTES:
                raise ValueError("the response is too large")
            found = {name.lower(): value for name, value in response.getheaders()}
            return {"status": response.status, "headers": found, "body": data}
        finally:
            connection.close()

    def _attempt(self, method: str, target: str, body: Optional[bytes]):
        nonce = secrets.token_urlsafe(18)
        headers = {"license-nonce": nonce}
        if body is not None:
            headers.update({"content-type": "application/json", "content-digest": digest_of(body)})
        if self._service_product:
            headers["license-product"] = self._service_product
        try:
            answer = self._send(method, target, body, headers)
            # These statuses are never decisions, whatever the unsigned headers say.
            if answer["status"] == 429 or answer["status"] >= 500:
                return "unreachable", answer["headers"].get("retry-after")
            kid = key_id_of(answer["headers"])
            if kid is None:
                return "untrusted", None
            question = {"method": method, "target": target, "body": body, "nonce": nonce}
            seconds = signed_at(question, answer, self._keys_for(kid))
            if seconds is None:
                return "untrusted", None
            if answer["headers"].get("license-verdict") != "final":
                return "unreachable", answer["headers"].get("retry-after")
            said = json.loads(answer["body"])
            return _Heard(answer["status"], said if isinstance(said, dict) else {}, answer["headers"], seconds), None
        except (OSError, http.client.HTTPException, ValueError):
            return "unreachable", None

    def _ask(self, method: str, target: str, asked: Optional[Mapping[str, str]] = None):
        """Answers the decision of the service, or the reason why there is none."""
        body = None if asked is None else json.dumps(asked).encode()
        deadline = time.monotonic() + self._patience
        pause = 0.25
        while True:
            outcome, retry_after = self._attempt(method, target, body)
            if isinstance(outcome, _Heard):
                return outcome
            asked_for = int(retry_after) if re.fullmatch(r"\d{1,6}", retry_after or "") else 0
            wait = max(min(pause, 5) * (0.5 + secrets.randbelow(1000) / 1000), asked_for)
            if time.monotonic() + wait > deadline:
                return outcome
            time.sleep(wait)
            pause *= 2
