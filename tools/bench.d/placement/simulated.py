# SPDX-License-Identifier: MIT
"""tools/sim machine --against-guest: what the simulator makes of programs beside what guests show, which is its licence to speak.

The pages that each program missed under first touch are counted in a guest, stretch by stretch; the simulator works out the times of
first touch and of hmkd from them. A guest with hmkd in it is the other side.
"""
import argparse
import json
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List, NoReturn, Optional, Sequence, Tuple

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools/lab.d"), str(Path(__file__).resolve().parent)]

from lab import LabError, load_machine  # noqa: E402
from lab.machine import available_memory  # noqa: E402
import build  # noqa: E402
import cells  # noqa: E402
import keep  # noqa: E402
import main as placement  # noqa: E402
import runner  # noqa: E402
from simulator import Simulator, has_scenario  # noqa: E402
from workloads import WORKLOADS  # noqa: E402

PROGRAMS = ("gups-stable", "gups-jump", "sort", "bfs", "train")
SYSTEMS = {"first-touch": "first-touch", "hm-keeper": "reactive"}  # of the bench, of the simulator
KERNEL = "6.12"


def parse(flags: argparse.ArgumentParser, argv: Optional[List[str]] = None, machine: Path = placement.MACHINE) -> argparse.Namespace:
    """What a tool takes that runs guests and asks the simulator about them."""
    flags.add_argument("--workload", metavar="NAME,...", help=f"of {', '.join(WORKLOADS)}")
    flags.add_argument("--window", type=float, metavar="SECONDS", help="of the guest's clock (default: the workload's own)")
    flags.add_argument("--jobs", type=int, default=2, metavar="N", help="guests at a time (default: %(default)s)")
    flags.add_argument("--machine", type=Path, default=machine, metavar="FILE")
    flags.add_argument("--out", type=Path, default=ROOT / "build/placement", metavar="DIR", help="guests that ran are kept there and "
                       "not run again (default: build/placement)")
    flags.add_argument("--again", action="store_true", help="run them once more")
    flags.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    args = flags.parse_args(argv)
    if args.jobs < 1:
        flags.error(f"--jobs {args.jobs}: must be at least 1")
    return args


def wanted(args: argparse.Namespace) -> List[Tuple[cells.Cell, cells.Cell]]:
    """First touch and hmkd of each program. Raises UsageError."""
    names = placement.chosen(args.workload, list(WORKLOADS), list(PROGRAMS), "workload")
    found = cells.plan(WORKLOADS, names, list(SYSTEMS), "4K", 1, False, KERNEL, args.window)
    return list(zip(found[::2], found[1::2]))


def figure(run: Dict[str, Any], system: str, name: str) -> Dict[str, Any]:
    """As hmk-sim machine --against takes it. Raises LabError."""
    own = run["figures"]
    if not own["per_operation"]:
        raise LabError(f"{name} counts no operations in its window; give it a longer --window")
    return {"workload": name, "system": system, "ns_per_op": own["per_operation"]["application_ns"], "tier1_share": own["tier_share"][0]}


def compare(base: cells.Cell, managed: cells.Cell, store: keep.Store, simulator: Simulator) -> Tuple[bool, List[Dict[str, Any]]]:
    """Whether all figures of one program agree, and what the simulator wrote."""
    against = store.folder / f"{base.key}.guest.json"
    rows = [figure(store.read(cell), system, base.key) for cell, system in zip((base, managed), SYSTEMS.values())]
    against.write_text(json.dumps(rows), encoding="ascii")
    first_touch, reactive = SYSTEMS.values()
    asked = [simulator.ask(base, [first_touch], "--against", against),
             simulator.ask(base, [reactive], "--against", against, *simulator.like(base, managed))]
    return not any(status for status, _ in asked), [row for _, found in asked for row in found]


def report(name: str, found: Sequence[Dict[str, Any]], shown: str, wrong: Sequence[str], file: Optional[Path]) -> int:
    """The table, the file, and a line for each thing that is wrong; the exit status."""
    print(shown)
    if file:
        file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for line in wrong:
        print(f"bench: {name}: {line}", file=sys.stderr)
    return 1 if wrong else 0


def run(wanted_cells: Sequence[cells.Cell], args: argparse.Namespace, store: keep.Store) -> None:
    """The guests that have not run, and first touch where its pages were not kept. Raises LabError for those that fail."""
    missing = [cell for cell in wanted_cells if args.again or not store.has(cell) or cell.system == "first-touch" and not has_scenario(store, cell)]
    if missing:
        tools = build.prepare(ROOT, store.folder, missing)
        failed = runner.every([(cell, tools, store) for cell in missing], load_machine(args.machine, available_memory() // args.jobs), args.jobs)
        if failed:
            raise LabError("; ".join(failed))


def end_with(work: Callable[[], int], name: str) -> NoReturn:
    """End the program with the status that `work` returns; an error is one line of `name`, an interrupt 130."""
    try:
        sys.exit(work())
    except LabError as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)


def main() -> int:
    """0: all figures lie within 10 % of the guests'; 1: not so, or a guest failed. Raises LabError."""
    args = parse(argparse.ArgumentParser(prog="tools/sim machine --against-guest", description=__doc__))
    pairs, machine = wanted(args), load_machine(args.machine)
    store = keep.Store(args.out / args.machine.stem)
    run([cell for pair in pairs for cell in pair], args, store)
    simulator = Simulator(ROOT, store, machine, args.machine)
    found = [compare(*pair, store, simulator) for pair in pairs]
    if args.json:
        args.json.write_text(json.dumps([row for _, rows in found for row in rows], indent=1) + "\n", encoding="utf-8")
    return 0 if all(agrees for agrees, _ in found) else 1


if __name__ == "__main__":
    end_with(main, "sim")
