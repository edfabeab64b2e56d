"""Fail the build when a cell of a page raised, whether or not warnings count as errors.

myst-nb can do this by itself (`nb_execution_raise_on_error`), but then it stops at the first page and does not say
what was raised. Here each page has told its traceback, as a warning, before the build ends.
"""

from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.errors import ExtensionError
from sphinx.util.typing import ExtensionMetadata


def refuse(app, env):
    runs = {docname: NbMetadataCollector.get_exec_data(env, docname) for docname in sorted(env.found_docs)}
    failed = [docname for docname, run in runs.items() if run and not run["succeeded"]]
    if failed:
        raise ExtensionError(f"cells raised exceptions, told above, in: {', '.join(failed)}")


def setup(app) -> ExtensionMetadata:
    app.connect("env-updated", refuse)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
