"""No class, file or function grows until nobody reads it."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src"
MOST_METHODS, MOST_LINES, LONGEST_FUNCTION = 30, 700, 60
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def nodes() -> Iterator[tuple[Path, ast.AST]]:
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            yield path.relative_to(SOURCE), node


def lines_of(function: FUNCTIONS) -> int:
    """Return how many lines a function has, but for its docstring."""
    documented = isinstance(function.body[0], ast.Expr) and ast.get_docstring(function) is not None
    start = function.body[0].end_lineno if documented else function.lineno - 1
    return (function.end_lineno or 0) - (start or 0)


def test_classes_files_and_functions_stay_small() -> None:
    files = [(path, len(path.read_text().splitlines())) for path in SOURCE.rglob("*.py")]
    too_long = [f"{path}: {lines} lines" for path, lines in files if lines > MOST_LINES]
    for path, node in nodes():
        if isinstance(node, FUNCTIONS) and lines_of(node) > LONGEST_FUNCTION:
            too_long.append(f"{path}: {node.name} has {lines_of(node)} lines")
        if isinstance(node, ast.ClassDef):
            methods = sum(isinstance(child, FUNCTIONS) for child in node.body)
            if methods > MOST_METHODS:
                too_long.append(f"{path}: {node.name} has {methods} methods")
    assert too_long == []


def test_no_class_name_is_used_twice() -> None:
    names = Counter(node.name for _, node in nodes() if isinstance(node, ast.ClassDef))
    assert [name for name, times in names.items() if times > 1] == []
