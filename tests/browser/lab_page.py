"""The lab as tests drive it: a state goes in through the address, and all that the page shows of it comes out in one go."""

import json
import random
from contextlib import contextmanager
from urllib.parse import quote

from attention_book.lab.states import DEFAULT
from tests.browser.visit import tab

LAB = "lab.html"
WORDS = "The cat sat on the mat because it was tired journey starts İstanbul שלום مرحبا 你好 naïve 🙂 <b>bold</b> =1+1 \"quoted\" it's a\\b ½".split()
SEVERAL = ("MultiHeadAttentionWrapper", "MultiHeadAttention")
ATTENTIONS = ("simple", "SelfAttention_v1", "SelfAttention_v2", "CausalAttention", *SEVERAL)
VIEWS = ("scores", "scaled", "masked", "weights", "output")

READ = """() => {
    const lab = document.querySelector('.lab')
    // From a copy: a canvas that is read again and again makes browsers complain.
    const copy = new OffscreenCanvas(64, 64).getContext('2d', {willReadFrequently: true})
    const pixels = canvas => {
        copy.drawImage(canvas, 0, 0)
        return [canvas.width, canvas.height, [...copy.getImageData(0, 0, canvas.width, canvas.height).data]]
    }
    const text = selector => [...lab.querySelectorAll(selector)].map(found => found.textContent)
    for (const part of lab.querySelectorAll(':scope > :is(.lab-table, .lab-code)')) {
        part.open = true
        part.dispatchEvent(new Event('toggle'))
    }
    return JSON.stringify({ // as one string, which is much faster to hand over
        names: text('.lab-table tbody th'),
        columns: text('.lab-table thead th'),
        rows: [...lab.querySelectorAll('.lab-table tbody tr')].map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent)),
        hidden: [...lab.querySelectorAll('.lab-table tbody tr')].map(row => [...row.querySelectorAll('td')].map(cell => cell.className === 'lab-hidden')),
        reading: lab.querySelector('.lab-reading').textContent,
        complaint: lab.querySelector('.lab-complaint').textContent,
        legend: lab.querySelector('.lab-scale').textContent,
        facts: text('.lab-facts span'),
        steps: [...lab.querySelectorAll('.lab-steps li')].map(step => ({
            name: step.querySelector('b').textContent,
            numbers: [...step.querySelectorAll('.lab-numbers-line span')].map(number => number.textContent),
            python: step.querySelector('code').textContent,
        })),
        map: pixels(lab.querySelector('.lab-pixels')),
        heads: [...lab.querySelectorAll('.lab-heads:not([hidden]) canvas')].map(pixels),
        program: lab.querySelector(':scope > .lab-code code')?.textContent,
    })
}"""
# Waits for the state to arrive, and for what a worker computes.
GO = """async hash => {
    if (location.hash !== hash) await new Promise(done => {
        addEventListener('hashchange', done, {once: true})
        location.hash = hash
    })
    while (document.querySelector('.lab[aria-busy]')) await new Promise(done => setTimeout(done, 5))
}"""
# Counts frames, until it is asked.
WATCH = """() => {
    const seen = {frames: 0}
    const frame = () => {
        seen.frames += 1
        if (window.watched === seen) requestAnimationFrame(frame)
    }
    window.watched = seen
    requestAnimationFrame(frame)
}"""
LOOK = """() => {
    const seen = window.watched
    window.watched = null
    return seen.frames
}"""


def hash_of(state) -> str:
    """The address of a state, every name written out."""
    said = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in state.items()}
    return "#" + "&".join(f"{name}={quote(value, safe='')}" for name, value in said.items())


def show(page, state):
    """Go to a state and read the page."""
    page.evaluate(GO, hash_of(state))
    return json.loads(page.evaluate(READ))


def open_lab(page, server, state=None, path=LAB):
    if path in page.url:
        page.goto(server.address + "genindex.html")  # from the same page it would only be another place in it
    page.goto(server.address + path + (hash_of(state) if state else ""))
    page.locator(".lab-live").first.wait_for()
    return page.locator(".lab").first


def random_states(count, seed=0):
    """Valid states of every kind, small enough to be computed at once."""
    draw = random.Random(seed)
    for k in range(count):
        attention = ATTENTIONS[k % len(ATTENTIONS)]
        example = draw.choice(("journey", "text", "text"))
        text = " ".join(draw.choices(WORDS, k=draw.choice((1, 2, 3, 5, 8, 12, 21))))
        heads = draw.choice((1, 2, 3, 4)) if attention in SEVERAL else 1
        d_model, d_out = (heads * draw.choice((1, 2, 3, 5, 16)) for _ in range(2))
        n = 6 if example == "journey" else len(text.split())
        state = DEFAULT | {
            "example": example, "text": text, "attention": attention, "seed": str(draw.choice((123, 789, 0, 2**64 - 1, draw.getrandbits(64)))),
            "d_model": d_model, "d_out": min(d_out, 64), "heads": heads, "causal": draw.random() < 0.5, "scale": draw.random() < 0.7,
            "temperature": draw.choice((1, 1, 0.1, 0.5, 2.5, 10)), "view": VIEWS[draw.randrange(5)],
            "head": draw.randrange(heads), "d_k": draw.randint(1, 1024),
        }
        columns = n
        if state["view"] == "output":
            width = (3 if attention == "simple" else state["d_out"]) if example == "journey" else d_model
            columns = width * (heads if attention == "MultiHeadAttentionWrapper" else 1)
        if draw.random() < 0.7:
            state |= {"row": draw.randrange(n), "column": draw.randrange(columns)}
        yield state


@contextmanager
def quiet_lab(browser, server):
    """The lab in a new tab; whatever it throws or writes to the console fails the test."""
    with tab(browser) as page:
        page.set_default_timeout(10_000)
        told = []
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        open_lab(page, server)
        yield page
        assert told == []
