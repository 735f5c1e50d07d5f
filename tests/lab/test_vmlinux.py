# SPDX-License-Identifier: MIT
"""A kernel is found in its bzImage, and boots unpacked where unpacking takes the guest long."""
import lzma
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/lab.d"))

from lab.vmlinux import quickest, vmlinux  # noqa: E402

KERNEL = b"\x7fELF" + bytes(range(256)) * 64


def image(packed: bytes, sectors: int) -> bytes:
    """A setup of so many sectors (0 stands for 4), 100 bytes of a program that unpacks, what is packed, and a tail."""
    setup = bytearray((1 + (sectors or 4)) * 512)
    setup[0x1f1] = sectors
    struct.pack_into("<II", setup, 0x248, 100, len(packed))
    return bytes(setup) + b"u" * 100 + packed + b"t" * 50


def zstd(data: bytes) -> bytes:
    """As the kernel packs it: with the size behind."""
    done = subprocess.run(["zstd", "-cq"], input=data, stdout=subprocess.PIPE, check=True)
    return done.stdout + struct.pack("<I", len(data))


class Vmlinux(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.image = Path(folder.name) / "vmlinuz-6.1.0"

    def test_what_is_packed_comes_out_whole(self):
        for packed in (lzma.compress(KERNEL), zstd(KERNEL)):
            for sectors in (0, 1, 27):
                self.assertEqual(vmlinux(image(packed, sectors)), KERNEL)

    def test_xz_is_unpacked_once_beside_the_image(self):
        self.image.write_bytes(image(lzma.compress(KERNEL), 27))
        first = quickest(self.image)
        self.assertEqual((first.name, first.parent, first.read_bytes()), ("vmlinux-6.1.0", self.image.parent, KERNEL))
        began = first.stat().st_mtime_ns
        self.assertEqual((quickest(self.image), first.stat().st_mtime_ns), (first, began))

    def test_zstd_is_left_to_the_guest(self):
        self.image.write_bytes(image(zstd(KERNEL), 27))
        self.assertEqual(quickest(self.image), self.image)
        self.assertEqual([file.name for file in self.image.parent.iterdir()], [self.image.name])


if __name__ == "__main__":
    unittest.main()
