"""The five reports' tables and figures, each measured on this machine and set beside the report's.

    ./run.sh reproduce                all five
    ./run.sh reproduce 000 004        two of them
    ./run.sh reproduce --quick        all, on two cores without a GPU, in a quarter of an hour: no time means anything then

Writes NUMBER.md, NUMBER.json and figures (SVG, where Matplotlib is there) for each report, and all.md, the list, into
build/reproduce. What a machine lacks (a GPU, PyTorch, a data set) is said where its numbers would stand.
"""

import argparse
import datetime
import json
import math
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import report_000  # noqa: E402: the path comes first
import report_001  # noqa: E402
import report_002  # noqa: E402
import report_003  # noqa: E402
import report_004  # noqa: E402
from exhibit import ROOT, Bench, Failed  # noqa: E402
from measuring import gpu_lines, program_of, run, table, torch_version  # noqa: E402

REPORTS = {report.number: report for report in (report_000.REPORT, report_001.REPORT, report_002.REPORT,
                                                report_003.REPORT, report_004.REPORT)}


def options_of(words):
    parser = argparse.ArgumentParser(prog="./run.sh reproduce", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", nargs="*", metavar="REPORT", help=f"{', '.join(REPORTS)} [all]")
    parser.add_argument("--quick", action="store_true", help="small sizes, which any machine computes in minutes")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/auto/bin",
                        help="folder with the programs [build/auto/bin]")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build/reproduce",
                        help="folder for the results [build/reproduce]")
    parser.add_argument("--list", action="store_true", help="say what there is, and measure nothing")
    parser.set_defaults(budget=math.inf)
    options = parser.parse_args(words)
    for number in options.reports:
        if number not in REPORTS:
            parser.error(f"there is no report '{number}'; there are {', '.join(REPORTS)}")
    return options


def machine_of(options):
    """What this machine is, in sentences."""
    info = run([program_of(options.programs, "stage01"), "info"]).splitlines()
    lines = [line.removeprefix("runs on").strip() + "." for line in info if line.startswith("runs on")] + gpu_lines()
    version = torch_version()
    lines.append(f"PyTorch {version}." if version else "There is no PyTorch here.")
    return " ".join(lines)


def drawn(shown, path):
    """Whether the figure could be drawn."""
    sys.path.append(str(ROOT / "tools"))
    try:
        from stagewise import command_line
        command_line.make_matplotlib_quiet()
        from stagewise import theme
    except ImportError:
        return False
    theme.save(shown.draw(theme, theme.THEMES["light"], shown), path)
    return True


def measured(bench, report, exhibit, folder):
    """The exhibit as a dictionary for JSON."""
    start = time.monotonic()
    bench.problems = []
    result = {"report": report.number, "exhibit": exhibit.name, "what": exhibit.what, "command": exhibit.command}
    try:
        shown = exhibit.measure(bench)
    except Failed as failure:
        result["not_measured"] = str(failure)
    except Exception as error:  # of the script: what the others find is not lost
        result["not_measured"] = f"the script stumbled over {error!r}"
    else:
        result |= {"theirs": shown.theirs, "ours": shown.ours, "words": shown.words, "head": shown.head,
                   "rows": [[str(cell) for cell in row] for row in shown.rows]}
        name = f"{report.number}_{re.sub(r'[^a-z0-9]+', '_', exhibit.name.lower())}.svg"
        if shown.draw is not None and drawn(shown, folder / name):
            result["figure"] = name
    result["problems"] = list(dict.fromkeys(bench.problems))
    print(f"{report.number}  {exhibit.name}, {exhibit.what}: "
          + (f"not measured: {result['not_measured']}" if "not_measured" in result else f"{time.monotonic() - start:.0f} s"),
          flush=True)
    return result


def markdown_of(report, results, machine, note):
    """The page of a report."""
    lines = [f"# Report {report.number}: {report.title}\n", f"Theirs: {report.hardware}.  \nOurs: {machine}\n", note]
    for result in results:
        lines.append(f"## {result['exhibit']}: {result['what']}\n\n```\n{result['command']}\n```\n")
        if "not_measured" in result:
            lines.append(f"Not measured: {result['not_measured']}.\n")
            continue
        lines.append(result["words"] + "\n")
        lines.append(table(result["head"], result["rows"]))
        if "figure" in result:
            lines.append(f"![{result['what']}]({result['figure']})\n")
        lines += [f"Not as planned: {problem}.\n" for problem in result["problems"]]
    return "\n".join(lines)


def list_of(results):
    """A row for each table and figure of each report."""
    return table(["report", "exhibit", "what", "command", "theirs", "ours"],
                 [[result["report"], result["exhibit"], result["what"], f"`{result['command']}`",
                   result.get("theirs", "-"), result.get("ours", f"not measured: {result.get('not_measured')}")]
                  for result in results])


def main(words):
    options = options_of(words)
    chosen = [REPORTS[number] for number in options.reports or REPORTS]
    if options.list:
        for report in chosen:
            for exhibit in report.exhibits:
                print(f"{report.number}  {exhibit.name:20}  {exhibit.what}")
        return
    options.output.mkdir(parents=True, exist_ok=True)
    bench = Bench(options)
    machine = machine_of(options)
    note = (f"Measured {datetime.date.today()} with `./run.sh reproduce{' --quick' if options.quick else ''}`."
            + (" Sizes are small, so no time is comparable with a report's." if options.quick or not bench.gpus else "")
            + "\n")
    everything = []
    for report in chosen:
        number = report.number
        results = [measured(bench, report, exhibit, options.output) for exhibit in report.exhibits]
        everything += results
        (options.output / f"{number}.md").write_text(markdown_of(report, results, machine, note), encoding="utf-8")
        (options.output / f"{number}.json").write_text(
            json.dumps({"report": number, "title": report.title, "their_hardware": report.hardware, "our_hardware": machine,
                        "date": str(datetime.date.today()), "is_quick": options.quick, "exhibits": results}, indent=1)
            + "\n", encoding="utf-8")
    (options.output / "all.md").write_text(f"# The reports, reproduced\n\n{machine}  \n{note}\n{list_of(everything)}",
                                           encoding="utf-8")
    print(f"\n{'report and exhibit':32}  {'theirs':44}  ours")
    for result in everything:
        print(f"{result['report'] + '  ' + result['exhibit']:32}  {result.get('theirs', '-'):44}  "
              f"{result.get('ours', '-')}")
    print(f"\nThe tables are in {options.output}.")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Failed as failure:
        sys.exit(f"reproduce: {failure}.")
