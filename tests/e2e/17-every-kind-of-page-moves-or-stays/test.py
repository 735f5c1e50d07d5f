#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 400
# cmdline: secretmem.enable=1 nokaslr
"""Every kind of page is moved whole, left alone or refused as the table says, on the module's two paths
and through the library, which hands to move_pages(2) what the module does not take; what was written stays,
and the counters of the node, of the memory cgroup and of the process follow the pages."""
import json
import os
import re
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

PAGES, TARGET, SLACK = 512, "2", 192  # SLACK: what per-CPU counters may hold back, in pages
POOLS = 0, 2  # nodes with huge pages of their own
GROUP = Path("/sys/fs/cgroup/kinds")
OLD = os.uname().release.startswith("6.1.")
WRONG = []

MOVED = {TARGET: PAGES}
ABSENT, FAULT, SHARED, BUSY, REFUSED = ({str(-n): PAGES} for n in (2, 14, 13, 16, 95))
SOME = {TARGET: PAGES - 16, "-16": 16}  # 16 pages are held by somebody


def pages(count, status):
    """As many of one status."""
    return {str(status): count}


# What the own path, migrate_vma and the library answer. `again`: once nobody holds the pages any longer.
Kind = namedtuple("Kind", "name own vma library all_ again huge", defaults=(False, None, None))
KINDS = [
    Kind("anon", MOVED, MOVED, MOVED),
    Kind("read-only", MOVED, MOVED, MOVED),
    Kind("no access", MOVED, MOVED, MOVED),
    Kind("locked", MOVED, MOVED, MOVED),
    Kind("lazily freed", MOVED, MOVED, MOVED),
    Kind("huge", MOVED, REFUSED, MOVED, huge={"own": 2048, "vma": 2048, "library": 2048}),
    Kind("huge, by entries", MOVED, REFUSED, MOVED),
    Kind("zero page", FAULT, FAULT, FAULT),
    Kind("huge zero page", FAULT, FAULT, FAULT),
    Kind("hole", ABSENT, ABSENT, ABSENT, again=FAULT),  # the check has read it: the zero page
    Kind("userfaultfd", MOVED, MOVED, MOVED),
    Kind("soft-dirty", MOVED, MOVED, MOVED),
    Kind("forked", SHARED, SHARED, SHARED),
    Kind("forked", MOVED, MOVED, MOVED, all_=True),
    Kind("shared, with a child", SHARED, REFUSED, SHARED),
    Kind("shared, with a child", MOVED, REFUSED, MOVED, all_=True),
    Kind("shared", MOVED, REFUSED, MOVED),
    Kind("memfd, private", MOVED, REFUSED, MOVED),
    Kind("tmpfs", MOVED, REFUSED, MOVED),
    Kind("file, clean", REFUSED, REFUSED, MOVED),
    Kind("file, dirty", REFUSED, REFUSED, MOVED),
    Kind("file, copied on write", MOVED, MOVED, MOVED),
    Kind("secret", REFUSED, REFUSED, ABSENT if OLD else BUSY),
    Kind("hugetlb", pages(2 * PAGES, -95), pages(2 * PAGES, -95), pages(2 * PAGES, 2)),
    Kind("swapped out", ABSENT, ABSENT, ABSENT, again=MOVED),  # the check has read it back
    Kind("swap cache", MOVED, MOVED, MOVED),
    Kind("merged", SHARED, REFUSED, SHARED),
    Kind("merged", MOVED, REFUSED, MOVED, all_=True),  # one page for many entries; those apart wait for the next call
    Kind("held by a pipe", SOME, SOME, SOME, again=MOVED),
    Kind("pinned", SOME, SOME, SOME, again=MOVED),
    Kind("huge, pinned", BUSY, REFUSED, BUSY, again=MOVED),
    Kind("PFN map", pages(16, -95), pages(16, -95), pages(16, -14)),
    Kind("vDSO", pages(1, -95), pages(1, -95), pages(1, -13)),
    Kind("table of hmk", pages(1, -95), pages(1, -95), pages(1, -16)),
]


def prepare():
    """Swap, an ext4 to write to, huge pages, KSM, a cgroup."""
    lib.swap_on(64 << 20)
    lib.run("modprobe", "brd", "rd_nr=1", "rd_size=65536")
    lib.run("mkfs.ext4", "-q", "/dev/ram0")
    os.makedirs("/mnt/kinds", exist_ok=True)
    lib.run("mount", "-t", "ext4", "/dev/ram0", "/mnt/kinds")
    for node in POOLS:
        lib.huge_pool(node, 4)
    for name, value in (("pages_to_scan", "20000"), ("sleep_millisecs", "10"), ("run", "1")):
        Path("/sys/kernel/mm/ksm", name).write_text(value, encoding="ascii")
    Path("/sys/fs/cgroup/cgroup.subtree_control").write_text("+memory", encoding="ascii")
    GROUP.mkdir()


def put_away():
    """What prepare() took of the memory that is in nobody's books."""
    lib.run("umount", "/mnt/kinds")
    lib.run("rmmod", "brd")
    for node in POOLS:
        lib.huge_pool(node, 0)


def vmstat(path="/proc/vmstat"):
    """Counters after their per-CPU parts have been added; adding them up fails if one is negative."""
    Path("/proc/sys/vm/stat_refresh").write_text("1", encoding="ascii")
    return {name: int(value) for name, value in (line.split() for line in Path(path).read_text(encoding="ascii").splitlines())}


def on_target():
    """Pages of processes and files that the target node counts."""
    seen = vmstat(f"/sys/devices/system/node/node{TARGET}/vmstat")
    return seen["nr_anon_pages"] + seen["nr_file_pages"] - seen["nr_swapcached"]


def charged_on_target(name):
    """The same, of the cgroup. The kernel's own migration counts a page of the swap cache as a file page of the
    cgroup from then on, on both kernels, so those are left out there."""
    text = (GROUP / "memory.numa_stat").read_text(encoding="ascii")
    rows = {line.split()[0]: int(re.search(rf" N{TARGET}=(\d+)", line).group(1)) // 4096 for line in text.splitlines()}
    return rows["anon"] + (0 if name.startswith("swap") else rows["file"])


def charged():
    """Pages the cgroup pays for."""
    return int((GROUP / "memory.current").read_text(encoding="ascii")) // 4096


def expect(holds, what):
    """As lib.check(), but the table is gone through to its end."""
    print(f"{'ok' if holds else 'NOT OK'}: {what}", flush=True)
    WRONG.extend([] if holds else [what])


def settles(value, wanted, what):
    """A counter comes near `wanted` once the kernel has added up what its CPUs hold back."""
    end = time.monotonic() + 10
    while not near(value(), wanted) and time.monotonic() < end:
        time.sleep(0.05)
    expect(near(value(), wanted), f"{what}: {value()}")


def near(value, wanted):
    return abs(value - wanted) <= SLACK


def check_accounts(name, seen, before):
    """Node, cgroup and process count the pages where they are now. Huge pages of the pool are counted elsewhere,
    and merged pages are so few that they drown in the slack."""
    moved = seen["status"].get(TARGET, 0) if name not in ("hugetlb", "merged") else 0
    settles(lambda: on_target() - before[0], moved, f"{name}: node {TARGET} counts {moved} pages more")
    settles(lambda: charged_on_target(name) - before[1], moved, f"{name}: its cgroup counts {moved} pages there")
    expect(seen["rss"] == seen["rss_before"], f"{name}: resident {seen['rss_before']} kB, after {seen['rss']} kB")


def look(kind, how, want):
    """One kind on one path."""
    name = f"{kind.name}{', all' if kind.all_ else ''} [{how}]"
    before = on_target(), charged_on_target(kind.name)
    with subprocess.Popen([lib.helper("kinds"), kind.name, how, *(["all"] if kind.all_ else [])], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True,
                          preexec_fn=lambda: (GROUP / "cgroup.procs").write_text("0")) as program:
        line = program.stdout.readline()
        lib.check(line.startswith("{"), f"{name}: the kind can be made")
        seen = json.loads(line)
        print(name, line, end="", flush=True)
        expect(seen["status"] == want or kind.name == "merged" and want == MOVED and set(seen["status"]) <= {TARGET, "-16"},
               f"{name}: {seen['status']}, the table says {want}")
        check_accounts(kind.name, seen, before)
        if kind.huge:
            expect(seen["huge"] == kind.huge[how], f"{name}: {seen['huge']} kB in huge pages")
        rest = program.communicate("\n", timeout=60)[0]
    expect(program.returncode == 0, f"{name}: contents are kept {rest}")
    again = json.loads(rest)["again"]
    later = want if want == REFUSED else kind.again or want  # a kind that is not taken never is
    expect(again in (later, MOVED), f"{name}: once more {again}")
    settles(charged, 0, f"{name}: its cgroup pays for nothing any more")


books = lib.Books()
prepare()
lib.load_module()
first = vmstat()
for each in KINDS:
    for path, wanted in (("own", each.own), ("vma", each.vma), ("library", each.library)):
        look(each, path, wanted)
last = vmstat()
for counter in ("nr_isolated_anon", "nr_isolated_file", "nr_mlock", "nr_writeback"):
    lib.check(last[counter] == first[counter], f"{counter} is {first[counter]} again: {last[counter]}")
lib.unload_module()
put_away()
grown = books.balanced()
lib.check(grown["unaccounted"] - grown["vmalloc"] < 2048, f"no page is lost: {grown}")  # vmalloc: of modules
lib.check(not WRONG, f"the table holds, but for {len(WRONG)} of its promises: {WRONG}")
