# SPDX-License-Identifier: MIT
"""Whether every vCPU got its turns: one that did not has not done in its seconds what the others did in theirs. Pure."""
from typing import Any, Dict, List, Optional, Sequence

from lab.outcome import Mark

BEHIND = 1 / 8      # of the mean: four that take turns fairly have at least a quarter
JUDGED_FROM = 1.0   # busy seconds: less is told by ticks of the guest


def turns(samples: Sequence[Dict[str, Any]], marks: Sequence[Mark]) -> Optional[List[Optional[float]]]:
    """By vCPU, instructions in a second in which it had work, over the mean of all; None for one that had hardly any.

    None as a whole for runs that did not tell how long their vCPUs were idle.
    """
    first, last = samples[0], samples[-1]
    if "idle_seconds" not in first or len(samples) < 2:
        return None
    elapsed, done = last["seconds"] - first["seconds"], marks[-1].since(marks[0])
    busy = [elapsed - (after - before) for before, after in zip(first["idle_seconds"], last["idle_seconds"])]
    counted = [done.instructions([cpu]) for cpu in range(len(busy))]
    judged = [cpu for cpu, seconds in enumerate(busy) if seconds >= JUDGED_FROM]
    mean = sum(counted[cpu] for cpu in judged) / max(JUDGED_FROM, sum(busy[cpu] for cpu in judged))
    return [counted[cpu] / busy[cpu] / mean if cpu in judged and mean else None for cpu in range(len(busy))]


def behind(found: Optional[Sequence[Optional[float]]]) -> Optional[str]:
    """Why the run is worth nothing, or None."""
    slow = [f"vCPU {cpu} executed {ratio:.3f} of the mean in the seconds in which it had work"
            for cpu, ratio in enumerate(found or []) if ratio is not None and ratio < BEHIND]
    return f"{', '.join(slow)}, at least {BEHIND:g} is asked for: it fell behind, so the run is invalid" if slow else None
