"""What Sphinx reads. Nothing is computed here: whatever computes is an extension in `docs/_ext`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "docs" / "_ext"))

project = "Attention from Scratch"
html_title = project
language = "en"
extensions = [
    *("sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.intersphinx"),
    *("myst_nb", "sphinx_gallery.gen_gallery", "sphinx_design", "sphinx_copybutton", "sphinxcontrib.bibtex", "notfound.extension"),
    # The book's own. What builds: again what is stale, and nothing that fails.
    *("fresh", "failed_cells"),
    # What pages hold.
    *("library_source", "predict", "bug_zoo", "lab", "who", "pins", "static_math"),
    # What the gallery gives and takes.
    *("notebook_text", "gallery_zip", "gallery_figure", "gallery_uses", "trained_heads"),
    # Where the book lives, and who reads it.
    *("repository", "colab", "page_head", "accessible_html"),
]
exclude_patterns = ["_ext", "_static", "_inventories", "gallery/**.ipynb"]

html_theme = "furo"
html_math_renderer = "temml"  # static_math: MathML at build time, no script in the page
pygments_dark_style = "a11y-dark"  # furo's own underlines module names
highlight_options = {"pycon": {"stripnl": True}}  # doctest blocks end in a blank line, which pytest needs
html_static_path, html_css_files, html_favicon = ["docs/_static"], ["book.css"], "docs/_static/favicon.svg"
html_copy_source = html_show_copyright = html_scaled_image_link = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist", "substitution"]
myst_heading_anchors = 3
nb_execution_mode, nb_execution_show_tb, nb_execution_timeout = "inline", True, 60
nb_eval_name_regex = ".+"  # {eval} takes an expression, not only a name
nb_output_stderr, nb_merge_streams = "warn", True
nb_ipywidgets_js = {}  # the default is two scripts on another host

autodoc_member_order, autodoc_preserve_defaults = "bysource", True
napoleon_numpy_docstring, napoleon_use_ivar = False, True
bibtex_bibfiles = ["docs/references.bib"]
copybutton_prompt_text, copybutton_prompt_is_regexp = r">>> |\.\.\. |\$ ", True
copybutton_selector = "div:not(.sphx-glr-script-out):not(.output) > div.highlight > pre"

linkcheck_anchors_ignore_for_url = [r"https://github\.com/.*"]  # a line's anchor is made by a script there

# Lists written by hand, so that a build needs no network.
intersphinx_mapping = {
    "python": ("https://docs.python.org/3/", "_inventories/python.txt"),
    "torch": ("https://docs.pytorch.org/docs/stable/", "_inventories/torch.txt"),
    "matplotlib": ("https://matplotlib.org/stable/", "_inventories/matplotlib.txt"),
}
sphinx_gallery_conf = {
    "examples_dirs": ["../gallery/acts", "../gallery/project", "../gallery/trained"],
    "gallery_dirs": ["gallery/acts", "gallery/project", "gallery/trained"],
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("gallery_svg.scrape", "answers.remember"),
    "reset_modules": ("answers.settle", "gallery_reset.reset"),
    "reset_modules_order": "both",
    "capture_repr": (),
    "inspect_global_variables": False,
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("attention_book",),
    "write_computation_times": False,  # its page differs from build to build, and asks other hosts
    "min_reported_time": float("inf"),
    "show_signature": False,
}
