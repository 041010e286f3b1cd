"""install.py: builds the package as it is published, and installs it into a new virtual environment. Needs no network.

usage: install.py FOLDER VERSION

The wheel is built from the unpacked source distribution, so a file that is missing there is missing in the test, too.
FOLDER/venv has the environment afterwards, FOLDER/dist what is published. VERSION is the version that both must have.
Fails if the licence in either differs from the project's.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile

from setuptools import build_meta

SOURCE = pathlib.Path(__file__).resolve().parent
LICENSE = SOURCE.parent.parent / "LICENSE"


def built(folder: pathlib.Path) -> pathlib.Path:
    """Builds source distribution and wheel in the folder. Returns the wheel."""
    dist = folder / "dist"
    copy = folder / "source"  # because setuptools writes into the folder that it reads
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(SOURCE / name, copy)
    shutil.copytree(SOURCE / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    os.chdir(copy)
    archive = dist / build_meta.build_sdist(str(dist))
    with tarfile.open(archive) as unpacked:
        unpacked.extractall(folder)
    os.chdir(folder / archive.name[:-len(".tar.gz")])
    return dist / build_meta.build_wheel(str(dist))


def check_licences(dist: pathlib.Path, version: str) -> None:
    """Fails if the source distribution or the wheel has not the project's licence."""
    with tarfile.open(dist / f"eventq-{version}.tar.gz") as archive:
        licences = {"source distribution": archive.extractfile(f"eventq-{version}/LICENSE").read()}
    with zipfile.ZipFile(dist / f"eventq-{version}-py3-none-any.whl") as archive:
        # Newer versions of setuptools put it into the folder licenses.
        name = next(name for name in archive.namelist() if name.endswith("/LICENSE"))
        licences["wheel"] = archive.read(name)
    for where, licence in licences.items():
        if licence != LICENSE.read_bytes():
            sys.exit(f"The LICENSE of the {where} differs from that of the project: copy {LICENSE} to {SOURCE}.")


def main() -> None:
    folder, version = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "dist").mkdir(parents=True)
    wheel = built(folder)
    if wheel.name != f"eventq-{version}-py3-none-any.whl":
        sys.exit(f"The wheel is {wheel.name}; its version must be that of the project, {version}.")
    check_licences(folder / "dist", version)
    venv.create(folder / "venv", with_pip=True)
    subprocess.run([folder / "venv" / "bin" / "pip", "install", "--quiet", "--no-index", wheel], check=True)
    origin = subprocess.run([folder / "venv" / "bin" / "python", "-c", "import eventq; print(eventq.__file__)"], check=True,
                            cwd="/", stdout=subprocess.PIPE, text=True).stdout.strip()
    if not pathlib.Path(origin).is_relative_to(folder / "venv") or not pathlib.Path(origin).with_name("py.typed").exists():
        sys.exit(f"The environment does not have the whole package: {origin}")


main()
