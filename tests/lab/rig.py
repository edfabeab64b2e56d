"""The engine in a browser: a page served from this machine that imports the modules, and jobs for it to do.

`harness.js` says which jobs there are. Chromium is asked through playwright; a Firefox from a Linux distribution cannot be, so its
page fetches the jobs from the little server and sends the answers back.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

HERE = Path(__file__).parent
LAB = HERE.parent.parent / "attention_book" / "lab"
FIREFOXES = ("firefox-esr", "firefox")
PATIENCE = 180  # seconds for Firefox to start and do all its jobs

PAGE = '<!doctype html><html lang="en"><title>engine</title><link rel="icon" href="data:,">'
BY_ITSELF = PAGE + """<script type="module">
const send = (body) => fetch("/answers", { method: "POST", body: JSON.stringify(body) });
try {
    const { answer } = await import("/harness.js");
    const answers = [];
    for (const job of await (await fetch("/jobs")).json()) answers.push(await answer(job));
    await send({ answers });
} catch (error) {
    await send({ error: String(error.stack ?? error) });
}
</script>"""


class _Handler(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path != "/jobs":
            return super().do_GET()
        body = json.dumps(self.server.jobs).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.server.told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()
        self.server.done.set()

    def log_message(self, format: str, *args: object) -> None:
        """Keep the output of the tests clean."""


@contextmanager
def _serving() -> Iterator[ThreadingHTTPServer]:
    with TemporaryDirectory() as folder:
        for module in HERE.glob("*.js"):
            shutil.copy(module, folder)
        shutil.copytree(LAB, Path(folder, "lab"))
        Path(folder, "index.html").write_text(PAGE, "utf-8")
        Path(folder, "by_itself.html").write_text(BY_ITSELF, "utf-8")
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=folder))
        server.jobs, server.told, server.done = [], {}, Event()
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
            server.server_close()


class Engine:
    """The engine in Chromium, one page for all jobs."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def __call__(self, job: str, **details: Any) -> Any:
        return self.all([{"job": job, **details}])[0]

    def all(self, jobs: list[dict[str, Any]]) -> list[Any]:
        """Does several jobs, one after the other."""
        told = self.page.evaluate(
            "async text => { const { answer } = await import('/harness.js'); const answers = [];"
            "for (const job of JSON.parse(text)) answers.push(await answer(job)); return JSON.stringify(answers) }",
            json.dumps(jobs),
        )
        return json.loads(told)


@contextmanager
def engine_in(browser: Any) -> Iterator[Engine]:
    """The engine in this Chromium."""
    with _serving() as server:
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/index.html")
        try:
            yield Engine(page)
        finally:
            page.close()


def installed_firefox() -> str | None:
    """The path of a Firefox that is already here; BOOK_FIREFOX names one."""
    named = os.environ.get("BOOK_FIREFOX")
    if named:
        if not shutil.which(named):
            raise RuntimeError(f"BOOK_FIREFOX is {named!r}, and no program is there: correct it, or unset it.")
        return named
    return next((path for path in map(shutil.which, FIREFOXES) if path), None)


class Firefox:
    """The engine in an installed Firefox, which is started anew for each list of jobs."""

    def __init__(self, program: str) -> None:
        self.program = program

    def all(self, jobs: list[dict[str, Any]]) -> list[Any]:
        """Does several jobs, one after the other."""
        with _serving() as server, TemporaryDirectory() as profile:
            server.jobs = jobs
            address = f"http://127.0.0.1:{server.server_port}/by_itself.html"
            running = subprocess.Popen(
                [self.program, "--headless", "--no-remote", "--profile", profile, address],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
            try:
                if not server.done.wait(PATIENCE):
                    raise RuntimeError(f"{self.program} has not answered for {PATIENCE} seconds; run it by hand with --headless to see why")
            finally:
                running.terminate()
                running.wait(30)
        if "error" in server.told:
            raise RuntimeError(f"in Firefox: {server.told['error']}")
        return server.told["answers"]
