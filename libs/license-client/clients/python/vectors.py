"""Runs the test vectors that all clients share: python3 vectors.py ../../vectors"""

import json
import sys
from pathlib import Path

from muster_license import _ring, is_of_machine, read_certificate, signed_at, time_now

folder = Path(sys.argv[1])
done = 0


def vectors(name):
    return json.loads((folder / f"{name}.json").read_text())


def same(name, found, expected):
    global done
    if found != expected:
        sys.exit(f"{name}: {found!r} instead of {expected!r}")
    done += 1


file = vectors("certificates")
for case in file["cases"]:
    payload = read_certificate(case["certificate"], _ring(file["publicKeys"]))
    if payload is None:
        outcome = "not_genuine"
    elif not is_of_machine(payload, case["machineId"]):
        outcome = "other_machine"
    else:
        outcome = "ended" if case["nowSeconds"] >= payload["exp"] else "valid"
    same(case["name"], outcome, case["outcome"])

file = vectors("answers")
for case in file["cases"]:
    question, answer = dict(case["question"]), dict(case["answer"])
    question["body"] = None if question["body"] is None else question["body"].encode()
    answer["body"] = answer["body"].encode()
    same(case["name"], signed_at(question, answer, _ring(file["publicKeys"])), case["signedAt"])

for case in vectors("clock")["cases"]:
    same(case["name"], time_now(case["seen"], case["clockMillis"], case["writtenMillis"]), case["now"])

print(f"{done} cases")
