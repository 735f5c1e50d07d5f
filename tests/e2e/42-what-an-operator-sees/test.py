#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# One kernel in a plain run, for its time; the other by --kernel 6.1.
# suite: 6.12
# timeout: 200
"""Every verb of hmkctl against the real module: processes that rules name come and go, as the kernel tells it
(the next look for them is an hour away), a hot part in slow memory is moved, and status, top, why, heatmap,
record, stats, metrics and doctor tell the same story; reload, set, pause and detach do what they say."""
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

HMKCTL, CONTROL, LOG = lib.build("tools/hmkctl/hmkctl"), lib.CONTROL, Path("/run/hmkd.log")
SHELL, GROUP = "/run/hmk-follow", Path("/sys/fs/cgroup/hmk-moved")
MIB = 1 << 20
SIZE, HOT_FROM, HOT_TO = 32 * MIB, 8 * MIB, 16 * MIB
RECORDING = Path("/run/r.hmkrec")


def config(text: str) -> str:
    return (f"{lib.MOVE_COST}attach: [comm=hmk-touch, comm=hmk-follow+children, comm=hmk-renamed, cgroup=/hmk-moved]\n"
            f"attach_poll: 1h\ninterval: 400ms\noverhead: 20%\nreserve: 8MiB\n{text}")


def configure(text: str) -> None:
    Path(lib.CONFIG).write_text(config(text), encoding="ascii")


def hmkctl(*argv: object, status: int = 0) -> str:
    done = lib.run(HMKCTL, "--socket", CONTROL, *argv, check_status=False)
    lib.check(done.returncode == status, f"hmkctl {' '.join(map(str, argv))} ends with {status}:\n{done.stdout}")
    return done.stdout


def ask(*argv: object, status: int = 0) -> dict:
    done = lib.run(HMKCTL, "--socket", CONTROL, "--json", *argv, check_status=False)
    lib.check(done.returncode == status, f"hmkctl --json {' '.join(map(str, argv))} ends with {status}, it was "
              f"{done.returncode}{': ' + done.stdout if done.returncode != status else ''}")
    return json.loads(done.stdout)


def quietly(verb: str) -> list:
    """The targets, without a line of the log for each question."""
    return json.loads(lib.run(HMKCTL, "--socket", CONTROL, "--json", verb).stdout)["targets"]


def managed() -> set:
    return {target["pid"] for target in quietly("status")}


def others_become_managed() -> None:
    """By another name, and by another control group."""
    renamed = subprocess.Popen(["sh", "-c", "read x; printf hmk-renamed >/proc/$$/comm; read x"], stdin=subprocess.PIPE)
    moved = subprocess.Popen(["sleep", "1000"])
    renamed.stdin.write(b"\n")
    renamed.stdin.flush()
    GROUP.mkdir()
    (GROUP / "cgroup.procs").write_text(str(moved.pid), encoding="ascii")
    lib.wait_for(lambda: {renamed.pid, moved.pid} < managed(), 30, "who takes such a name or group is managed")
    for one in (renamed, moved):
        one.kill()
        one.wait()


def top_on_a_terminal() -> None:
    """It shows the process on a full screen and leaves on 'q'."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.execv(HMKCTL, [HMKCTL, "--socket", CONTROL, "top"])
    seen = b""

    def shows() -> bool:
        nonlocal seen
        if select.select([terminal], [], [], 0.1)[0]:
            seen += os.read(terminal, 65536)
        return b"hmk-touch" in seen and b"q: leave" in seen
    lib.wait_for(shows, 30, "top shows the process on a terminal")
    os.write(terminal, b"q")
    status = lib.wait_for(lambda: ended(pid, terminal), 30, "top leaves on q")
    lib.check(status == [0], f"top has left the terminal: {status}")


def ended(pid: int, terminal: int) -> list:
    """Its wait status once it has ended, else what it writes is taken from the terminal."""
    who, status = os.waitpid(pid, os.WNOHANG)
    if who:
        return [status]
    if select.select([terminal], [], [], 0)[0]:
        try:
            os.read(terminal, 65536)
        except OSError:  # its other end is closed
            pass
    return []


lib.load_module()
os.symlink("/bin/sh", SHELL)
daemon = lib.start_hmkd(config("mode: track-only\n"), LOG)
lib.check(managed() == set(), "nobody is managed yet")

touch, other = lib.Touch(2), lib.Touch(3)
area, start = touch.map(SIZE >> 12)
other.map(4 * MIB >> 12)
family = subprocess.Popen([SHELL, "-c", "sleep 1000 & wait"])
lib.wait_for(lambda: len(managed()) == 4, 30, "who appears is managed, a child included")
rules = {target["comm"]: target["rule"] for target in ask("status")["targets"]}
lib.check(rules == {"hmk-touch": "comm=hmk-touch", "hmk-follow": "comm=hmk-follow+children", "sleep": "comm=hmk-follow+children"},
          f"each by its rule: {rules}")
family.kill()
other.end()
lib.wait_for(lambda: {touch.pid} < managed() and len(managed()) == 2, 30, "who ends is forgotten, a child stays")

others_become_managed()

touch.tell(f"loop write {area} {HOT_FROM >> 12} {HOT_TO >> 12} 1")
hot = start + HOT_FROM
recording = subprocess.Popen([HMKCTL, "--socket", CONTROL, "record", str(RECORDING), "--pid", str(touch.pid), "--for", "10min"],
                             stdout=subprocess.DEVNULL)
lib.wait_for(lambda: RECORDING.exists() and RECORDING.stat().st_size > 0, 30, "the recording begins before the moves")
hmkctl("set", "mode", "manage")


def newest_interval() -> int:
    return int([target for target in quietly("status") if target["pid"] == touch.pid][0]["last_interval"]["seq"])


def in_fast_memory() -> bool:
    mine = [target for target in quietly("status") if target["pid"] == touch.pid][0]
    return mine["tiers"][0]["resident_bytes"] >= HOT_TO - HOT_FROM


lib.wait_for(in_fast_memory, 90, "the hot part is in the fastest tier")
last_before = newest_interval()
lib.wait_for(lambda: newest_interval() >= last_before + 2, 30, "the interval in which it moved is recorded")
hmkctl("set", "mode", "track-only")
recording.send_signal(signal.SIGINT)
lib.check(recording.wait(30) == 0, "record ends well on Ctrl-C")

for words in (["status"], ["tiers"], ["regions", "--pid", str(touch.pid), "--limit", "5"], ["top", "--once"], ["version"]):
    hmkctl(*words)
top_on_a_terminal()
target = [t for t in ask("stats")["targets"] if t["pid"] == touch.pid][0]
lib.check(target["promoted_bytes"] >= HOT_TO - HOT_FROM, f"stats: {target['promoted_bytes']} bytes were promoted")
lib.check('hmk_promoted_bytes_total{rule="comm=hmk-touch"}' in lib.get(CONTROL, "/metrics"), "metrics are by class and rule")
hmkctl("set", "metrics_by_pid", "yes")
metrics = lib.get(CONTROL, "/metrics")
lib.check(metrics.startswith("HTTP/1.1 200") and metrics.endswith("# EOF\n"), "metrics are whole")
lib.check(any("promoted" in line and f'pid="{touch.pid}"' in line and line.endswith(f" {target['promoted_bytes']}") for line in metrics.splitlines()),
          "and count what stats count")
hmkctl("set", "metrics_by_pid", "no")

hmkctl("why", "--pid", touch.pid, hex(hot))
why = ask("why", "--pid", touch.pid, hex(hot))["targets"][0]
moves = [d for d in why["decisions"] if d["action"] == "promote" and d["moved_bytes"] > 0]
lib.check(bool(why["region"] and why["intervals"] and moves), f"why knows the promotion: {moves[:1]}")
lib.check(moves[0]["start"] <= hot < moves[0]["start"] + moves[0]["length"], "of that place")
hmkctl("heatmap", "--record", RECORDING, "--rows", 16)
hmkctl("heatmap", "--record", RECORDING, "--svg", "/run/r.svg")
lib.check("<svg" in Path("/run/r.svg").read_text(encoding="utf-8"), "a picture of it is drawn")
bound = ask("plan", "bound", RECORDING)
moved = {row["placement"]: row["moved_bytes"] for row in bound["placements"]}.get("as recorded")
lib.check(moved is None or moved >= HOT_TO - HOT_FROM, f"the recording knows the moves: {moved}")
lib.check(bound["move_ns"] != 5000, f"and what they took: {bound['move_ns']} ns a page")
hmkctl("plan", "schedule", RECORDING, "-o", "/run/r.hmkplan")
loaded = ask("plan", "load", "/run/r.hmkplan", "--pid", touch.pid)["plans"][0]
lib.check(loaded["found_percent"] > 90, f"the plan of a recording fits the program: {loaded}")
hmkctl("plan", "status")
hmkctl("plan", "drop", "--pid", touch.pid)
rows = ask("heatmap", "--pid", touch.pid, "--intervals", 2, "--rows", 64)["rows"]
means = {row["start"]: sum(v or 0 for v in row["hotness_percent"]) for row in rows}
inside = [v for at, v in means.items() if hot <= at < hot + HOT_TO - HOT_FROM]
outside = [v for at, v in means.items() if start <= at < start + SIZE and not
           hot - 2 * MIB <= at < hot + HOT_TO - HOT_FROM]
lib.check(min(inside) > max(outside), f"the hot rows are the hot part: {min(inside)} above {max(outside)}")
found = [c for c in ask("doctor")["checks"] if c["state"] == "warn"]
lib.check(not found, f"doctor finds nothing to do: {found}")
hmkctl("doctor")

configure("mode: manage\nbuckets: 010\nintervall: 1s\n")
refusal = hmkctl("reload", status=1)
lib.check("did you mean 'interval'" in refusal and "'010'" in refusal, "reload names all that is wrong")
lib.check(ask("status")["daemon"]["mode"] == "track-only", "and changes nothing")
configure("mode: dry-run\n")
changed = {row["key"]: row["value"] for row in ask("reload")["changed"]}
lib.check(changed == {"mode": "dry-run"}, f"reload takes over what differs: {changed}")

hmkctl("set", "classes", "[{match: exe=*/hmk-touch, mode: track-only, overhead: 1%}]")
modes = {target["comm"]: (target["mode"], target["class"]) for target in ask("status")["targets"]}
lib.check(modes == {"hmk-touch": ("track-only", "exe=*/hmk-touch"), "sleep": ("dry-run", None)}, f"a class has a mode of its own: {modes}")
budget = {target["pid"]: target["budget_percent"] for target in ask("stats")["targets"]}[touch.pid]
lib.check(budget == 1, f"and a budget: {budget} %")
hmkctl("set", "classes", "none")
lib.check({target["mode"] for target in ask("status")["targets"]} == {"dry-run"}, "until there is no class any more")

hmkctl("pause")
lib.check({t["mode"] for t in quietly("status")} == {"paused"}, "pause stops all")
before = {t["pid"]: t["last_interval"]["seq"] for t in quietly("status")}
third = lib.Touch(1)
third.map(MIB >> 12)
lib.wait_for(lambda: third.pid in managed(), 30, "who appears meanwhile is managed")
after = {t["pid"]: t["last_interval"] for t in quietly("status")}
lib.check(after[third.pid] is None or after[third.pid]["seq"] is None, "and waits, too")
lib.check(all(after[pid]["seq"] - seq <= 1 for pid, seq in before.items()), "no interval passes")
hmkctl("resume")
lib.wait_for(lambda: all((t["last_interval"] or {"seq": None})["seq"] for t in quietly("status")), 30, "resume goes on")
hmkctl("detach", touch.pid)
fourth = lib.Touch(1)
fourth.map(MIB >> 12)
lib.wait_for(lambda: fourth.pid in managed(), 30, "the rules are looked at again")
lib.check(touch.pid not in managed(), "who was detached by hand is left alone")
hmkctl("attach", touch.pid)

cut = subprocess.Popen([HMKCTL, "--socket", CONTROL, "record", "/run/cut.hmkrec", "--pid", str(touch.pid)], stderr=subprocess.PIPE, text=True)
lib.wait_for(lambda: Path("/run/cut.hmkrec").exists() and Path("/run/cut.hmkrec").stat().st_size > 200, 60, "another recording has begun")
daemon.send_signal(signal.SIGTERM)
lib.check(daemon.wait(30) == 0, "hmkd ends well")
said = cut.communicate(timeout=30)[1]
lib.check(cut.returncode == 3 and said.count("\n") == 1 and "the connection has ended" in said, f"record says so in one line: {said!r}")
hmkctl("heatmap", "--record", "/run/cut.hmkrec", "--rows", 8)
log = LOG.read_text(encoding="utf-8")
print(log)
lib.check(not re.search(r" (warning|error) ", log), "its log warns of nothing")
for one in (touch, third, fourth):
    one.end()
lib.unload_module()
