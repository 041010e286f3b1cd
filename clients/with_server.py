"""with_server.py: runs a command beside a fresh eventq server.

usage: with_server.py EVENTQ [OPTION OF `eventq serve`]... -- COMMAND [ARGUMENT]...

Server and command run in a new folder, in memory if possible: these tests are about clients, and a lease must not expire
because the disk is busy. EVENTQ_URL names the server, EVENTQ the program. Exits with the command's exit code.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading


def listening_at(server: subprocess.Popen) -> str:
    output = []
    for line in server.stderr:
        output.append(line)
        found = re.search(r"msg=listening address=(\S+)", line)
        if found:
            threading.Thread(target=server.stderr.read, daemon=True).start()  # a full pipe would block the server
            return f"http://{found[1]}"
    sys.exit("The server did not start:\n" + "".join(output))


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
