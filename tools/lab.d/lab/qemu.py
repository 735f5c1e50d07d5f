# SPDX-License-Identifier: MIT
"""The QEMU command line for a machine: nodes, distances, HMAT, two 9p shares, the control port."""
from pathlib import Path
from typing import List, Optional, Sequence

from .errors import UsageError
from .machine import Machine

# A crash must end QEMU at once; the log must stay readable; migration by anyone but us is off. A vCPU that waits for the
# host looks stalled when it goes on: what hangs for a minute is no such.
CMDLINE = ("console=ttyS0 quiet panic=-1 oops=panic numa_balancing=disable mitigations=off "
           "nowatchdog random.trust_cpu=on rcupdate.rcu_cpu_stall_timeout=60")

# As Debian boots, but for what only costs time under TCG.
DISK_CMDLINE = ("root=/dev/vda rw console=ttyS0 quiet panic=-1 mitigations=off nowatchdog random.trust_cpu=on "
                "rcupdate.rcu_cpu_stall_timeout=60")

CLOCKS = ("host", "instructions")
INSTRUCTION_NS = (1, 2, 4, 8, 16, 32, 64)
MULTI_THREADED = ("-accel", "tcg,thread=multi")
CPU = "qemu64,+rdrand"  # without RDRAND, which CMDLINE trusts, a boot waits seconds for the first random number


def nr_spacers(cpus: int, clock: str) -> int:
    """How many vCPUs stand between those of the machine and are the guest's in no other way.

    On one thread a vCPU runs until a timer is due, the next one finds the time up, fires the timer and
    runs nothing (QEMU before 8.1): of two that are busy the second would starve. So the next one is a
    spacer, which gives its turn away when there is one. The kernel never starts it, agent.py does.
    """
    return cpus - 1 if clock == "instructions" else 0


def spacer_ids(cpus: int, spacers: int) -> List[int]:
    """Their APIC IDs, behind those of all others."""
    return list(range(cpus, cpus + spacers))


# Waiting for the host, be it for one of its seconds, takes minutes of a clock that jumps. All vCPUs read one
# counter as their TSC; without the word the kernel takes the HPET, whose every reading leaves the translated code.
# An idle vCPU halts: MWAIT would keep it in the round. What the spacers run lies where the kernel has nothing, and /dev/mem may
# write: beyond the first 64 KiB, which may be searched for what a BIOS has overwritten.
SPACER_PAGE = 0x50000
INSTRUCTIONS_CMDLINE = f"sysctl.kernel.hung_task_timeout_secs=0 tsc=reliable idle=halt iomem=relaxed memmap=4K${SPACER_PAGE:#x}"


def accelerator(clock: str, ns_per_instruction: int) -> List[str]:
    """What drives the guest and its clock: one thread per vCPU and the host's time, or one thread
    for all and a fixed time per executed instruction. Raises UsageError."""
    if clock not in CLOCKS:
        raise UsageError(f"clock '{clock}' is unknown; choose one of {', '.join(CLOCKS)}")
    if ns_per_instruction not in INSTRUCTION_NS:
        raise UsageError(f"{ns_per_instruction} ns per instruction cannot be had; "
                         f"choose one of {', '.join(map(str, INSTRUCTION_NS))}")
    if clock == "host":
        return list(MULTI_THREADED)
    # sleep=off: when all vCPUs idle, the clock jumps to the next timer instead of waiting for it.
    # clock=vm: the real-time clock's ticks end the vCPUs' turns (agent.py).
    return ["-accel", "tcg,thread=single", "-icount", f"shift={ns_per_instruction.bit_length() - 1},sleep=off",
            "-rtc", "base=utc,clock=vm"]


def command(program: Sequence[str], machine: Machine, image: Path, initrd: Path, share: Path, socket: Path,
            console: Path, extra_cmdline: str = "", plugin: Optional[str] = None,
            driven_by: Sequence[str] = MULTI_THREADED, spacers: int = 0, cpu: str = "") -> List[str]:
    """All arguments, the program first; `spacers` from nr_spacers(), `cpu` as -cpu takes it where there are none."""
    args = [*_bare(program, machine, driven_by, image, initrd, f"{CMDLINE} {extra_cmdline}".strip()),
            "-serial", f"file:{_comma(console)}",
            "-chardev", f"socket,id=control,path={_comma(socket)}", "-device", "virtio-serial-pci",
            "-device", "virtserialport,chardev=control,name=hmk.control",
            "-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap",
            "-virtfs", f"local,path={_comma(share)},mount_tag=share,security_model=none,multidevs=remap",
            *_nodes(machine, spacers, cpu)]
    return [*args, "-plugin", plugin] if plugin else args


def disk_command(program: Sequence[str], machine: Machine, image: Path, initrd: Path, disk: Path, port: str, socket: Path,
                 console: Path) -> List[str]:
    """All arguments for a system that boots from a disk of its own, with the kernel and initrd that lie on it: no share with
    the host and no network. What is written to /dev/virtio-ports/PORT in there comes out at `socket`, which listens."""
    return [*_bare(program, machine, MULTI_THREADED, image, initrd, DISK_CMDLINE), "-serial", f"file:{_comma(console)}",
            "-drive", f"file={_comma(disk)},if=virtio,format=raw,cache=unsafe",
            "-chardev", f"socket,id=port,path={_comma(socket)}", "-device", "virtio-serial-pci",
            "-device", f"virtserialport,chardev=port,name={port}", *_nodes(machine, 0)]


def _bare(program: Sequence[str], machine: Machine, driven_by: Sequence[str], image: Path, initrd: Path, cmdline: str) -> List[str]:
    # However the caller ends, no guest outlives it.
    return ["setpriv", "--pdeathsig", "KILL", *program, *driven_by, "-nodefaults", "-display", "none",
            "-no-reboot", "-machine", "q35,hmat=on", "-m", f"{machine.memory}B",
            "-kernel", str(image), "-initrd", str(initrd), "-append", cmdline]


def _comma(path: Path) -> str:
    """QEMU doubles a comma inside a value."""
    return str(path).replace(",", ",,")


def _nodes(machine: Machine, spacers: int, cpu: str = "") -> List[str]:
    with_cpus = [node for node in machine.nodes if node.cpus]
    args = _turns(machine.cpus) if spacers else ["-cpu", cpu or CPU, "-smp", _topology(machine)]
    for node in machine.nodes:
        args += ["-object", f"memory-backend-ram,id=ram{node.id},size={node.memory}B"]
        more = range(machine.cpus, machine.cpus + spacers) if node == with_cpus[0] else ()
        cpus = "".join(f",cpus={cpu}" for cpu in (*node.cpus, *more))
        args += ["-numa", f"node,nodeid={node.id},memdev=ram{node.id}{cpus},initiator={node.initiator}"]
    for a in machine.nodes:
        for b in machine.nodes:
            args += ["-numa", f"dist,src={a.id},dst={b.id},val={machine.distances[a.id][b.id]}"]
    for reader in with_cpus:
        for node in machine.nodes:
            common = f"hmat-lb,initiator={reader.id},target={node.id},hierarchy=memory"
            access = node.access[reader.id]
            args += ["-numa", f"{common},data-type=access-latency,latency={access.latency_ns}"]
            args += ["-numa", f"{common},data-type=access-bandwidth,bandwidth={access.bandwidth_mbps}M"]
    return args


def _turns(cpus: int) -> List[str]:
    """vCPUs in the order in which they take their turns: a spacer, numbered behind all others, between each two."""
    model, most = "qemu64-x86_64-cpu", 2 * cpus - 1
    # A vCPU that Linux took offline waits with MWAIT if an Intel one has it, and QEMU's MWAIT gives the turn away.
    args = ["-cpu", f"{CPU},vendor=GenuineIntel,+monitor", "-smp", f"1,maxcpus={most},sockets={most},cores=1,threads=1"]
    for pair in zip(spacer_ids(cpus, cpus - 1), range(1, cpus)):
        for socket in pair:
            args += ["-device", f"{model},socket-id={socket},core-id=0,thread-id=0"]
    return args


def _topology(machine: Machine) -> str:
    """One socket per node with CPUs where that comes out even, else per CPU: no socket spans two nodes."""
    sizes = {len(node.cpus) for node in machine.nodes if node.cpus}
    sockets = sum(1 for node in machine.nodes if node.cpus) if len(sizes) == 1 else machine.cpus
    return f"{machine.cpus},sockets={sockets},cores={machine.cpus // sockets},threads=1"
