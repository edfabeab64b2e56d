"""The book in a shell: ``python -m attention_book "The dog slept" --heads 4 --out map.png``."""

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NoReturn

from attention_book.reading import Reading, attend

NAME = "python -m attention_book"
UNDATED: dict[str, dict[str, Any]] = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
CHECK = f"check needs a file: {NAME} check my_attention.py (to read the one-word sentence: {NAME} -- check)"
EXAMPLE = f"""\
for example:
  {NAME} "The dog slept" --heads 4 --causal --out map.png
  {NAME} check my_attention.py    look for mistakes in your own attention"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One sentence, without the usage above it."""
        self.exit(2, f"{message}; {NAME} --help explains\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Does what the command line asks; returns the exit status, 2 if it cannot be done."""
    argv = sys.argv[1:] if argv is None else list(argv)
    if argv == ["check"]:
        return _fail(CHECK)
    if argv[:1] == ["check"]:
        from attention_book.diagnosis.check import main as check

        return check(argv[1:])
    options = _parser().parse_args(argv)
    if not options.sentence:
        return _fail(f'no sentence given: write {NAME} "The dog slept"')
    if options.out is not None and Path(options.out).suffix.lower() not in UNDATED:
        return _fail(f"{options.out!r} does not end in .png, .svg or .pdf, so it is not clear what to write")
    try:
        reading = attend(
            " ".join(options.sentence),
            d_model=options.d_model,
            num_heads=options.heads,
            seed=options.seed,
            causal=options.causal,
        )
        if options.out is None:
            return _print(reading.table(width=shutil.get_terminal_size().columns if sys.stdout.isatty() else None))
        _write(Path(options.out), _picture(reading, Path(options.out).suffix.lower()))
    except ValueError as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(f"{options.out!r} cannot be written: {error.strerror or error}")
    return _print(f"The heatmap is in {options.out}")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog=NAME,
        description="Reads a sentence by attention with random weights;\nshows how much each word takes from each word.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("sentence", nargs="*", help="the words, in quotes or not; up to 512")
    parser.add_argument("--heads", type=_whole, default=1, metavar="N", help="number of heads (default: 1)")
    parser.add_argument("--causal", action="store_true", help="hide later words from earlier ones")
    parser.add_argument("--seed", type=_whole, default=42, metavar="N", help="seed of all random numbers (default: 42)")
    parser.add_argument("--d-model", type=_whole, default=64, metavar="N", help="width of each embedding (default: 64)")
    parser.add_argument("--out", metavar="FILE", help="draw a heatmap into FILE.png, .svg or .pdf; a table is printed without it")
    return parser


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None


def _picture(reading: Reading, kind: str) -> bytes:
    """Returns the figure as a file's bytes, the same for the same reading."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    figure = reading.heatmap() if reading.num_heads == 1 else reading.heads()
    try:
        picture = BytesIO()
        with mpl.rc_context({"svg.hashsalt": "attention_book"}):
            figure.savefig(picture, format=kind[1:], dpi=200, metadata=UNDATED[kind])
        return picture.getvalue()
    finally:
        plt.close(figure)


def _write(path: Path, content: bytes) -> None:
    """Writes the whole file or nothing: what stood there before stays until the new content is complete."""
    path = Path(os.path.realpath(path))  # through a link, to the file that is meant
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(None, "it is write-protected")
    part = path.with_name(f".{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def _print(text: str) -> int:
    """Prints what the terminal can show, and codes for the rest; stops quietly if nobody reads on, as under ``| head``."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python complains when it ends
        return 1
    return 0


def _fail(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 2


if __name__ == "__main__":
    os.environ["MPLBACKEND"] = "Agg"  # no window; a notebook's `!python -m` inherits a backend that only notebooks have
    sys.exit(main())
