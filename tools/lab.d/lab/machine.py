# SPDX-License-Identifier: MIT
"""The machine a guest gets: memory nodes, CPUs and what they cost, read from a file and checked.

Prices that a file need not give have defaults; `assumed` names those that were taken.
"""
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Tuple, Union

from . import document
from .document import Item
from .loaded import DEFAULT_CURVE, Curve, curve
from .quantity import BANDWIDTH, LATENCY, SIZE

MEBI = 1 << 20
MOST_NODES = 16
ACCESS, ACCESS_OPTIONAL = ("latency", "bandwidth"), ("write-latency",)


@dataclass(frozen=True)
class Access:
    """What a read costs: from the CPUs of one node, to the memory of another; and how long a write takes to be there."""

    latency_ns: int
    bandwidth_mbps: int
    write_latency_ns: int


@dataclass(frozen=True)
class Node:
    """One NUMA node. `access` is keyed by the id of the node whose CPUs read."""

    id: int
    name: str
    memory: int
    cpus: Tuple[int, ...]
    initiator: int
    access: Dict[int, Access]
    curve: Curve = DEFAULT_CURVE  # how its latency grows as its bandwidth fills


@dataclass(frozen=True)
class Core:
    """Each CPU: misses that are under way at a time where no stream is read, and entries of its second-level TLB."""

    mlp: int = 2
    tlb_entries: int = 1536


@dataclass(frozen=True)
class Machine:
    """A checked description; nodes are ordered by id, which runs 0, 1, 2, ...

    `assumed` says what the file does not give, and what was taken for it.
    """

    name: str
    nodes: Tuple[Node, ...]
    distances: Tuple[Tuple[int, ...], ...]
    core: Core = Core()
    assumed: Tuple[str, ...] = ()

    @property
    def cpus(self) -> int:
        return sum(len(node.cpus) for node in self.nodes)

    @property
    def memory(self) -> int:
        return sum(node.memory for node in self.nodes)

    def tiers(self, initiator: int = 0) -> List[int]:
        """Node ids, fastest first, as seen from the CPUs of node `initiator`."""
        return sorted((node.id for node in self.nodes),
                      key=lambda i: (self.nodes[i].access[initiator].latency_ns,
                                     -self.nodes[i].access[initiator].bandwidth_mbps, i))


def load_machine(file: Union[str, Path], host_memory: Optional[int] = None) -> Machine:
    """Read and check a machine file. Raises UsageError with one line: file, place, remedy.

    `host_memory` is what the host can give, in bytes; default: what it has available now.
    """
    root = document.load(Path(file))
    top = root.mapping(required=["name", "nodes"], optional=["distances", "mlp", "tlb"])
    items = top["nodes"].list()
    if not 1 <= len(items) <= MOST_NODES:
        top["nodes"].fail(f"has {len(items)} nodes; give 1 to {MOST_NODES}")
    fields = [item.mapping(["id", "memory", "access"], ["name", "cpus", "initiator", "load"]) for item in items]
    _check_ids(fields)
    owners = _cpu_owners(top["nodes"], fields)
    nodes = [_node(item, field, owners) for item, field in zip(items, fields)]
    nodes.sort(key=lambda node: node.id)
    _check_bandwidths(top["nodes"], nodes)
    _check_memory(top["nodes"], nodes, host_memory if host_memory is not None else available_memory())
    derived = _derived_distances(nodes)
    distances = _given_distances(top["distances"], len(nodes)) if "distances" in top else derived
    return Machine(top["name"].text(), tuple(nodes), distances, _core(top), _assumed(top, fields))


def _core(top: Dict[str, Item]) -> Core:
    mlp = top["mlp"].between(1, 64) if "mlp" in top else Core.mlp
    return Core(mlp, top["tlb"].between(12, 1 << 20) if "tlb" in top else Core.tlb_entries)


def _assumed(top: Dict[str, Item], fields: Sequence[Dict[str, Item]]) -> Tuple[str, ...]:
    pairs = [value.mapping(ACCESS, ACCESS_OPTIONAL) for field in fields for _, value in field["access"].pairs()]
    told = {f"mlp {Core.mlp}": "mlp" in top, f"tlb {Core.tlb_entries}": "tlb" in top,
            "write-latency as latency": all("write-latency" in pair for pair in pairs),
            f"load {DEFAULT_CURVE}": all("load" in field for field in fields)}
    return tuple(what for what, given in told.items() if not given)


def _check_ids(fields: Sequence[Dict[str, Item]]) -> None:
    seen: Dict[int, Item] = {}
    for field in fields:
        number = field["id"].integer()
        if number in seen:
            line = seen[number].node.start_mark.line + 1
            field["id"].fail(f"node {number} overlaps the node of line {line}; give each node its own id")
        seen[number] = field["id"]
    for number, item in sorted(seen.items()):
        if number >= len(fields):
            item.fail(f"ids must run from 0 to {len(fields) - 1} without a gap; renumber node {number}")


def _cpu_owners(place: Item, fields: Sequence[Dict[str, Item]]) -> Dict[int, int]:
    """CPU number -> node id; a CPU in two nodes is refused."""
    owners: Dict[int, int] = {}
    for field in fields:
        for item in field["cpus"].list() if "cpus" in field else []:
            cpu = item.integer()
            if cpu in owners:
                item.fail(f"CPU {cpu} is already in node {owners[cpu]}; a CPU belongs to one node")
            owners[cpu] = field["id"].integer()
    if sorted(owners) != list(range(len(owners))) or not owners:
        place.fail(f"CPUs must run from 0 without a gap, found {sorted(owners) or 'none'}; list them under cpus:")
    return owners


def _node(item: Item, field: Dict[str, Item], owners: Dict[int, int]) -> Node:
    number = field["id"].integer()
    cpus = tuple(sorted(cpu for cpu, node in owners.items() if node == number))
    memory = field["memory"].quantity(SIZE)
    if memory < 128 * MEBI or memory % (2 * MEBI):
        field["memory"].fail(f"'{field['memory'].text()}' must be at least 128MiB and a multiple of 2MiB")
    access = _access(field["access"], set(owners.values()))
    if cpus and "initiator" in field and field["initiator"].integer() != number:
        field["initiator"].fail(f"node {number} has CPUs of its own; remove the initiator")
    if not cpus and "initiator" not in field:
        item.fail(f"node {number} has no CPUs; name the node with the nearest ones as initiator:")
    initiator = number if cpus else field["initiator"].integer()
    if initiator not in owners.values():
        field["initiator"].fail(f"node {initiator} has no CPUs; name one of {sorted(set(owners.values()))}")
    name = field["name"].text() if "name" in field else f"node {number}"
    return Node(number, name, memory, cpus, initiator, access,
                curve(field["load"]) if "load" in field else DEFAULT_CURVE)


def _access(item: Item, with_cpus: set) -> Dict[int, Access]:
    access: Dict[int, Access] = {}
    for key, value in item.pairs():
        source = key.integer()
        if source not in with_cpus:
            key.fail(f"node {source} has no CPUs to read from; name one of {sorted(with_cpus)}")
        pair = value.mapping(ACCESS, ACCESS_OPTIONAL)
        latency, bandwidth = _latency(pair["latency"]), pair["bandwidth"].quantity(BANDWIDTH)
        if bandwidth < 1:
            pair["bandwidth"].fail("must be at least 1MB/s")
        write_latency = _latency(pair["write-latency"]) if "write-latency" in pair else latency
        access[source] = Access(latency, bandwidth, write_latency)
    for source in sorted(with_cpus - set(access)):
        item.fail(f"latency and bandwidth from node {source} are missing; "
                  f"add a line like {source}: {{latency: 90ns, bandwidth: 95GB/s}}")
    return access


def _latency(item: Item) -> int:
    latency = item.quantity(LATENCY)
    if not 1 <= latency <= 65534:
        item.fail(f"'{item.text()}' must lie between 1ns and 65534ns")
    return latency


def _check_bandwidths(place: Item, nodes: Sequence[Node]) -> None:
    """ACPI's HMAT stores 16-bit multiples of one common power of two."""
    values = [access.bandwidth_mbps for node in nodes for access in node.access.values()]
    base = min(value & -value for value in values)
    if max(values) // base > 65534:
        place.fail(f"bandwidths from {min(values)} to {max(values)}MB/s cannot be told in one ACPI table; "
                   "round the large ones to multiples of 1GB/s")


def _check_memory(place: Item, nodes: Sequence[Node], available: int) -> None:
    total = sum(node.memory for node in nodes)
    if total > available:
        place.fail(f"the nodes ask for {total // MEBI}MiB, this host has {available // MEBI}MiB available; "
                   "make them smaller or free memory")


def available_memory() -> int:
    """Bytes the host can give now."""
    with open("/proc/meminfo", encoding="ascii") as lines:
        for line in lines:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return 1 << 62


def _derived_distances(nodes: Sequence[Node]) -> Tuple[Tuple[int, ...], ...]:
    """10 for a node itself, else ten times the latency relative to the reader's own memory.

    A node without CPUs reads from its initiator's; the larger of both directions is used for both.
    """
    def one_way(source: Node, target: Node) -> int:
        reader = nodes[source.initiator]
        own = reader.access[reader.id].latency_ns
        return min(254, max(11, round(10 * target.access[reader.id].latency_ns / own)))

    def both(a: Node, b: Node) -> int:
        if a.id == b.id:
            return 10
        ways = [one_way(s, t) for s, t in ((a, b), (b, a)) if s.cpus] or [one_way(a, b), one_way(b, a)]
        return max(ways)

    return tuple(tuple(both(a, b) for b in nodes) for a in nodes)


def _given_distances(item: Item, size: int) -> Tuple[Tuple[int, ...], ...]:
    rows = item.list()
    if len(rows) != size or any(len(row.list()) != size for row in rows):
        item.fail(f"must be {size} rows of {size} numbers, one per node")
    matrix = [[cell.integer() for cell in row.list()] for row in rows]
    for i, row in enumerate(rows):
        for j, cell in enumerate(row.list()):
            if i == j and matrix[i][j] != 10:
                cell.fail("the distance of a node to itself is 10")
            if i != j and not 11 <= matrix[i][j] <= 254:
                cell.fail(f"{matrix[i][j]} must lie between 11 and 254")
            if matrix[i][j] != matrix[j][i]:
                cell.fail(f"differs from its mirror image {matrix[j][i]}; distances are symmetric")
    return tuple(tuple(row) for row in matrix)
