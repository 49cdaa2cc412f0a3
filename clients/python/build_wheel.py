"""Builds the wheel with the standard library alone, so that an installation asks no package index."""

import base64
import hashlib
import pathlib
import re
import zipfile

ROOT = pathlib.Path(__file__).parent
PACKAGE = "external_payments"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The hook of PEP 517."""
    project = read_project()
    name = project["name"].replace("-", "_")
    info = f"{name}-{project['version']}.dist-info"
    metadata = (
        "Metadata-Version: 2.1\n"
        f"Name: {project['name']}\n"
        f"Version: {project['version']}\n"
        f"Summary: {project['description']}\n"
        f"Requires-Python: {project['requires-python']}\n"
        "Description-Content-Type: text/markdown\n\n"
    )
    files = {
        path.relative_to(ROOT).as_posix(): path.read_bytes()
        for path in sorted((ROOT / PACKAGE).iterdir())
        if path.suffix == ".py" or path.name == "py.typed"
    }
    files[f"{info}/METADATA"] = metadata.encode() + (ROOT / "README.md").read_bytes()
    files[f"{info}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: build_wheel\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    record = [f"{path},sha256={digest(data)},{len(data)}" for path, data in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()

    wheel = f"{name}-{project['version']}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            # ZipInfo has a fixed date, so that the same sources make the same wheel.
            entry = zipfile.ZipInfo(path)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return wheel


def read_project():
    """The texts of pyproject.toml; Python 3.10 has no parser of TOML."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    return dict(re.findall(r'^([\w-]+) = "(.*)"$', text, re.MULTILINE))


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
