"""A small licensed program: try.py URL FOLDER and activate KEY, check, offline, release, trial, request KEY or answer FILE.

Prints its license state as JSON. LICENSE_KEYS names a file with public keys of the service to pin.
"""

import dataclasses
import json
import os
import sys
from pathlib import Path

from muster_license import LicenseClient

url, folder, what, *given = sys.argv[1:]
pinned = json.loads(Path(os.environ["LICENSE_KEYS"]).read_text())["keys"] if "LICENSE_KEYS" in os.environ else None
client = LicenseClient(url=url, product="license-demo", folder=folder, patience_seconds=0, public_keys=pinned)
if what == "request":
    sys.exit(print(client.request_offline(*given)))
standing = {
    "activate": lambda: client.activate(*given),
    "check": client.check,
    "offline": client.check_offline,
    "release": client.release,
    "trial": client.trial,
    "answer": lambda: client.accept_offline(Path(*given).read_text()),
}[what]()
print(json.dumps(dataclasses.asdict(standing)))
sys.exit(0 if standing.may_run else 1)
