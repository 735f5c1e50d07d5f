# SPDX-License-Identifier: MIT
"""The QEMU command line for a machine: nodes, distances, HMAT, two 9p shares, the control port."""
from pathlib import Path
from typing import List, Optional

from .machine import Machine

# A crash must end QEMU at once; the log must stay readable; migration by anyone but us is off.
CMDLINE = ("console=ttyS0 quiet panic=-1 oops=panic numa_balancing=disable mitigations=off "
           "nowatchdog random.trust_cpu=on")


def command(machine: Machine, image: Path, initrd: Path, share: Path, socket: Path, console: Path,
            extra_cmdline: str = "", plugin: Optional[str] = None) -> List[str]:
    """All arguments, the program first."""
    # However the caller ends, no guest outlives it.
    args = ["setpriv", "--pdeathsig", "KILL", "qemu-system-x86_64", "-accel", "tcg,thread=multi", "-nodefaults", "-display", "none", "-no-reboot",
            "-machine", "q35,hmat=on", "-m", f"{machine.memory}B",
            "-kernel", str(image), "-initrd", str(initrd), "-append", f"{CMDLINE} {extra_cmdline}".strip(),
            "-serial", f"file:{_comma(console)}",
            "-chardev", f"socket,id=control,path={_comma(socket)}", "-device", "virtio-serial-pci",
            "-device", "virtserialport,chardev=control,name=hmk.control",
            "-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap",
            "-virtfs", f"local,path={_comma(share)},mount_tag=share,security_model=none,multidevs=remap",
            *_nodes(machine)]
    return [*args, "-plugin", plugin] if plugin else args


def _comma(path: Path) -> str:
    """QEMU doubles a comma inside a value."""
    return str(path).replace(",", ",,")


def _nodes(machine: Machine) -> List[str]:
    with_cpus = [node for node in machine.nodes if node.cpus]
    args = ["-smp", _topology(machine)]
    for node in machine.nodes:
        args += ["-object", f"memory-backend-ram,id=ram{node.id},size={node.memory}B"]
        cpus = "".join(f",cpus={cpu}" for cpu in node.cpus)
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


def _topology(machine: Machine) -> str:
    """One socket per node with CPUs where that comes out even."""
    sizes = {len(node.cpus) for node in machine.nodes if node.cpus}
    sockets = sum(1 for node in machine.nodes if node.cpus) if len(sizes) == 1 else 1
    return f"{machine.cpus},sockets={sockets},cores={machine.cpus // sockets},threads=1"
