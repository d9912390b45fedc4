"""Builds the wheel (PEP 517). It needs nothing but Python, so the package also installs without a network.

The operations are generated from openapi.json in this folder, if there is one.
"""

from __future__ import annotations

import base64
import hashlib
import pathlib
import re
import runpy
import zipfile
from typing import Any, Dict, List, Optional

here = pathlib.Path(__file__).parent
package = here / "muster_client"
name = "muster_client"


def version() -> str:
    """Returns the version of the product from the generated operations."""
    operations = (package / "operations.py").read_text(encoding="utf-8")
    return re.findall(r"^__version__ = '(.+)'$", operations, re.MULTILINE)[0]


def metadata() -> str:
    return "\n".join(
        [
            "Metadata-Version: 2.1",
            "Name: muster-client",
            f"Version: {version()}",
            "Summary: The API of Muster as typed methods, with leases that renew themselves and verified webhooks",
            "License: Apache-2.0",
            "Requires-Python: >=3.9",
            "Description-Content-Type: text/markdown",
            "",
            (here / "README.md").read_text(encoding="utf-8"),
        ]
    )


def build_wheel(
    wheel_directory: str,
    config_settings: Optional[Dict[str, Any]] = None,
    metadata_directory: Optional[str] = None,
) -> str:
    document = here / "openapi.json"
    if document.exists():
        generator = runpy.run_path(str(here / "generate.py"))
        generator["target"].write_text(generator["generate"](generator["load"](str(document))), encoding="utf-8")
    if not (package / "operations.py").exists():
        raise SystemExit("Generate the operations first: python generate.py openapi.json")
    file_name = f"{name}-{version()}-py3-none-any.whl"
    info = f"{name}-{version()}.dist-info"
    record: List[str] = []
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / file_name, "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(path: str, content: bytes) -> None:
            # A fixed time makes two builds of the same files equal byte by byte.
            wheel.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(content)}")

        for file in sorted([*package.glob("*.py"), package / "py.typed"]):
            add(f"{name}/{file.name}", file.read_bytes())
        add(f"{info}/METADATA", metadata().encode())
        add(f"{info}/WHEEL", b"Wheel-Version: 1.0\nGenerator: muster\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        record.append(f"{info}/RECORD,,")
        wheel.writestr(zipfile.ZipInfo(f"{info}/RECORD", (1980, 1, 1, 0, 0, 0)), "\n".join(record) + "\n")
    return file_name
