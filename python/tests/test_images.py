"""Images made and read by Python: what is written is there after an image is opened, and what fails says where.

The documentation's examples run, too. `tools/test-python` runs this against an installed wheel.
"""

import pathlib
import random
import re
import subprocess
import tempfile
import unittest

import norn_flash
from norn_flash import BlockDevice, Heap, Ref, SensorLog

PYTHON = pathlib.Path(__file__).parent.parent


class Desk(unittest.TestCase):
    """A directory of its own for each test."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.desk = pathlib.Path(directory.name)

    def written(self, name, contents):
        path = self.desk / name
        path.write_bytes(contents)
        return path

    def both(self, kind, store):
        """A store opened again, from a simulator's file and from a dump."""
        store.save(self.desk / "store.img")
        dump = self.written("store.bin", store.dump())
        return kind.open(self.desk / "store.img"), kind.open(dump, store.part)


class Heaps(Desk):
    def test_a_heap_holds_what_a_model_holds(self):
        chance = random.Random(2006)
        for part in ["tinystore", "stm32l4:24", "test-32x1024"]:
            with self.subTest(part=part):
                heap, model = Heap.create(part, error_detection="on"), {}
                for _ in range(400):
                    self.change(chance, heap, model)
                self.assertEqual(heap.check(), [])
                for again in self.both(Heap, heap):
                    self.assertEqual({ref: again.fields(ref) for ref in again.objects()}, model)
                    self.assertEqual((len(again), again.part), (len(model), part))
                (self.desk / "store.img").unlink()

    def change(self, chance, heap, model):
        choice = chance.random()
        if not model or choice < 0.2 and len(model) < 40:
            widths = [chance.randint(1, 9) for _ in range(chance.randint(1, 6))]
            model[heap.create_object(widths)] = [bytes(width) for width in widths]
            return
        ref = chance.choice(sorted(model))
        if choice < 0.3:
            heap.delete(ref)
            del model[ref]
            self.assertNotIn(ref, heap)
            return
        index = chance.randrange(len(model[ref]))
        value = chance.randbytes(len(model[ref][index]))
        heap.put_field(ref, index, value)
        model[ref][index] = value
        self.assertEqual(heap.get_field(ref, index), value)

    def test_a_transaction_is_whole_or_undone(self):
        heap = Heap.create("tinystore")
        ann, bob = (heap.create_object([4]) for _ in range(2))
        with self.assertRaises(ZeroDivisionError), heap.transaction():
            heap.put_field(ann, 0, b"lost")
            heap.create_object([1])
            1 / 0
        self.assertEqual((heap.fields(ann), len(heap)), ([bytes(4)], 2))
        with heap.transaction() as same:
            self.assertIs(same, heap)
            heap.put_field(ann, 0, b"kept")
            heap.put_field(bob, 0, b"also")
            with self.assertRaisesRegex(norn_flash.NornError, "a transaction is open"):
                heap.dump()
            with self.assertRaises(norn_flash.NornError), heap.transaction():
                pass
        for again in self.both(Heap, heap):
            self.assertEqual([again.fields(ref) for ref in (ann, bob)], [[b"kept"], [b"also"]])

    def test_arrays_headers_and_roots(self):
        heap = Heap.create("tinystore")
        samples = heap.create_array(5000, 2, header=b"centidegrees")
        heap.array_write(samples, 4000, b"ab" * 1000)
        heap.set_root(b"samples", samples)
        heap.set_root(b"other", samples)
        heap.set_root(b"other", None)
        for again in self.both(Heap, heap):
            self.assertEqual(again.roots(), {b"samples": samples})
            self.assertEqual((again.root(b"samples"), again.root(b"none")), (samples, None))
            info = again.info(samples)
            self.assertEqual((info.kind, info.count, info.widths, info.header), ("array", 5000, [2], b"centidegrees"))
            self.assertEqual(again.array_read(samples), bytes(8000) + b"ab" * 1000)
            self.assertEqual(again.array_read(samples, 3999, 2), b"\0\0ab")
        heap.write_header(samples, b"new")
        self.assertEqual(heap.info(samples).header, b"new")

    def test_references_are_numbers(self):
        heap = Heap.create("tinystore")
        ref = heap.create_object([4])
        self.assertEqual((Ref(ref.bits), int(ref), str(ref)), (ref, ref.bits, f"#{ref.slot}.{ref.generation}"))
        self.assertEqual(len({ref, Ref(ref.bits)}), 1)
        with self.assertRaisesRegex(ValueError, "0x7 is no reference"):
            Ref(7)

    def test_failures_name_the_image_and_the_call(self):
        heap = Heap.create("tinystore")
        ref, gone = heap.create_object([4]), heap.create_object([4])
        heap.delete(gone)
        image = self.desk / "a.img"
        heap.save(image)
        heap = Heap.open(image)
        for raised, said, call in [
            (norn_flash.StaleReferenceError, rf"a.img: put_field {gone}", lambda: heap.put_field(gone, 0, bytes(4))),
            (ValueError, r"a.img: put_field #\S+\[0\] of 3 bytes: .* the 4 of", lambda: heap.put_field(ref, 0, b"123")),
            (IndexError, "a.img: .*beyond the last of 1", lambda: heap.get_field(ref, 1)),
            (ValueError, "a.img: .*object where an array", lambda: heap.array_read(ref)),
            (ValueError, "a.img: create_object: .*at least one field", lambda: heap.create_object([])),
            (ValueError, "a.img: set_root: a name of 0 bytes", lambda: heap.set_root(b"", ref)),
            (norn_flash.FullError, "a.img: create_array", lambda: heap.create_array(1_000_000, 2)),
            (FileExistsError, "a.img", lambda: heap.save(image)),
            (FileNotFoundError, "none.img", lambda: Heap.open(self.desk / "none.img")),
            (norn_flash.ImageError, "a.img: an image of tinystore, not of w25q80", lambda: Heap.open(image, "w25q80")),
            (ValueError, "flux: no such part", lambda: Heap.create("flux")),
            (ValueError, "error_detection", lambda: Heap.create("w25q80", error_detection="maybe")),
        ]:
            with self.subTest(said=said), self.assertRaisesRegex(raised, said):
                call()
        self.assertEqual(heap.fields(ref), [bytes(4)])

    def test_files_that_are_no_image_are_refused(self):
        heap = Heap.create("test-16x2048")
        heap.save(self.desk / "heap.img")
        dump = self.written("heap.bin", heap.dump())
        empty = self.written("empty.bin", b"\xff" * 32768)
        short = self.written("short.bin", heap.dump()[:-1])
        torn = self.written("torn.img", (self.desk / "heap.img").read_bytes()[:5000])
        for path, part, said in [
            (dump, None, "heap.bin: no simulator's file.*name its part"),
            (short, "test-16x2048", "short.bin: 32767 bytes are no dump of a whole test-16x2048"),
            (empty, "test-16x2048", "empty.bin: mount: not formatted"),
            (torn, None, "torn.img: .*5000 bytes long"),
        ]:
            with self.subTest(said=said), self.assertRaisesRegex(norn_flash.ImageError, said):
                Heap.open(path, part)
        with self.assertRaisesRegex(norn_flash.ImageError, "heap.img"):
            BlockDevice.open(self.desk / "heap.img")
        with self.assertRaisesRegex(norn_flash.ImageError, "heap.img: mount"):
            SensorLog.open(self.desk / "heap.img")

    def test_an_image_of_another_kind_is_named_with_what_opens_it(self):
        stores = {
            Heap: (Heap.create("test-16x4096"), "a log-structured heap on 16 units of 4096 bytes: Heap.open"),
            SensorLog: (SensorLog.create("test-16x4096"), "a sorted map on 16 units of 4096 bytes: SensorLog.open"),
            BlockDevice: (BlockDevice.create("nandtest-32x16x512", logical_pages=9), "a block device on NAND.*: BlockDevice.open"),
        }
        card = self.desk / "my.card"
        card.mkdir()
        SensorLog.create("test-16x4096").save(card / "nor.img")
        for number, (store, said) in enumerate(stores.values()):
            path = self.desk / f"{number}.img"
            store.save(path)
            for kind in stores:
                with self.subTest(kind=kind, said=said):
                    if isinstance(store, kind):
                        kind.open(path)
                        continue
                    with self.assertRaisesRegex(norn_flash.ImageError, f"{number}.img: .*; it holds {said} opens it"):
                        kind.open(path)
        for kind in stores:
            with self.assertRaisesRegex(norn_flash.ImageError, "my.card: .*; it is a card: `norn card show"):
                kind.open(card)
        dump = self.written("log.bin", SensorLog.create("test-16x4096").dump())
        with self.assertRaisesRegex(norn_flash.ImageError, "log.bin: mount: .*; it holds a sorted map"):
            Heap.open(dump, "test-16x4096")

    def test_a_flipped_bit_is_noticed_and_located(self):
        heap = Heap.create("test-16x2048", error_detection="on")
        ref = heap.create_object([16])
        heap.put_field(ref, 0, b"sixteen of bytes")
        bytes_ = bytearray(heap.dump())
        bytes_[bytes_.rindex(b"sixteen of bytes")] ^= 1
        path = self.written("damaged.bin", bytes_)
        with self.assertRaisesRegex(norn_flash.CorruptedError, r"damaged.bin: .*at 0x[0-9a-f]+"):
            damaged = Heap.open(path, "test-16x2048")
            self.assertNotEqual(damaged.check(), [])
            damaged.fields(ref)

    def test_random_bytes_are_refused_or_read(self):
        chance = random.Random(7)
        image = Heap.create("test-16x2048")
        for _ in range(20):
            image.create_object([8, 8])
        image = image.dump()
        for _ in range(200):
            damaged = bytearray(image)
            for _ in range(chance.randint(1, 20)):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            try:
                heap = Heap.open(self.written("damaged.bin", damaged), "test-16x2048")
                for ref in heap.objects():
                    heap.info(ref)
                heap.check()
            except (norn_flash.NornError, ValueError, IndexError):
                pass

    def test_an_image_is_replaced_as_a_whole(self):
        path = self.desk / "a.img"
        heap = Heap.create("tinystore")
        heap.replace(path)
        ref = heap.create_object([2])
        heap.replace(path)
        self.assertEqual(Heap.open(path).objects(), [ref])
        self.assertEqual([file.name for file in self.desk.iterdir()], ["a.img"])


class Logs(Desk):
    def test_readings_come_back_by_time(self):
        log = SensorLog.create("w25q80")
        for at in range(3000):
            self.assertEqual(log.append(at * 7 % 3001, at - 1500), "new")
        self.assertEqual((log.append(0, -1500), log.append(0, 5)), ("known", "replaced"))
        self.assertEqual(log.check(), [])
        for again in self.both(SensorLog, log):
            readings = again.readings()
            self.assertEqual([reading.at for reading in readings], sorted(at * 7 % 3001 for at in range(3000)))
            self.assertEqual(readings[0], norn_flash.Reading(0, 5))
            self.assertEqual([reading.at for reading in again.readings(10, 13)], [10, 11, 12])

    def test_the_oldest_readings_are_forgotten(self):
        log = SensorLog.create("test-16x1024")
        for at in range(5000):
            log.append(at, 0)
        readings = log.readings()
        self.assertGreater(log.forgotten, 0)
        self.assertEqual([reading.at for reading in readings], list(range(log.forgotten, 5000)))
        with self.assertRaisesRegex(norn_flash.FullError, r"a new test-16x1024: append at \d+: "):
            for at in reversed(range(log.forgotten)):
                log.append(at, 0)

    def test_a_part_that_does_not_fit_is_refused(self):
        with self.assertRaisesRegex(norn_flash.ImageError, "a new stm32l4: format"):
            SensorLog.create("stm32l4")


class Disks(Desk):
    def test_pages_come_back(self):
        chance = random.Random(4)
        disk = BlockDevice.create("nandtest-32x16x512", logical_pages=300)
        model = {}
        for _ in range(2000):
            page = chance.randrange(300)
            if chance.random() < 0.1:
                disk.trim(page)
                model.pop(page, None)
            else:
                model[page] = chance.randbytes(512)
                disk.write(page, model[page])
        self.assertEqual(disk.check(), [])
        for again in self.both(BlockDevice, disk):
            self.assertEqual((again.logical_pages, again.page_bytes), (300, 512))
            expected = b"".join(model.get(page, bytes(512)) for page in range(300))
            self.assertEqual(again.read(0, 300), expected)

    def test_failures_name_the_part_and_the_call(self):
        disk = BlockDevice.create("nandtest-32x16x512", logical_pages=10)
        for raised, said, call in [
            (IndexError, "a new nandtest-32x16x512: read 9: 2 pages", lambda: disk.read(9, 2)),
            (IndexError, "write 10", lambda: disk.write(10, bytes(512))),
            (IndexError, "trim 9", lambda: disk.trim(9, 2)),
            (ValueError, "write 0: 100 bytes are not a multiple", lambda: disk.write(0, bytes(100))),
            (IndexError, "read 4294967295", lambda: disk.read(2**32 - 1, 2**32 - 1)),
            (norn_flash.ImageError, "no logical pages", lambda: BlockDevice.create("k9f2808", logical_pages=0)),
            (ValueError, "more than the part has", lambda: BlockDevice.create("k9f2808", logical_pages=2**32 - 1)),
            (ValueError, "flux: no such NAND part", lambda: BlockDevice.create("flux")),
        ]:
            with self.subTest(said=said), self.assertRaisesRegex(raised, said):
                call()


class Documentation(Desk):
    def test_the_examples_of_the_readme_run(self):
        import sys

        blocks = re.findall(r"```python\n(.*?)```", (PYTHON / "README.md").read_text(), re.DOTALL)
        self.assertEqual(len(blocks), 2)
        program = self.written("example.py", "\n".join(blocks).encode())
        run = subprocess.run([sys.executable, program], cwd=self.desk, capture_output=True, text=True, check=False)
        self.assertEqual((run.returncode, run.stdout), (0, "[(60, 21520), (120, 21480)]\n"), run.stderr)

    def test_every_part_has_a_name(self):
        self.assertIn("stm32l4", norn_flash.nor_parts())
        self.assertIn("k9f2808", norn_flash.nand_parts())


if __name__ == "__main__":
    unittest.main()
