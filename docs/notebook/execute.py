"""Makes the notebooks of their sources and executes them: ``cargo xtask notebook`` calls this.

A source is a Python file in which ``# %%`` begins a cell, and ``# %% [markdown]`` one of text. The month's jobs are made by
the program that ``NETRA_MAKE_MONTH`` names, and imported by ``NETRA_PROGRAM``.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import nbclient
import nbformat

HERE = pathlib.Path(__file__).resolve().parent
NAMES = ("log", "live", "month")


def cells(source):
    """The cells of a source: what they are, and their text."""
    found = []
    for line in source.splitlines():
        if line.startswith("# %%"):
            found.append(("markdown" if "[markdown]" in line else "code", []))
        else:
            found[-1][1].append(line)
    return [(kind, _text(kind, lines)) for kind, lines in found]


def _text(kind, lines):
    if kind == "markdown":
        lines = [line[2:] if line.startswith("# ") else line.lstrip("#") for line in lines]
    return "\n".join(lines).strip("\n")


def notebook(name):
    """The notebook of a source, not yet executed."""
    made = nbformat.v4.new_notebook()
    makers = {"markdown": nbformat.v4.new_markdown_cell, "code": nbformat.v4.new_code_cell}
    for number, (kind, text) in enumerate(cells((HERE / f"{name}.py").read_text())):
        cell = makers[kind](text)
        cell["id"] = f"{name}-{number}"
        made.cells.append(cell)
    made.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return made


def month(folder):
    """A store with the month's jobs."""
    logs, store = pathlib.Path(folder, "logs"), pathlib.Path(folder, "store")
    logs.mkdir()
    subprocess.run([os.environ["NETRA_MAKE_MONTH"], logs], check=True)
    program = os.environ["NETRA_PROGRAM"]
    subprocess.run([program, "import", "--quiet", "--store", store, logs], check=True)
    return str(store)


def execute(name):
    """The notebook with its results; an error in a cell is one here."""
    made = notebook(name)
    with tempfile.TemporaryDirectory() as folder:
        variables = dict(os.environ, PYTHONWARNINGS="error::DeprecationWarning:__main__", NETRA_PYTHON=sys.executable)
        if name == "month":
            variables["NETRA_STORE"] = month(folder)
        quiet = ["--IPKernelApp.log_level=40"]
        client = nbclient.NotebookClient(made, timeout=600, kernel_name="python3", extra_arguments=quiet)
        client.execute(cwd=folder, env=variables)
    for cell in made.cells:
        # When each cell ran says nothing to a reader, and changes each time.
        cell.metadata.pop("execution", None)
    made.metadata.pop("language_info", None)
    return made


def main():
    for name in sys.argv[1:] or NAMES:
        nbformat.write(execute(name), HERE / f"{name}.ipynb")
        print(f"docs/notebook/{name}.ipynb")


if __name__ == "__main__":
    main()
