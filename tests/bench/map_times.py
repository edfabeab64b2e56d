"""How long a map takes to be drawn and to answer a hover, in Chromium, seen from inside its page."""

import statistics
from typing import Any

from playwright.sync_api import Error

from tests.bench.map_pages import FRAME, Viewer

# From the opening of the page to the frame after the one that found the map drawn; from a pointer's move to the second frame:
# the first one draws the answer, the second comes when it has been drawn.
WATCH = """{
    const [n, h, patience] = [%d, %d, %d];
    const within = (what, work) => new Promise((done, fail) => {
        setTimeout(() => fail(new Error(`${what} after ${patience / 1000} seconds`)), patience);
        work(done);
    });
    const drawn = () => %s;
    window.drawn = within("its map is not drawn", done => {
        const look = () => drawn() ? requestAnimationFrame(() => done(performance.timeOrigin + performance.now())) : requestAnimationFrame(look);
        requestAnimationFrame(look);
    });
    window.drawn.catch(() => {}); // whoever asks hears of it
    addEventListener("pointermove", () => (window.reached = true), { capture: true, once: true });
    window.watch = () => void (window.answered = within("no hover is answered", done => addEventListener("pointermove", event =>
        requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - event.timeStamp))), { capture: true, once: true })));
}"""
STILL = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
HOVERS = 9
TRIES = 100
NEAR = 300  # pixels: the corner of a large map that is in sight
PATIENCE = 180_000  # milliseconds: the slowest seen took 23 seconds on a quiet machine
ENOUGH = 5_000  # milliseconds of hovers: whoever takes that long is asked no more
WINDOW = {"width": 1280, "height": 1400}


def times(browser: Any, address: str, name: str, viewer: Viewer, n: int, h: int) -> dict[str, Any]:
    """Milliseconds until ready, and of a hover; and whether the picture changed under the pointer.

    Raises:
        RuntimeError: the page does not come so far, with the reason.
    """
    context = browser.new_context(viewport=WINDOW)
    try:
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.add_init_script(WATCH % (n, h, PATIENCE, viewer.drawn))
        page.goto(address, wait_until="commit")
        frame = page.wait_for_selector("iframe").content_frame() if name == FRAME else page.main_frame
        frame.wait_for_selector(viewer.pointed)  # before that a frame may still be the empty one
        ready = frame.evaluate("() => window.drawn") - page.evaluate("performance.timeOrigin")
        box = frame.wait_for_selector(viewer.pointed).bounding_box()
        box |= {"width": min(box["width"], NEAR), "height": min(box["height"], NEAR)}
        before = page.screenshot(clip=box)
        # A frame in a process of its own is reached by the pointer only a while after it is drawn.
        for k in range(TRIES):
            page.mouse.move(box["x"] + 1 + k % 2, box["y"] + 1)
            frame.evaluate(STILL)
            if frame.evaluate("window.reached"):
                break
        hovers = []
        for k in range(HOVERS):
            frame.evaluate("() => watch()")
            page.mouse.move(*(box[start] + box[size] * (k + 0.5) / HOVERS for start, size in (("x", "width"), ("y", "height"))))
            hovers.append(frame.evaluate("() => window.answered"))
            frame.evaluate(STILL)
            if sum(hovers) > ENOUGH:
                break
        elsewhere = [url for url in asked if not url.startswith((address.split("/maps/")[0], "data:", "blob:", "about:"))]
        if elsewhere:
            raise RuntimeError(f"the page asked another host: {elsewhere[0]}")
        return {"ready": ready, "hover": statistics.median(hovers), "hovers": len(hovers), "answered": page.screenshot(clip=box) != before}
    except Error as error:
        raise RuntimeError(error.message.splitlines()[0]) from error
    finally:
        context.close()
