"""`newfound forget`: take back images, as if they had never been taught."""

import typer

from newfound.cli.console import DONE, SOME_UNREADABLE, Console, plural
from newfound.cli.gather import Row, gather, rows_of, stacked, tell_ignored, tell_problems
from newfound.cli.models import changing, must_exist, opened
from newfound.cli.options import As, By, ExtractorName, Images, Model, Quiet, Wait


def forget(
    model: Model,
    images: Images,
    label: As = None,
    labels: By = "first",
    extractor: ExtractorName = None,
    wait: Wait = 0.0,
    quiet: Quiet = False,
) -> None:
    """Take back images, as if they had never been taught.

    \b
    newfound forget kitchen.newfound a.jpg --as mug

    Say with --as what they were taught as, or name folders, as for teaching. Images that were not
    taught under that label are listed, and the exit code is 3. A model that knows nothing any more
    is removed; newfound undo brings it back.
    """
    console = Console(quiet)
    gathered = gather(images, label, labels, need_labels=True)
    tell_ignored(gathered.ignored, console)
    must_exist(model)
    with changing(model, wait, console) as change:
        recogniser = opened(model)
        rows = rows_of(gathered, recogniser, extractor)
        taken: list[tuple[Row, object]] = []
        problems: list[Row] = []
        left: dict[tuple[object, bytes], int] = {}
        for row in console.progress(rows, len(gathered), "looking"):
            named = recogniser.label(str(row.label))
            key = named, row.digest
            left.setdefault(key, recogniser.memory.count(*key))
            if row.problem is None and not left[key]:
                row = row._replace(problem=f"was not taught as {named}")
            if row.problem is not None:
                problems.append(row)
            else:
                left[key] -= 1
                taken.append((row, named))
        if taken:
            vectors, names = stacked([row for row, _ in taken]), [name for _, name in taken]
            recogniser.forget(vectors, names, [row.digest for row, _ in taken])
            recogniser.settle()
            change.save(recogniser)
    console.info(f"Forgot {plural(len(taken), 'image')}.")
    tell_problems(problems, console)
    raise typer.Exit(SOME_UNREADABLE if problems else DONE)
