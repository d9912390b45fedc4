"""Runs the shared test vectors of the clients: python3 vectors.py ../vectors"""

import json
import sys
from pathlib import Path

from muster_license import _b64url, _ring, answer_to, is_of_machine, read_certificate, request_text, signed_at, time_now

folder = Path(sys.argv[1])
done = 0


def vectors(name):
    return json.loads((folder / f"{name}.json").read_text())


def same(name, found, expected):
    global done
    if found != expected:
        sys.exit(f"{name}: {found!r} instead of {expected!r}")
    done += 1


for name, kind in (("certificates", "lic1"), ("trials", "trial1")):
    file = vectors(name)
    for case in file["cases"]:
        payload = read_certificate(case["certificate"], _ring(file["publicKeys"]), kind)
        if payload is None:
            outcome = "not_genuine"
        elif not is_of_machine(payload, case["machineId"]):
            outcome = "other_machine"
        else:
            outcome = "ended" if case["nowSeconds"] >= payload["exp"] else "valid"
        same(case["name"], outcome, case["outcome"])

file = vectors("air-gap")
for case in file["requests"]:
    written = request_text(case["licenseKey"], case["machineId"], case["nonce"])
    payloads = [json.loads(_b64url(text[len("licreq1.") :])) for text in (written, case["text"])]
    same(case["name"], payloads[0], payloads[1])
for case in file["answers"]:
    said = answer_to(case["request"], case["answer"], _ring(file["publicKeys"]))
    for name, expected in (("reason", case["outcome"]), ("certificate", case.get("certificate"))):
        same(case["name"], said.get(name), expected)
    same(case["name"], (said.get("is_final"), said.get("message")), (case.get("isFinal"), case.get("message")))

file = vectors("answers")
for case in file["cases"]:
    question, answer = dict(case["question"]), dict(case["answer"])
    question["body"] = None if question["body"] is None else question["body"].encode()
    answer["body"] = answer["body"].encode()
    same(case["name"], signed_at(question, answer, _ring(file["publicKeys"])), case["signedAt"])

for case in vectors("clock")["cases"]:
    same(case["name"], time_now(case["seen"], case["clockMillis"], case["writtenMillis"]), case["now"])

print(f"{done} cases")
