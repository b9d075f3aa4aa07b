"""The page of the reference that shows what every command says of itself."""

from typer.testing import CliRunner

from newfound.cli import app

WORDS = """\
Commands
========

What ``newfound NAME --help`` prints. The examples in it are run by the tests as they are printed.

"""


def commands_page() -> str:
    r"""Return the page, in reStructuredText.

    Returns
    -------
    page : str

    Examples
    --------
    >>> "newfound teach\n--------------" in commands_page()
    True
    """
    names = sorted(each.name or each.callback.__name__ for each in app.registered_commands)  # type: ignore[union-attr]
    return WORDS + "".join(_section(name) for name in names)


def _section(name: str) -> str:
    # As wide as a page of the site, without colours.
    settings = {"COLUMNS": "86", "TERMINAL_WIDTH": "86", "NO_COLOR": "1", "TERM": "dumb"}
    done = CliRunner().invoke(app, [name, "--help"], prog_name="newfound", env=settings)
    title = f"newfound {name}"
    text = "".join(f"   {line}".rstrip() + "\n" for line in done.output.strip().splitlines())
    return f"{title}\n{'-' * len(title)}\n\n.. code-block:: text\n\n{text}\n"
