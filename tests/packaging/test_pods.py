# SPDX-License-Identifier: MIT
"""hmk-pods beside an API of the test's own, with an hmkd and an hmkctl that keep what they were asked."""
import http.server
import importlib.machinery
import importlib.util
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

import yaml

PROGRAM = Path(__file__).resolve().parents[2] / "packaging/kubernetes/hmk-pods"
FOLDER = PROGRAM.parent
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("hmk_pods", str(PROGRAM))
spec = importlib.util.spec_from_loader("hmk_pods", loader)
assert spec
hmk_pods = importlib.util.module_from_spec(spec)
loader.exec_module(hmk_pods)

UID = "1a2b3c4d-0000-1111-2222-333344445555"
LIMIT = 20.0  # seconds until a condition holds


def pod(name: str, annotations: Optional[Dict[str, str]] = None, labels: Optional[Dict[str, str]] = None, uid: str = UID, phase: str = "Running") -> Dict[str, Any]:
    return {"metadata": {"namespace": "shop", "name": name, "uid": uid, "annotations": annotations, "labels": labels}, "status": {"phase": phase}}


def classes(pods: List[Dict[str, Any]], *words: str) -> List[Dict[str, str]]:
    return hmk_pods.classes_of(pods, hmk_pods.parse(["--node", "n", *words]))


class Choice(unittest.TestCase):
    def test_a_pod_that_asks_has_a_class_of_its_name_and_control_group(self) -> None:
        found = classes([pod("cart-0", {"hmk.io/mode": "manage"}), pod("cart-1")])
        self.assertEqual(found, [{"match": "unit=*pod1a2b3c4d?0000?1111?2222?333344445555*", "name": "shop/cart-0", "together": "yes", "mode": "manage"}])

    def test_labels_choose_and_what_a_pod_asks_for_comes_first(self) -> None:
        redis = {"app": "redis", "tier": "test"}
        self.assertEqual([one["mode"] for one in classes([pod("a", labels=redis)], "--manage", "app=redis")], ["manage"])
        self.assertEqual(classes([pod("a", labels=redis)], "--manage", "app=redis,tier!=test"), [])
        self.assertEqual([one["mode"] for one in classes([pod("a", labels=redis)], "--track", "app=redis,tier!=live")], ["track-only"])
        asked = pod("a", {"hmk.io/mode": "track-only"}, redis)
        self.assertEqual([one["mode"] for one in classes([asked], "--manage", "app=redis")], ["track-only"])

    def test_a_pod_gets_only_what_it_may_ask_for(self) -> None:
        greedy = pod("a", {"hmk.io/mode": "manage", "hmk.io/weight": "10000", "else/weight": "1"})
        self.assertNotIn("weight", classes([greedy])[0])
        self.assertEqual(classes([greedy], "--allow", "mode,weight")[0]["weight"], "10000")
        self.assertEqual(classes([greedy], "--allow", "none"), [])
        self.assertEqual(classes([pod("a", {"hmk.io/mode": "off"})]), [])

    def test_pods_that_have_ended_are_let_go(self) -> None:
        for phase in ("Succeeded", "Failed"):
            self.assertEqual(classes([pod("a", {"hmk.io/mode": "manage"}, phase=phase)]), [])

    def test_what_is_asked_for_cannot_leave_its_value(self) -> None:
        evil = pod("a", {"hmk.io/mode": "manage", "hmk.io/caps": '1=1GiB"}]\nmode: manage\nattach: [user=0'})
        page = yaml.safe_load(hmk_pods.render(classes([evil], "--allow", "mode,caps"), "1MiB"))
        self.assertEqual(set(page), {"attach", "classes"})
        self.assertEqual(len(page["classes"]), 1)

    def test_labels_that_choose_nothing_are_refused(self) -> None:
        done = subprocess.run([str(PROGRAM), "--node", "n", "--manage", "app"], check=False, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("'app' does not choose by labels; write for example app=redis,tier!=test", done.stderr)


class Api(http.server.ThreadingHTTPServer):
    """Lists `pods`, and sends what is put into `events` to whoever watches; None ends the watch."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.pods: List[Dict[str, Any]] = []
        self.events: "queue.Queue[Optional[Dict[str, Any]]]" = queue.Queue()
        self.asked: List[Dict[str, List[str]]] = []
        self.is_broken = False


class Answers(http.server.BaseHTTPRequestHandler):
    server: Api

    def do_GET(self) -> None:
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        self.server.asked.append(query)
        self.send_response(503 if self.server.is_broken else 200)
        self.end_headers()
        if self.server.is_broken:
            return
        if "watch" not in query:
            self.wfile.write(json.dumps({"items": self.server.pods, "metadata": {"resourceVersion": "7"}}).encode())
            return
        while (event := self.server.events.get()) is not None:
            self.wfile.write(json.dumps(event).encode() + b"\n")
            self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Watching(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        self.file, self.log = self.root / "conf.d/60-pods.yaml", self.root / "reloads"
        for name, script in (("hmkctl", f"echo reload >> {self.log}"), ("hmkd", 'grep -q "weight.*heavy" "$3" && { echo "hmkd: $3: weight: no number"; exit 1; }; exit 0')):
            (self.root / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
            (self.root / name).chmod(0o755)
        self.api = Api()
        threading.Thread(target=self.api.serve_forever, daemon=True).start()
        self.process: Optional["subprocess.Popen[str]"] = None

    def tearDown(self) -> None:
        if self.process:
            self.process.kill()
            self.process.communicate()
        self.api.events.put(None)
        self.api.shutdown()
        self.api.server_close()
        self.folder.cleanup()

    def start(self, *words: str) -> None:
        self.process = subprocess.Popen([str(PROGRAM), "--node", "n1", "--api", f"http://127.0.0.1:{self.api.server_port}", "--file", str(self.file), *words],
                                        env={**os.environ, "PATH": f"{self.root}:{os.environ['PATH']}"}, stderr=subprocess.PIPE, text=True)

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + LIMIT
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.02)

    def names(self) -> Optional[List[str]]:
        """In the file; None: there is none."""
        if not self.file.exists():
            return None
        page = yaml.safe_load(self.file.read_text(encoding="utf-8"))
        found = [] if page["classes"] == "none" else [one["name"] for one in page["classes"]]
        self.assertEqual(len(page["attach"]), len(found))
        return found

    def wait_for_names(self, *wanted: str) -> None:
        self.wait_for(lambda: self.names() == list(wanted), f"{self.names()}, wanted {wanted}")

    def reloads(self) -> int:
        return len(self.log.read_text(encoding="utf-8").splitlines()) if self.log.exists() else 0

    def test_the_file_follows_the_pods_and_hmkd_is_told_of_changes_only(self) -> None:
        one, two = pod("a", {"hmk.io/mode": "manage"}), pod("b", {"hmk.io/mode": "track-only"}, uid="u-2")
        self.api.pods = [one, pod("c", uid="u-3")]
        self.start()
        self.wait_for_names("shop/a")
        self.assertEqual(self.api.asked[0]["fieldSelector"], ["spec.nodeName=n1"])
        self.api.events.put({"type": "ADDED", "object": two})
        self.wait_for_names("shop/a", "shop/b")
        self.api.events.put({"type": "MODIFIED", "object": pod("c", uid="u-3")})  # says nothing to hmkd
        self.api.events.put({"type": "DELETED", "object": one})
        self.wait_for_names("shop/b")
        self.api.pods = []
        self.api.events.put(None)  # as the API does now and then
        self.wait_for_names()
        self.wait_for(lambda: self.reloads() >= 4, "hmkd is told of the last change, after the file is there")
        self.assertEqual(self.reloads(), 4, "and not of the one that said nothing to it")

    def test_a_pod_that_hmkd_refuses_harms_no_other(self) -> None:
        self.api.pods = [pod("a", {"hmk.io/mode": "manage", "hmk.io/weight": "heavy"}), pod("b", {"hmk.io/mode": "manage"}, uid="u-2")]
        self.start("--allow", "mode,weight")
        self.wait_for_names("shop/b")
        assert self.process and self.process.stderr
        self.assertEqual(self.process.stderr.readline(), "hmk-pods: pod shop/a is left alone: hmkd: its annotations: weight: no number\n")

    def test_without_the_api_what_is_known_goes_on_to_count(self) -> None:
        self.api.pods = [pod("a", {"hmk.io/mode": "manage"})]
        self.start()
        self.wait_for_names("shop/a")
        self.api.is_broken = True
        self.api.events.put(None)
        assert self.process and self.process.stderr
        self.assertIn("hmk-pods: pods are not known: the API answers 503", self.process.stderr.readline())
        self.wait_for_names("shop/a")
        self.api.is_broken = False
        self.api.pods = []
        self.wait_for_names()


class Manifest(unittest.TestCase):
    def test_its_containers_share_what_they_must_and_may_read_pods_only(self) -> None:
        parts = {part["kind"]: part for part in yaml.safe_load_all((FOLDER / "hm-keeper.yaml").read_text(encoding="utf-8"))}
        self.assertEqual(parts["ClusterRole"]["rules"], [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}])
        inside = parts["DaemonSet"]["spec"]["template"]["spec"]
        volumes = {volume["name"] for volume in inside["volumes"]}
        mounts = {one["name"]: {mount["name"]: mount["mountPath"] for mount in one["volumeMounts"]} for one in inside["containers"]}
        for of_one in mounts.values():
            self.assertLessEqual(set(of_one), volumes)
        hmkd, pods = inside["containers"]
        self.assertEqual(hmkd["args"][hmkd["args"].index("--config-dir") + 1], mounts["hmkd"]["pods"])
        self.assertTrue(pods["command"][-1].startswith(mounts["pods"]["pods"] + "/"))
        self.assertEqual(mounts["pods"]["run"], mounts["hmkd"]["run"], "hmkctl finds hmkd's socket")
        self.assertTrue(inside["hostPID"])


if __name__ == "__main__":
    unittest.main()
