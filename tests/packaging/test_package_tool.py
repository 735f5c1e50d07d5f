# SPDX-License-Identifier: MIT
"""tools/package: what it exports, and what it says when it cannot go on."""
import os
import subprocess
import sys
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

import package_plan as plan

sys.path[:0] = [str(plan.ROOT / "tools/lab.d"), str(plan.ROOT / "tools/package.d")]
import build  # noqa: E402
import live  # noqa: E402
import prove  # noqa: E402
from kept import Kept  # noqa: E402
from transcript import Transcript, shortened  # noqa: E402
from lab.errors import LabError, UsageError  # noqa: E402


class Tool(unittest.TestCase):
    """Without building anything."""

    def setUp(self) -> None:
        scratch = TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def checkout(self) -> Path:
        root = self.folder / "checkout"
        for name in ("packaging/debian/control", "kmod/main.c", "docs/large.md", "build/left.o", "kmod/left.o"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(name, encoding="ascii")
        (root / ".gitignore").write_text("/build/\n*.o\n", encoding="ascii")
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        return root

    def test_it_exports_what_git_would_know_and_puts_debian_in_its_place(self) -> None:
        tree = build.export(self.checkout(), self.folder / "work")
        files = sorted(str(file.relative_to(tree)) for file in tree.rglob("*") if file.is_file())
        self.assertEqual(files, [".gitignore", "debian/control", "kmod/main.c", "packaging/debian/control"])

    def test_nothing_of_an_older_export_is_left(self) -> None:
        root = self.checkout()
        tree = build.export(root, self.folder / "work")
        (root / "kmod/main.c").unlink()
        build.export(root, self.folder / "work")
        self.assertFalse((tree / "kmod/main.c").exists())

    def test_it_needs_a_checkout(self) -> None:
        with self.assertRaisesRegex(LabError, "not a git repository.*; packages are made from a checkout of git"):
            os.environ["GIT_CEILING_DIRECTORIES"] = str(self.folder.parent)
            build.export(self.folder, self.folder / "work")

    def test_a_failed_build_is_told_by_its_cause(self) -> None:
        script = "echo compiling; echo 'a.cpp:3: fatal error: b.hpp: No such file'; echo 'make: *** [all] Error 2'; exit 2"
        with self.assertRaises(LabError) as caught:
            build._run("building", ["sh", "-c", script], self.folder, self.folder / "log")
        self.assertEqual(str(caught.exception), f"building failed: a.cpp:3: fatal error: b.hpp: No such file; see {self.folder}/log")

    def test_a_full_disk_is_told(self) -> None:
        script = "echo 'ar: libx.a: No space left on device'; echo 'ninja: build stopped: subcommand failed.'; exit 1"
        with self.assertRaisesRegex(LabError, "ar: libx.a: No space left on device"):
            build._run("building", ["sh", "-c", script], self.folder, self.folder / "log")

    def test_reuse_wants_all_packages(self) -> None:
        (self.folder / "hmkd_0.1.0_amd64.deb").touch()
        with self.assertRaisesRegex(UsageError, "holds 1 packages of 4; build them with tools/package --out"):
            build.found(self.folder)

    def test_it_does_not_compile_nothing_at_a_time(self) -> None:
        with self.assertRaisesRegex(UsageError, "--jobs: 0 is below 1"):
            build.build(self.folder, self.folder / "out", 0)

    def test_a_folder_that_cannot_be_made_is_named(self) -> None:
        (self.folder / "file").touch()
        with self.assertRaisesRegex(LabError, f"{self.folder}/file/out: Not a directory; name another folder with --out"):
            build.build(self.folder, self.folder / "file/out", 1)

    def test_what_others_keep_is_not_held_against_the_purge(self) -> None:
        for name in ("/var/log/dpkg.log", "/var/lib/dpkg/status", "/etc/passwd-", "/usr/lib/modules/6.1.0-9-amd64/modules.dep", "/var/lib/dkms/mok.key"):
            self.assertRegex(name, prove.KEPT)
        for name in ("/etc/hmk", "/var/lib/hmk", "/var/lib/dkms/hmk", "/usr/lib/modules/6.1.0-9-amd64/updates/dkms/hmk.ko", "/etc/passwd.d",
                     "/etc/systemd/system/hmkd.service", "/usr/src/hmk-0.1.0/Kbuild"):
            self.assertNotRegex(name, prove.KEPT)

    def test_a_promise_that_is_not_kept_ends_the_proof(self) -> None:
        with self.assertRaisesRegex(LabError, "not so: no file is left"):
            prove.check(False, "no file is left")


class Stages(unittest.TestCase):
    """A life of the packages that begins where another has ended."""

    def setUp(self) -> None:
        scratch = TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def kept(self) -> Kept:
        return Kept(self.folder / "kept", list(live.STAGES))

    def test_the_first_stage_needs_no_disk(self) -> None:
        self.assertEqual(Kept(None, list(live.STAGES)).before("system"), "")

    def test_a_later_stage_needs_the_disk_of_the_one_before(self) -> None:
        with self.assertRaisesRegex(UsageError, "--from upgrade: there is no disk to begin with; name the folder of --keep"):
            Kept(None, list(live.STAGES)).before("upgrade")
        with self.assertRaisesRegex(UsageError, "--from upgrade: .*/kept has no disk of 'reboot'; begin with an earlier stage"):
            self.kept().before("upgrade")

    def test_a_disk_comes_back_with_what_was_known(self) -> None:
        (self.folder / "disk").write_bytes(b"whole" + bytes(1 << 20))
        self.kept().keep("reboot", self.folder / "disk", {"kernel": "/boot/vmlinuz-6.1"})
        self.assertEqual(self.kept().before("upgrade"), "reboot")
        self.assertEqual(self.kept().take("reboot", self.folder / "again"), {"kernel": "/boot/vmlinuz-6.1"})
        self.assertEqual((self.folder / "again").read_bytes(), b"whole" + bytes(1 << 20))

    def test_half_a_disk_is_none(self) -> None:
        (self.folder / "disk").write_bytes(b"whole")
        self.kept().keep("reboot", self.folder / "disk", {})
        with self.assertRaisesRegex(LabError, "a disk takes 3 GiB"):
            self.kept().keep("reboot", self.folder / "none", {})
        with self.assertRaises(UsageError):
            self.kept().before("upgrade")

    def test_stages_are_about_live_alone(self) -> None:
        for flags, told in ((("--from", "purge"), "are about --live; add it"),
                            (("--live", "--prove", "--keep", "disks", "--from", "purge"), "leave out one of the two")):
            done = subprocess.run([sys.executable, "-B", str(plan.ROOT / "tools/package.d/main.py"), *flags], check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(told, done.stderr)


class Transcripts(unittest.TestCase):
    """What documents quote."""

    def test_it_holds_commands_and_what_they_printed(self) -> None:
        with TemporaryDirectory() as folder:
            transcript = Transcript(Path(folder) / "of/a.txt")
            self.assertEqual(transcript.add("hmkctl doctor", "one\ntwo\n", 9), "one\ntwo\n")
            transcript.add("hmkctl set mode manage", "\n", 9)
            transcript.page("<html>")
            self.assertEqual((Path(folder) / "of/a.txt").read_text(encoding="utf-8"),
                             "# hmkctl doctor\none\ntwo\n\n# hmkctl set mode manage\n")
            self.assertEqual((Path(folder) / "of/a.html").read_text(encoding="utf-8"), "<html>")

    def test_without_a_file_it_says_what_it_was_told(self) -> None:
        self.assertEqual(Transcript(None).add("true", "said", 1), "said")

    def test_what_is_long_loses_its_middle_and_says_so(self) -> None:
        self.assertEqual(shortened(list("abcdefgh"), 6), ["a", "b", "[2 lines]", "e", "f", "g", "h"])
        self.assertEqual(shortened(list("abc"), 3), list("abc"))


if __name__ == "__main__":
    unittest.main()
