#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# One kernel in a plain run, for its time; the other by --kernel 6.1.
# suite: 6.12
# timeout: 400
"""hmkd as it is installed, under a real systemd (in namespaces of its own): found by its unit,
redis-server is managed; a broken file is refused by reload and a good one taken over; a stopped hmkd is
killed by the watchdog and comes back; hmkd@PID manages one process; the group reads, admins change, root is
never kept out; no process forges a line by its name; and the journal holds nothing that anybody must look at."""
import grp
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

LOAD = lib.build("tools/load/hmk-load-kv")
REDIS, STATE, CONFIG = "/run/redis.sock", "/run/load.state", Path("/etc/hmk/hmkd.yaml")
INSTALLED, UNITS = Path("/usr/local/lib/systemd/system"), Path("/run/units")
# All that this systemd knows: the rest of a boot is not what is tested.
NEEDED = ("systemd-journald.service", "systemd-journald.socket", "systemd-journald-dev-log.socket", "sysinit.target",
          "basic.target", "shutdown.target")
OURS = {
    "hmk-lab.target": "[Unit]\nRequires=systemd-journald.service\nAfter=systemd-journald.service\n",
    "redis.service": f"[Service]\nExecStart=redis-server --port 0 --unixsocket {REDIS} --save '' --dir /run\n",
    "hmkd.service.d/quick.conf": "[Service]\nWatchdogSec=8s\nRestartSec=100ms\n",
}
# A container as systemd understands it: its own PIDs, mounts and control groups.
BOX = """
echo "+memory +pids" > /sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/box && echo $$ > /sys/fs/cgroup/box/cgroup.procs
exec unshare --pid --fork --kill-child --mount --cgroup --mount-proc sh -c '
umount /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup
exec env container=hmk-lab SYSTEMD_UNIT_PATH=/run/units SYSTEMD_GENERATOR_PATH=/run/none \\
    /lib/systemd/systemd --system --unit=hmk-lab.target'
"""


def start_systemd() -> int:
    """Its PID out here; it is PID 1 in there."""
    # Without 10-module.conf: no udev runs here, so there is no dev-hmk.device to be bound to.
    for unit in [Path("/lib/systemd/system") / name for name in NEEDED] + list(INSTALLED.glob("hmkd*.service")):
        shutil.copy(unit, UNITS)
    for name, text in OURS.items():
        (UNITS / name).parent.mkdir(exist_ok=True)
        (UNITS / name).write_text(text, encoding="ascii")
    box = subprocess.Popen(["sh", "-c", BOX], stdout=open(lib.RESULTS / "systemd.log", "wb"), stderr=subprocess.STDOUT)
    return int(lib.wait_for(lambda: lib.run("pgrep", "-P", box.pid, "-x", "systemd", check_status=False).stdout, 30,
                            "systemd starts"))


init = 0


def inside(*argv: object, check_status: bool = True) -> subprocess.CompletedProcess:
    return lib.run("nsenter", "-t", init, "-p", "-m", "-C", *argv, check_status=check_status)


def is_up() -> bool:
    return inside("systemctl", "is-active", "hmk-lab.target", check_status=False).returncode == 0


def show(unit: str, what: str) -> str:
    return inside("systemctl", "show", "--value", "-p", what, unit).stdout.strip()


def status(*socket: str) -> dict:
    done = inside("hmkctl", *socket, "--json", "status", check_status=False)
    return json.loads(done.stdout) if done.returncode == 0 else {"targets": [], "daemon": {"mode": ""}}


READER, ADMIN = "hmk", "hmk,hmk-admin"
SOMEBODY, FORGED = 1234, "\\x0a<0>forged\\x1b[2J"  # as it is shown


def somebody(groups: str, *words: str) -> subprocess.CompletedProcess:
    """What hmkctl tells a user who is in these groups."""
    member = f"--groups={groups}" if groups else "--clear-groups"
    return inside("setpriv", f"--reuid={SOMEBODY}", f"--regid={SOMEBODY}", member, "hmkctl", *words, check_status=False)


def rights() -> None:
    """The group reads, admins change, others stay outside; addresses are their owner's."""
    pid = status()["targets"][0]["pid"]
    for words in (["status"], ["stats"], ["tiers"], ["version"], ["regions"], ["top", "--once"]):
        lib.check(somebody(READER, *words).returncode == 0, f"a reader may ask for {words[0]}")
    lib.check(json.loads(somebody(READER, "--json", "regions").stdout)["targets"] == [], "and sees no addresses of others")
    refused = somebody(READER, "regions", "--pid", str(pid))
    lib.check((refused.returncode, refused.stdout) == (1, f"hmkctl: the addresses of PID {pid} are shown to its owner and to "
                                                       "those who may change hmkd; run it as root or as a member of the "
                                                       "group hmk-admin\n"), f"told so: {refused.stdout}")
    for words in (["set", "interval", "300ms"], ["attach", "1"], ["detach", str(pid)], ["reload"], ["pause"], ["resume"]):
        refused = somebody(READER, *words)
        lib.check((refused.returncode, refused.stdout) == (1, f"hmkctl: '{words[0]}' changes hmkd and this user may only read; "
                                                           "run it as root or as a member of the group hmk-admin\n"),
                  f"a reader may not {words[0]}: {refused.stdout}")
    lib.check(len(status()["targets"]) == 1, "nothing has changed")
    done = somebody(ADMIN, "set", "interval", "250ms")
    lib.check(done.returncode == 0 and status()["daemon"]["interval_ns"] == 250_000_000, f"an admin changes: {done.stdout}")
    lib.check(somebody(ADMIN, "regions", "--pid", str(pid)).returncode == 0, "and sees addresses")
    for groups in ("", "hmk-admin"):
        refused = somebody(groups, "status")
        lib.check(refused.returncode == 3 and "member of the group hmk" in refused.stdout, f"'{groups}' stays outside")


def crowd() -> None:
    """64 of the group are connected: there is no room for another, and still for root."""
    links = [socket.socket(socket.AF_UNIX) for _ in range(64)]
    os.setegid(grp.getgrnam("hmk").gr_gid)
    os.seteuid(SOMEBODY)
    for link in links:
        link.connect("/run/hmk/control.sock")
    os.seteuid(0)
    os.setegid(0)
    lib.wait_for(lambda: "too many clients" in somebody(READER, "status").stdout, 20, "no room for another of the group")
    lib.check(len(status()["targets"]) == 1, "root is served")
    for link in links:
        link.close()
    lib.wait_for(lambda: somebody(READER, "status").returncode == 0, 20, "when they have left, the group is served again")


def forged_name() -> None:
    """A process whose name is a line of the journal and clears the screen."""
    forger = subprocess.Popen(["nsenter", "-t", str(init), "-p", "-m", "-C", "sh", "-c",
                               r"printf '\n<0>forged\033[2J' > /proc/self/comm; : forger; while :; do sleep 1; done"])
    pid = lib.wait_for(lambda: inside("pgrep", "-f", "^sh -c .*: forger", check_status=False).stdout.split(), 20, "it runs")[0]
    lib.wait_for(lambda: inside("cat", f"/proc/{pid}/comm").stdout == "\n<0>forged\x1b[2J\n", 20, "under its name")
    told = "".join(inside("hmkctl", *words).stdout for words in (["attach", pid], ["status"], ["top", "--once"], ["stats"],
                                                                 ["detach", pid]))
    lib.check(FORGED in told and "\x1b" not in told and "\n<0>" not in told, f"hmkctl shows it in letters:\n{told}")
    inside("kill", pid)
    forger.wait(20)
    journal = inside("journalctl", "-b", "-o", "json", "-u", "hmkd").stdout.splitlines()
    entries = [json.loads(line) for line in journal]
    lib.check(any(str(entry["MESSAGE"]).startswith(f"attached pid={pid} comm={FORGED} ") for entry in entries), "so does the journal")
    lib.check(not [entry for entry in entries if entry.get("PRIORITY") == "0" or str(entry["MESSAGE"]).startswith("forged")],
              "and has no line of its making")


def promoted() -> int:
    return sum(t["promoted_bytes"] for t in json.loads(inside("hmkctl", "--json", "stats").stdout)["targets"])


def configure(text: str) -> None:
    CONFIG.parent.mkdir(exist_ok=True)
    CONFIG.write_text(lib.MOVE_COST + "attach: [unit=redis.service]\nattach_poll: 500ms\ninterval: 200ms\noverhead: 20%\nreserve: 8MiB\n" + text,
                      encoding="ascii")


lib.run("cmake", "--install", os.environ["HMK_BUILD"])
lib.run("systemd-sysusers")
lib.load_module()
lib.run("chgrp", "hmk", "/dev/hmk")  # what the udev rule does, where there is udev
os.chmod("/dev/hmk", 0o660)
UNITS.mkdir()
configure("mode: track-only\n")

init = start_systemd()
lib.wait_for(is_up, 120, "systemd is up")
inside("systemctl", "start", "redis")
lib.wait_for(lambda: os.path.exists(REDIS), 30, "redis-server is up")
lib.run(LOAD, "fill", "--socket", REDIS, "--state", STATE, "--keys", 15000, "--value-size", "2048B")
load = subprocess.Popen([LOAD, "run", "--socket", REDIS, "--state", STATE, "--read-share", "70%", "--rate", "2000"], stdout=subprocess.DEVNULL)

inside("systemctl", "start", "hmkd")
lib.check(show("hmkd", "ActiveState") == "active", "hmkd.service is active")
lib.check([t["rule"] for t in status()["targets"]] == ["unit=redis.service"], "redis-server is found by its unit")
owner = inside("ps", "-o", "user=,comm=", "-p", show("hmkd", "MainPID")).stdout.split()
lib.check(owner == ["hmk", "hmkd"], f"hmkd is no root: {owner}")
filters = inside("grep", "Seccomp:", f"/proc/{show('hmkd', 'MainPID')}/status").stdout.split()
lib.check(filters == ["Seccomp:", "2"], f"the unit's filter of system calls is in force: {filters}")
doctor = inside("hmkctl", "doctor", check_status=False)
lib.check(doctor.returncode == 0, f"doctor finds nothing to do:\n{doctor.stdout}")

rights()
crowd()
forged_name()

configure("mode: manage\nbuckets: 010\n")
lib.check(inside("systemctl", "reload", "hmkd", check_status=False).returncode != 0, "a broken file is not reloaded")
lib.check(status()["daemon"]["mode"] == "track-only", "and nothing has changed")
configure("mode: manage\ntiers: [2, 1, 0]\n")
inside("systemctl", "reload", "hmkd")
lib.check(status()["daemon"]["mode"] == "manage", "a good one is taken over")
lib.wait_for(lambda: promoted() > 0, 60, "pages move")

before = show("hmkd", "MainPID")
inside("kill", "-STOP", before)
lib.wait_for(lambda: show("hmkd", "NRestarts") == "1" and show("hmkd", "ActiveState") == "active", 60,
             "the watchdog brings a stuck hmkd back")
lib.wait_for(lambda: status()["targets"], 30, "which manages redis-server again")
lib.check(show("hmkd", "MainPID") != before, "as another process")
lib.check(load.poll() is None, "the load has noticed nothing")

inside("systemctl", "stop", "hmkd")
redis = show("redis", "MainPID")
inside("systemctl", "start", f"hmkd@{redis}")
one = status("--socket", f"/run/hmk-{redis}/control.sock")
lib.check([t["pid"] for t in one["targets"]] == [int(redis)], "hmkd@PID manages that process")

load.send_signal(signal.SIGTERM)
lib.check(load.wait(60) == 0, "every reply during the run was right")
lib.values_are_right(LOAD, REDIS, STATE)
inside("systemctl", "stop", "redis")
lib.wait_for(lambda: show(f"hmkd@{redis}", "ActiveState") == "inactive", 30, "hmkd@PID ends with its process")
lib.check(show(f"hmkd@{redis}", "Result") == "success", "and well")
journal = inside("journalctl", "-b", "-o", "cat", "-p", "warning", "-u", "hmkd", "-u", f"hmkd@{redis}").stdout
told = ("atchdog", "buckets: '010'", "nothing has changed", "Reload failed", "code=exited", "code=dumped", "code=killed",
        "-- No entries --")
lines = [line for line in journal.splitlines() if line and not any(word in line for word in told)]
lib.check(not lines, f"the journal warns of the watchdog and the broken file only: {lines}")
lib.check("atchdog" in journal, "and of these it does")
os.kill(init, signal.SIGKILL)
