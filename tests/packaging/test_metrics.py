# SPDX-License-Identifier: MIT
"""Dashboard and alert rules ask for metrics that hmkd has, by labels that it gives them."""
import json
import re
import unittest
from pathlib import Path
from typing import Iterator, List, Set, Tuple

import yaml

ROOT = Path(__file__).resolve().parents[2]
SOURCE = (ROOT / "daemon/metrics/exposition.cpp").read_text(encoding="utf-8")
LABELS = {"class", "rule", "pid", "comm", "tier", "nodes", "reason", "from_tier", "to_tier", "backend", "mode", "instance"}
METRIC = re.compile(r"\b(hmk_\w+)(\{[^}]*\})?")


def families() -> Set[str]:
    """As samples name them."""
    found = re.findall(r'"(hmk_[a-z_]+)",\s*"(counter|gauge|histogram)"', SOURCE)
    found += [(name, "counter") for name in re.findall(r'(?<!text, )"(hmk_[a-z_]+)",\s*"[A-Z]', SOURCE)]  # a name and its help
    found += [(name, "gauge") for name in re.findall(r'info\(text, "(hmk_[a-z_]+)"', SOURCE)]
    return {name + ("_total" if kind == "counter" else "") for name, kind in found}


def dashboard() -> Iterator[Tuple[str, str]]:
    page = json.loads((ROOT / "packaging/grafana/hm-keeper.json").read_text(encoding="utf-8"))
    for panel in page["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]
    for variable in page["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["name"], variable["query"]["query"]


def alerts() -> List[dict]:
    page = yaml.safe_load((ROOT / "packaging/prometheus/hm-keeper.rules.yml").read_text(encoding="utf-8"))
    return [rule for group in page["groups"] for rule in group["rules"]]


class Metrics(unittest.TestCase):
    def test_each_expression_names_metrics_and_labels_that_exist(self) -> None:
        known = families()
        self.assertLess({"hmk_promoted_bytes_total", "hmk_saved_seconds", "hmk_hot_share_ratio", "hmk_refused_bytes_total",
                         "hmk_build_info", "hmk_processes", "hmk_thrash_bytes_total", "hmk_wait_seconds"}, known)
        for where, expression in [*dashboard(), *((rule["alert"], rule["expr"]) for rule in alerts())]:
            named = METRIC.findall(expression)
            self.assertTrue(named, f"{where}: {expression}")
            for name, selector in named:
                self.assertIn(name, known, where)
                self.assertLessEqual(set(re.findall(r"(\w+)(?:=|!)", selector)), LABELS, where)
            for labels in re.findall(r"by \(([^)]*)\)", expression):
                self.assertLessEqual({label.strip() for label in labels.split(",")}, LABELS, where)

    def test_each_alert_says_what_happened_and_what_to_do(self) -> None:
        self.assertEqual(len({rule["alert"] for rule in alerts()}), len(alerts()))
        for rule in alerts():
            self.assertIn("severity", rule["labels"], rule["alert"])
            self.assertRegex(rule["annotations"]["description"], r"hmkctl|systemctl", rule["alert"])
            self.assertRegex(rule["for"], r"^\d+m$")


if __name__ == "__main__":
    unittest.main()
