"""Serves the built site on 127.0.0.1, below the path that it was built for, and remembers what it did not have."""

import re
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit


def path_below_host(folder: Path) -> str:
    """`/` or `/name/`: a site that knows its address says so in its canonical links, and its 404 page counts on it."""
    canonical = re.search(r'<link rel="canonical" href="([^"]+)"', (folder / "index.html").read_text("utf-8"))
    return urlsplit(canonical[1]).path.removesuffix("index.html") if canonical else "/"


class Server(ThreadingHTTPServer):
    """Port 0: the system picks a free one."""

    def __init__(self, folder: Path):
        super().__init__(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
        self.below = path_below_host(folder)
        self.address = f"http://127.0.0.1:{self.server_port}{self.below}"
        self.missing: list[str] = []

    def handle_error(self, request, client_address):
        """A browser that leaves a page drops its connections: nothing to report."""


class Handler(SimpleHTTPRequestHandler):
    """Python's own, but silent."""

    protocol_version = "HTTP/1.1"  # keeps connections open: the pages ask for hundreds of files

    def translate_path(self, path):
        if not path.startswith(self.server.below):
            return str(Path(self.directory, "outside the site"))
        return super().translate_path("/" + path.removeprefix(self.server.below))

    def log_message(self, format, *args):
        """Keep the output of the tests clean."""

    def send_error(self, code, message=None, explain=None):
        self.server.missing.append(f"{code} {self.path}")
        super().send_error(code, message, explain)


@contextmanager
def serving(folder: Path):
    """Run a server for as long as the block runs."""
    server = Server(folder)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
