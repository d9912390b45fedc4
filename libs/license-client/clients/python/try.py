"""A small program that is protected: try.py URL FOLDER [activate KEY | check | offline | release]. Says its standing as JSON."""

import dataclasses
import json
import sys

from muster_license import LicenseClient

url, folder, what, *key = sys.argv[1:]
client = LicenseClient(url=url, product="license-demo", folder=folder, patience_seconds=0)
standing = {
    "activate": lambda: client.activate(*key),
    "check": client.check,
    "offline": client.check_offline,
    "release": client.release,
}[what]()
print(json.dumps(dataclasses.asdict(standing)))
sys.exit(0 if standing.may_run else 1)
