"""A board that QEMU emulates: started, stopped, reset, looked at, and talked to over its serial line.

Flash and RAM are written through QEMU's stub for gdb before the program starts, and read by its monitor: `-device loader`
would write again at every reset.
"""

import json
import os
import random
import re
import select
import shutil
import socket
import struct
import subprocess
import tempfile
import time

# Bytes of a packet to the stub for gdb, which takes 4,096 characters.
PACKET_BYTES = 1024
# What RAM that was never written holds.
PAINT = 0xA5
# Seconds in which the slowest answer comes, on a busy machine.
PATIENCE = 60
# Seconds without an answer after which QEMU is made to look at the serial line.
NUDGE_SECONDS = 0.02


class Failure(Exception):
    """What a board did that it must not."""


class Image:
    """A program as an ELF file: its symbols, and where it is."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.bytes = file.read()
        start, = struct.unpack_from("<I", self.bytes, 32)
        size, count = struct.unpack_from("<HH", self.bytes, 46)
        self.sections = [struct.unpack_from("<10I", self.bytes, start + size * at) for at in range(count)]
        self.symbols, self.functions = {}, []
        for section in self.sections:
            if section[1] == 2:
                self._read_symbols(section, self.sections[section[6]][4])
        self.functions.sort()

    def _read_symbols(self, section, names):
        for at in range(section[4], section[4] + section[5], 16):
            name, value, size, info, _, _ = struct.unpack_from("<IIIBBH", self.bytes, at)
            text = self._text(names + name)
            self.symbols[text] = value
            if info & 15 == 2:
                self.functions.append((value & ~1, size, text))

    def _text(self, at):
        return self.bytes[at:self.bytes.index(b"\0", at)].decode()

    def function_at(self, address):
        """The name of the function that an address is in."""
        for start, size, name in self.functions:
            if start <= address < start + max(size, 2):
                return name
        return f"{address:#x}"

    def end_of_statics(self):
        """The first address of RAM that no static takes."""
        return max(section[3] + section[5] for section in self.sections if section[3] >= 0x2000_0000 and section[2] & 2)


class Machine:
    """A running QEMU."""

    def __init__(self, image, board, extra=()):
        self.image, self.board, self.extra = image, board, extra
        self.directory = tempfile.mkdtemp(prefix="norn-firmware-")
        self.process = None
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.directory)

    def start(self, memory=()):
        """Starts the program with bytes in memory: pairs of an address and what is there."""
        places = {name: os.path.join(self.directory, name) for name in ("qmp", "gdb", "line")}
        command = ["qemu-system-arm", "-machine", self.board, "-kernel", self.image.path, "-S", "-display", "none",
                   "-monitor", "none", "-nodefaults", "-net", "none", *self.extra]
        for name, option in (("qmp", "-qmp"), ("line", "-serial")):
            command += [option, f"unix:{places[name]},server=on,wait=off"]
        command += ["-chardev", f"socket,id=gdb,path={places['gdb']},server=on,wait=off", "-gdb", "chardev:gdb"]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        self.monitor = self._connect(places["qmp"])
        self.monitor_file = self.monitor.makefile("rb")
        self._monitor_answer("QMP")
        self.ask("qmp_capabilities")
        self.line, self.buffer = self._connect(places["line"]), b""
        stub = self._connect(places["gdb"])
        for address, contents in memory:
            for at in range(0, len(contents), PACKET_BYTES):
                piece = contents[at:at + PACKET_BYTES]
                self._tell_stub(stub, f"M{address + at:x},{len(piece):x}:{piece.hex()}")
        self._tell_stub(stub, "D")
        stub.close()

    def _connect(self, place):
        end = time.monotonic() + PATIENCE
        while True:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(place)
                connection.settimeout(PATIENCE)
                return connection
            except OSError:
                connection.close()
                if time.monotonic() > end or self.process.poll() is not None:
                    raise Failure("QEMU does not start") from None
                time.sleep(0.01)

    @staticmethod
    def _tell_stub(stub, text):
        stub.sendall(f"${text}#{sum(text.encode()) & 0xFF:02x}".encode())
        answer = b""
        while not re.search(rb"\$[^#]*#..", answer):
            piece = stub.recv(4096)
            if not piece:
                raise Failure("QEMU's stub for gdb has gone")
            answer += piece
        if b"$OK#" not in answer:
            raise Failure(f"QEMU's stub for gdb answers {answer} to {text[:20]}")
        stub.sendall(b"+")

    def _monitor_answer(self, *wanted):
        while True:
            line = self.monitor_file.readline()
            if not line:
                raise Failure("QEMU has gone")
            answer = json.loads(line)
            if "error" in answer:
                raise Failure(f"QEMU answers {answer}")
            for name in wanted:
                if name in answer:
                    return answer[name]

    def ask(self, command, **arguments):
        """Has the monitor do something, and returns its answer."""
        self.monitor.sendall(json.dumps({"execute": command, "arguments": arguments}).encode())
        return self._monitor_answer("return")

    def stop(self):
        """Ends QEMU, as a loss of power does."""
        if self.process is None:
            return
        self.process.kill()
        self.process.wait()
        for connection in (self.monitor_file, self.monitor, self.line):
            connection.close()
        self.process = None

    def halt(self):
        """Stops the processor, and returns the address of its next instruction."""
        self.ask("stop")
        registers = self.ask("human-monitor-command", **{"command-line": "info registers"})
        return int(re.search(r"R15=([0-9a-f]+)", registers).group(1), 16)

    def reset(self):
        """Resets the chip, and returns the address of the instruction that it did not come to."""
        address = self.halt()
        self.ask("system_reset")
        self.ask("cont")
        return address

    def rest_of_line(self):
        """What a machine that is halted has said, and nobody has received."""
        self.line.setblocking(False)
        try:
            while piece := self.line.recv(4096):
                self.buffer += piece
        except BlockingIOError:
            pass
        return self.buffer

    def read(self, address, size):
        """Bytes of memory, as the processor sees them."""
        place = os.path.join(self.directory, "memory")
        self.ask("memsave", val=address, size=size, filename=place)
        with open(place, "rb") as file:
            return file.read()

    def stack_used(self, start, paint):
        """Bytes of stack that were written, from where RAM was painted on."""
        ram = self.read(start, len(paint))
        untouched = next((at for at, byte in enumerate(ram) if byte != PAINT), len(ram))
        return len(paint) - untouched

    def send(self, data):
        self.line.sendall(data)

    def nudge(self):
        """Has QEMU look at the serial line: it sleeps on when a program begins to receive after bytes have come."""
        self.ask("query-status")

    def receive(self, is_complete, patience=PATIENCE):
        """Bytes of the serial line up to the first place where `is_complete` says how many there are."""
        end = time.monotonic() + patience
        while not (size := is_complete(self.buffer)):
            if time.monotonic() > end:
                raise Failure(f"no answer in {patience} seconds; received {self.buffer!r}")
            if not select.select([self.line], [], [], NUDGE_SECONDS)[0]:
                self.nudge()
                continue
            piece = self.line.recv(4096)
            if not piece:
                raise Failure("QEMU has gone")
            self.buffer += piece
        taken, self.buffer = self.buffer[:size], self.buffer[size:]
        return taken


def check_of(text):
    """The check of a line: the exclusive or of its bytes."""
    value = 0
    for byte in text.encode():
        value ^= byte
    return f"{value:02X}"


class Talk:
    """Lines with a check over the serial line of a machine."""

    def __init__(self, machine):
        self.machine = machine

    def send(self, text):
        self.machine.send(f"${text}*{check_of(text)}\r\n".encode())

    def next(self):
        """The text of the next line that is whole. A reset may have cut others."""
        while True:
            line = self.machine.receive(lambda buffer: buffer.find(b"\n") + 1)
            match = re.search(rb"\$([^$*]*)\*([0-9A-F]{2})\r\n$", line)
            if match and check_of(match[1].decode()) == match[2].decode():
                text = match[1].decode()
                if text.split(" ")[0] in ("panic", "no"):
                    raise Failure(f"the program says: {text}")
                return text

    def ask(self, number, command):
        """Sends a numbered command, and returns the words of its answer."""
        self.send(f"{number} {command}")
        return self.answer_to(number)

    def answer_to(self, number):
        words = self.next().split(" ")
        if words[0] != str(number):
            raise Failure(f"{words} is no answer to command {number}")
        return words[1:]


class Delays:
    """Times after which to reset, so that most resets hit what a command or a start takes."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seconds = [0.001]

    def took(self, seconds):
        self.seconds = (self.seconds + [seconds])[-100:]

    def wait(self):
        end = time.monotonic() + self.random.uniform(0, 1.3) * sorted(self.seconds)[len(self.seconds) // 2]
        while time.monotonic() < end:
            pass
