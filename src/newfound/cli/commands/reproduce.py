"""`newfound reproduce`: the paper's tables and figures, beside ours."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from newfound.cli.console import DONE, Console, emit, print_table
from newfound.cli.option_kinds import count, flag, output_to
from newfound.cli.options import Force, Json, Quiet
from newfound.cli.outputs import check_folder

if TYPE_CHECKING:
    from newfound.features.extractor import Extractor
    from newfound.paper.report import Outcome
    from newfound.paper.studies import Study

NOT_REPRODUCED = 4
QUICK_TRIALS = 2

What = Annotated[
    Literal["mnist", "rgbd", "icubworld28", "digits", "bayes"],
    typer.Argument(help="Data set, or bayes for Figure 1."),
]
Trials = Annotated[int | None, count("Run N trials (10).")]
Rare = Annotated[
    Literal["one", "each"],
    typer.Option(help="Make one class rare, or each class in turn (Figure 3)."),
]
Quick = Annotated[bool, flag("--quick", f"Run {QUICK_TRIALS} trials, for a first look.")]
Output = Annotated[Path, output_to("Write reports to this folder, one folder per data set.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the trials.")]
ExtractorName = Annotated[
    str | None,
    typer.Option(
        help="Turn the images of rgbd or icubworld28 into vectors with this, as for teach.",
    ),
]


def reproduce(
    what: What,
    trials: Trials = None,
    rare: Rare = "one",
    quick: Quick = False,
    output: Output = Path("results"),
    force: Force = False,
    seed: Seed = 0,
    extractor: ExtractorName = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Reproduce the paper's tables and figures.

    \b
    newfound reproduce digits --quick
    newfound reproduce bayes

    The command prints Table I for a data set, our numbers beside the paper's, and writes a folder
    with report.md, the figures and every trial. Run it again to resume it if it was interrupted.
    digits and bayes need no data; for the others, the command says how to get it. The exit code is
    4 if a number is out of tolerance.
    """
    talk = Console(quiet)
    # What each run begins with.
    mark = "bayes.json" if what == "bayes" else "configuration.json"
    check_folder(output / what, mark, force)
    if what == "bayes":
        _bayes(output / what, seed, as_json, talk)
        return
    from newfound.paper.studies import STUDIES

    study = STUDIES[what](None if extractor is None else _extractor(extractor))
    number = trials or (QUICK_TRIALS if quick else study.trials)
    result = _run(study, number, rare == "each", output / what, seed, talk)
    if as_json:
        from newfound.paper.table import as_json as table_as_json

        emit(json.dumps(table_as_json(result.table)))
    else:
        _print(study, result, talk)
    talk.info(f"Report in {output / what / 'report.md'}")
    raise typer.Exit(DONE if result.is_reproduced else NOT_REPRODUCED)


def _extractor(name: str) -> "Extractor":
    from newfound.features.catalog import extractor_from_name  # which needs the extra vision

    return extractor_from_name(name)


def _run(
    study: "Study", trials: int, each_class: bool, folder: Path, seed: int, talk: Console
) -> "Outcome":
    from newfound.paper.report import outcome, write_report
    from newfound.paper.run import begin, configuration, jobs, read_trials, run
    from newfound.paper.timing import update_times

    begin(folder, configuration(study, seed))
    todo = jobs(study, trials, each_class)
    for _ in talk.progress(run(study, todo, folder, seed), len(todo), study.title):
        pass
    keys = [job.key for job in todo]
    records = [record for record in read_trials(folder) if record["key"] in keys]
    command = f"newfound reproduce {study.name} --trials {trials}" + " --rare each" * each_class
    for undrawn in write_report(study, records, update_times(study), folder, command):
        talk.info(f"No figures: {undrawn}")
    return outcome(study, records)


def _print(study: "Study", result: "Outcome", talk: Console) -> None:
    from newfound.paper.table import COLUMNS, lines

    print_table(COLUMNS, lines(result.table), 4)
    talk.info("Ours ± deviation; in brackets the paper's and the difference, ! out of tolerance.")
    for difference in study.differences:
        talk.info(f"Other than in the paper: {difference}")
    for finding in result.findings:
        talk.info(f"{finding.verdict}: {finding.statement} ({finding.numbers})")


def _bayes(folder: Path, seed: int, as_json: bool, talk: Console) -> None:
    from newfound.paper.bayes_report import agreement_rows, reproduce_bayes

    agreement, undrawn = reproduce_bayes(folder, seed)
    if as_json:
        emit(json.dumps(agreement))
    else:
        columns = ["prior", "learned", "as the standard rule, %", "as the rebalanced, %"]
        print_table(columns, agreement_rows(agreement), 2)
    if undrawn:
        talk.info(f"No figure: {undrawn}")
    talk.info(f"{'Report' if undrawn else 'Figure 1 and report'} in {folder}")
