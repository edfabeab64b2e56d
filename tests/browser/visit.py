"""Opens a page in Chromium as a reader does, and notes everything a reader should never meet."""

from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

WIDTHS = (320, 390, 1280)  # the narrowest phone, a common one, a desktop
OTHER = {"light": "dark", "dark": "light"}

SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
IMAGES = """() => Promise.all([...document.images].map(async image => {
    image.loading = 'eager'
    await image.decode().catch(() => {})
    return {src: image.getAttribute('src'), alt: image.alt, width: image.naturalWidth}
}))"""


def pages_of(folder: Path) -> list[str]:
    """Every page of a built site, as a path below its root."""
    parts = ((path.relative_to(folder), path.relative_to(folder).parts[0]) for path in folder.rglob("*.html"))
    return sorted(path.as_posix() for path, first in parts if first not in ("_static", "_downloads"))


@dataclass
class Visit:
    """What happened on one page."""

    other_hosts: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    sideways: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)


@contextmanager
def tab(browser, theme="light"):
    """A new tab that shows furo's theme, in a system that is set to the other one."""
    context = browser.new_context(color_scheme=OTHER[theme], reduced_motion="reduce")
    context.add_init_script(f"localStorage.setItem('theme', '{theme}')")
    try:
        yield context.new_page()
    finally:
        context.close()


def visit(page, server, path) -> Visit:
    """Open a page, look at it at three widths, and load its images."""
    seen = Visit()

    def on_request(request):
        if not request.url.startswith((server.address, "data:", "blob:")):
            seen.other_hosts.append(request.url)

    listeners = {
        "request": on_request,
        "requestfailed": lambda request: seen.failed.append(f"{request.failure}: {request.url}"),
        "console": lambda message: seen.messages.append(f"{message.type}: {message.text}"),
        "pageerror": lambda error: seen.messages.append(f"page error: {error}"),
    }
    for event, listener in listeners.items():
        page.on(event, listener)
    server.missing.clear()
    page.goto(server.address + path, wait_until="load")
    for image in page.evaluate(IMAGES):
        if not image["alt"].strip():
            seen.images.append(f"no alternative text: {image['src']}")
        if not image["width"]:
            seen.images.append(f"does not load: {image['src']}")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        too_wide = page.evaluate(SIDEWAYS)
        if too_wide > 0:
            seen.sideways.append(f"{too_wide} px too wide at {width} px")
    # The browser asks for the favicon without telling its tabs: only the server knows.
    seen.failed += server.missing
    for event, listener in listeners.items():
        page.remove_listener(event, listener)
    return seen
