"""with_server.py: runs a command while a fresh eventq server is there for it.

usage: with_server.py EVENTQ [OPTION OF `eventq serve`]... -- COMMAND [ARGUMENT]...

The server keeps its events in a new folder, which is the command's working directory, too; in memory where there is
some, since clients are tested here, and a lease is not to end while others keep the disk busy. The command finds the
server by EVENTQ_URL, and the program by EVENTQ. Ends with the command's exit code.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading


def listening_at(server: subprocess.Popen) -> str:
    said = []
    for line in server.stderr:
        said.append(line)
        found = re.search(r"msg=listening address=(\S+)", line)
        if found:
            threading.Thread(target=server.stderr.read, daemon=True).start()  # so that it can go on writing
            return f"http://{found[1]}"
    sys.exit("The server did not start:\n" + "".join(said))


MEMORY = "/dev/shm"


def main() -> int:
    split = sys.argv.index("--")
    program, options, command = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2:split], sys.argv[split + 1:]
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as folder:
        server = subprocess.Popen([program, "serve", "--listen", "127.0.0.1:0", "--store", "sqlite:eventq.db", *options],
                                  cwd=folder, stderr=subprocess.PIPE, text=True)
        try:
            environment = {**os.environ, "EVENTQ_URL": listening_at(server), "EVENTQ": program}
            return subprocess.run(command, cwd=folder, env=environment, check=False).returncode
        finally:
            server.terminate()
            server.wait()


sys.exit(main())
