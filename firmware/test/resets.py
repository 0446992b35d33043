"""Plays with a program on a board, and resets it in the middle of what it does, or takes its power away."""

import random
import time
from collections import Counter

from machine import PAINT, Delays, Failure, Image, Machine, Talk

RAM_START = 0x2000_0000
# Resets after which QEMU itself is ended, wherever it is, and another one goes on with the same flash.
RESETS_A_RUN = 25
# The function in which a program waits for a byte.
WAITING = "sleep_until_received"


class Client:
    """Whoever uses the program, resets it, and knows what it must hold. What is used is a class of its own."""

    def __init__(self, machine, seed):
        self.machine, self.talk = machine, Talk(machine)
        self.rng = random.Random(seed)
        self.busy, self.starting = Delays(seed + 1), Delays(seed + 2)
        self.number, self.resets = 0, 0
        self.tally, self.places = Counter(), Counter()

    def ask(self, text):
        """The words that answer a command."""
        began = time.monotonic()
        self.number += 1
        answer = self.talk.ask(self.number, text)
        self.busy.took(time.monotonic() - began)
        return answer

    def settle(self, question):
        """Waits until the program is ready, and asks. Returns what it said in its earlier runs, what in this one, and
        the words of the answer.
        """
        began, runs = time.monotonic(), [[]]
        self.number += 1
        while not (text := self.talk.next()).startswith(f"{self.number} "):
            runs[-1].append(text)
            if text.split(" ")[0] == "ready":
                self.starting.took(time.monotonic() - began)
                runs.append([])
                if len(runs) == 2:
                    self.machine.nudge()
                    self.talk.send(f"{self.number} {question}")
        return sum(runs[:-1], []), runs[-1], text.split(" ")[1:]

    def cut(self, end):
        """Resets in the middle of a command, and at times of the start after it, and looks what is there."""
        text = self.command()
        self.number += 1
        sent = self.number
        self.talk.send(f"{sent} {text}")
        self.busy.wait()
        self.note(end())
        resets = 1
        while self.rng.random() < 0.4:
            self.starting.wait()
            self.note(self.machine.reset())
            resets += 1
        self.look(text, sent, resets)

    def note(self, address):
        self.resets += 1
        self.places[self.machine.image.function_at(address)] += 1

    def count(self, is_late, is_answered, what):
        """Counts where a cut was."""
        self.tally["cut before it was read" if is_late else "cut after its answer" if is_answered else what] += 1


class Board:
    """A board as QEMU has it: its name there, where its RAM ends, and the flash that outlives a loss of power."""

    def __init__(self, name, ram_end, store):
        self.name, self.ram_end, self.store = name, ram_end, store


MICROBIT = Board("microbit", 0x2000_4000, (0x3_C000, 0x4000))
# Its flash parts are the first 612 KB of its memory of 16 MB, after a word that says that they are there.
MPS2 = Board("mps2-an385", 0x2040_0000, (0x2100_0000, 0x9_9000))


class Power:
    """The power of a machine, and what its flash and its stack hold."""

    def __init__(self, machine, board):
        self.machine, self.board, self.losses, self.stack = machine, board, 0, 0
        # The stack grows down from the end of RAM, 64 KB at most.
        self.ram = max(machine.image.end_of_statics(), board.ram_end - (64 << 10))
        self.paint = bytes([PAINT]) * (board.ram_end - self.ram)

    def on(self, contents=()):
        self.machine.start([*contents, (self.ram, self.paint)])

    def look_at_stack(self):
        self.stack = max(self.stack, self.machine.stack_used(self.ram, self.paint))

    def lose(self):
        """Ends QEMU, and goes on with the flash as it was. Returns the address of the next instruction."""
        address = self.machine.halt()
        contents = self.machine.read(*self.board.store)
        self.look_at_stack()
        said = self.machine.rest_of_line()
        self.machine.stop()
        self.on([(self.board.store[0], contents)])
        self.machine.buffer, self.losses = said, self.losses + 1
        return address


def run(name, path, board, client_class, resets, seed):
    """Plays until there were so many resets, and says how it went."""
    with Machine(Image(path), board.name) as machine:
        power, client = Power(machine, board), client_class(machine, seed)
        power.on()
        client.begin()
        while client.resets < resets:
            for _ in range(client.rng.randrange(6)):
                client.obey(client.command())
            client.cut(power.lose if client.resets // RESETS_A_RUN > power.losses else machine.reset)
        client.check()
        power.look_at_stack()
    tally = ", ".join(f"{count} {what}" for what, count in sorted(client.tally.items()))
    idle = sum(count for function, count in client.places.items() if WAITING in function)
    print(f"{name}: {client.resets} resets, of which {power.losses} losses of power; {client.resets - idle} hit the "
          f"program at work, in {len(client.places) - 1} functions")
    print(f"{name}: {tally}")
    print(f"{name}: {machine.image.end_of_statics() - RAM_START} bytes of statics, {power.stack} of stack at most")
    for what in client_class.EXPECTED:
        if resets >= 200 and client.tally[what] == 0:
            raise Failure(f"of {resets} resets none was `{what}`: they miss what they are to hit")
    if resets >= 200 and idle > 0.8 * client.resets:
        raise Failure(f"{idle} of {client.resets} resets hit a program that waits")
    return client
