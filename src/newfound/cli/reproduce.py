"""`newfound reproduce`: the paper's tables and figures, beside ours."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from newfound.cli.console import DONE, Console, emit, print_table
from newfound.cli.options import Quiet

if TYPE_CHECKING:
    from newfound.paper.report import Outcome
    from newfound.paper.studies import Study

NOT_REPRODUCED = 4
QUICK_TRIALS = 2

What = Annotated[
    Literal["mnist", "rgbd", "icubworld28", "digits", "bayes"],
    typer.Argument(help="A data set, or bayes for Figure 1.", show_default=False),
]
Trials = Annotated[
    int | None, typer.Option(min=1, help="Trials; by default ten.", show_default=False)
]
Classes = Annotated[
    Literal["one", "all"],
    typer.Option(help="Whether one class is rare, or each in turn (Figure 3)."),
]
Quick = Annotated[bool, typer.Option("--quick", help=f"{QUICK_TRIALS} trials, for a first look.")]
Out = Annotated[Path, typer.Option(help="Folder for reports: one below it for each data set.")]
Seed = Annotated[int, typer.Option(min=0, help="Same seed, same numbers.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the table as JSON.")]
ExtractorName = Annotated[
    str | None,
    typer.Option(
        "--extractor",
        help="What turns images into vectors, as for teach; for rgbd and icubworld28.",
        show_default=False,
    ),
]


def reproduce(
    what: What,
    trials: Trials = None,
    classes: Classes = "one",
    quick: Quick = False,
    out: Out = Path("results"),
    seed: Seed = 0,
    extractor: ExtractorName = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Reproduce the paper's tables and figures.

    \b
    newfound reproduce digits --quick
    newfound reproduce bayes

    Prints Table I for a data set, ours beside the paper's, and writes a folder with report.md,
    figures, and every trial. Broken off and run again, it goes on. digits and bayes need no data;
    the others say how to get theirs. Exit code 4: something is out of the paper's tolerance.
    """
    talk = Console(quiet)
    if what == "bayes":
        _bayes(out / what, seed, as_json, talk)
        return
    study = _study(what, extractor)
    number = trials or (QUICK_TRIALS if quick else study.trials)
    came = _run(study, number, classes == "all", out / what, seed, talk)
    if as_json:
        from newfound.paper.table import as_json as table_as_json

        emit(json.dumps(table_as_json(came.table)))
    else:
        _print(study, came, talk)
    talk.info(f"Report in {out / what / 'report.md'}")
    raise typer.Exit(DONE if came.is_reproduced else NOT_REPRODUCED)


def _study(what: str, extractor: str | None) -> "Study":
    from newfound.paper.studies import STUDIES

    if extractor is None:
        return STUDIES[what]()
    from newfound.features.catalog import named

    return STUDIES[what](named(extractor))


def _run(
    study: "Study", trials: int, all_classes: bool, folder: Path, seed: int, talk: Console
) -> "Outcome":
    from newfound.paper.report import outcome, write_report
    from newfound.paper.run import begin, finished, jobs, run
    from newfound.paper.update_time import update_times

    settings: dict[str, Any] = {
        "study": study.name,
        "seed": seed,
        "rare": str(study.rare),
        "n_bal": study.n_bal,
        "n_test": study.n_test,
        "counts": list(study.counts),
        "recoding": study.recoding,
        "features": study.features,
    }
    begin(folder, settings)
    todo = jobs(study, trials, all_classes)
    for _ in talk.progress(run(study, todo, folder, seed), len(todo), study.title):
        pass
    keys = [job.key for job in todo]
    records = [record for record in finished(folder) if record["key"] in keys]
    command = f"newfound reproduce {study.name} --trials {trials}" + " --classes all" * all_classes
    for undrawn in write_report(study, records, update_times(study), folder, command):
        talk.info(f"No figures: {undrawn}")
    return outcome(study, records)


def _print(study: "Study", came: "Outcome", talk: Console) -> None:
    from newfound.paper.table import COLUMNS, lines

    print_table(COLUMNS, lines(came.table), 4)
    talk.info("Ours ± deviation; in brackets the paper's and the difference, ! out of tolerance.")
    for difference in study.differences:
        talk.info(f"Other than in the paper: {difference}")
    for finding in came.findings:
        talk.info(f"{finding.verdict}: {finding.statement} ({finding.numbers})")


def _bayes(folder: Path, seed: int, as_json: bool, talk: Console) -> None:
    from newfound.paper.bayes import reproduce_bayes

    found, undrawn = reproduce_bayes(folder, seed)
    if as_json:
        emit(json.dumps(found))
    else:
        rows = [
            [each["prior"], name, agrees["standard"], agrees["rebalanced"]]
            for each in found
            for name, agrees in each["agreement"].items()
        ]
        print_table(
            ["prior", "learned", "as the standard rule, %", "as the rebalanced, %"], rows, 2
        )
    if undrawn:
        talk.info(f"No figure: {undrawn}")
    talk.info(f"{'Report' if undrawn else 'Figure 1 and report'} in {folder}")
