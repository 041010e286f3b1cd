"""install.py: packs the package as it is published, installs it into a new project, and compiles the tests and the example
against it. Needs no network.

usage: install.py FOLDER VERSION NPM TSC

FOLDER/project has the compiled programs afterwards, FOLDER/dist what is published. VERSION is the version that it must have.
Fails if its licence differs from the project's. NPM and TSC are the programs to use. The script of package.json calls tsc by
its name, so TSC must have this name.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

SOURCE = pathlib.Path(__file__).resolve().parent
FOLDER, VERSION, NPM, TSC = sys.argv[1:]
LICENSE = SOURCE.parent.parent / "LICENSE"
EXAMPLE = SOURCE.parent.parent / "examples" / "typescript_worker.ts"


def run(folder: pathlib.Path, *command: str) -> None:
    environment = {**os.environ, "PATH": os.path.dirname(TSC) + os.pathsep + os.environ["PATH"],
                   "npm_config_cache": str(folder.parent / "npm_cache"), "npm_config_update_notifier": "false"}
    subprocess.run(command, cwd=folder, env=environment, check=True)


def packed(folder: pathlib.Path) -> pathlib.Path:
    """Packs a copy of the source. Returns the archive."""
    copy, dist = folder / "source", folder / "dist"
    dist.mkdir()
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("dist", "node_modules", "test", "install.py"))
    run(copy, NPM, "pack", "--silent", "--offline", "--pack-destination", str(dist))
    archive = dist / f"eventq-{VERSION}.tgz"
    if not archive.exists():
        sys.exit(f"npm packed {os.listdir(dist)}; the version must be that of the project, {VERSION}.")
    with tarfile.open(archive) as unpacked:
        if unpacked.extractfile("package/LICENSE").read() != LICENSE.read_bytes():
            sys.exit(f"The LICENSE of the package differs from that of the project: copy {LICENSE} to {SOURCE}.")
    return archive


def main() -> None:
    folder = pathlib.Path(FOLDER).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    project = folder / "project"
    project.mkdir(parents=True)
    archive = packed(folder)
    (project / "package.json").write_text(json.dumps({"name": "project", "private": True, "type": "module"}))
    run(project, NPM, "install", "--silent", "--offline", "--no-audit", "--no-fund", str(archive))
    for file in [*(SOURCE / "test").iterdir(), EXAMPLE]:
        shutil.copy(file, project)
    run(project, TSC, "-p", ".")


main()
