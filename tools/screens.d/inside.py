# SPDX-License-Identifier: MIT
"""Inside the guest: a redis-server whose memory begins in a slow tier, hmkd, and hmkctl in tmux."""
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "demo.d")]
from actors import LOGS, REDIS_SOCKET, STATE, Load, Redis, wait_for  # noqa: E402
from guest.hmkd import CONTROL, Daemon  # noqa: E402
from guest.play import run, tell  # noqa: E402

TMUX = ["tmux", "-u", "-L", "screens"]
COLUMNS, LINES = 148, 38
SLOW = 2        # where redis-server begins
INTERVALS = 8   # managed before the pictures are taken


def tmux(*words: str) -> str:
    return subprocess.run([*TMUX, *words], check=True, stdout=subprocess.PIPE, text=True, timeout=300).stdout


def capture(name: str, command: str, shows: str = "") -> None:
    """The terminal once `command` has ended, with the line that was typed; or once it shows a text."""
    script = command if shows else f"echo '$ {command}'; {command}; {' '.join(TMUX)} wait-for -S {name}; sleep 600"
    tmux("new-session", "-d", "-x", str(COLUMNS), "-y", str(LINES), "-s", name, "sh", "-c", script)
    if shows:
        wait_for(lambda: shows in tmux("capture-pane", "-p", "-t", name), 60, f"{name} shows '{shows}'")
    else:
        tmux("wait-for", name)
    (LOGS / f"{name}.ansi").write_text(tmux("capture-pane", "-e", "-N", "-p", "-t", name), encoding="utf-8")
    tmux("kill-session", "-t", name)
    tell("captured", name=name)


def promoted_address(daemon: Daemon) -> int:
    """A hot place that has moved."""
    def find() -> int:
        for region in daemon.ask("regions", limit=50)["regions"]:
            start = region["start"]
            if any(decision["moved_bytes"] for decision in daemon.ask("why", start=start, end=start + 1)["decisions"]):
                return start
        return 0
    return wait_for(find, 120, "a hot region has moved")


def play(settings: Dict[str, Any]) -> None:
    build = Path(settings["build"])
    load_program = build / "tools/load/hmk-load-kv"
    Path("/usr/local/bin/hmkctl").symlink_to(build / "tools/hmkctl/hmkctl")
    Path("/run/hmk").mkdir()
    Path("/run/hmk/control.sock").symlink_to(CONTROL)  # where hmkctl looks
    subprocess.run(["insmod", settings["module"]], check=True)
    redis = Redis(["numactl", f"--preferred={SLOW}"])
    subprocess.run([load_program, "fill", "--socket", REDIS_SOCKET, "--state", STATE, "--keys", "40000", "--value-size", "2040B"],
                   check=True, stdout=subprocess.DEVNULL)
    load = Load(str(load_program), ["--read-share", "95%", "--in-place", "--keys-by", "latest"])
    daemon = Daemon(build, [redis.pid], {"mode": "manage", "interval": "500ms", "overhead": "5%", "reserve": "16MiB",
                                         "promote_limit": "4MiB"})
    daemon.wait_interval(INTERVALS, 300)
    capture("top", "hmkctl top", shows="q: leave")
    capture("why", f"hmkctl why {promoted_address(daemon):#x}")
    capture("doctor", "hmkctl doctor")
    capture("heatmap", "hmkctl heatmap --intervals 40 --rows 24")
    load.check_alive()
    daemon.stop()
    load.stop()
    redis.stop()


run(play)
