"""Installs applets on the card of the MPS2, and uses them by APDUs, with resets in the middle: a purse, and one that
changes something outside of the transaction that the reset tears.
"""

import os

from machine import Failure
from resets import Client

PIN = "31323334"
BALANCE_MAX = 30000
# Bytes of a package that a line takes.
PIECE_BYTES = 256
DONE, NO_MONEY = "9000", "6985"


def apdu(instruction, data=""):
    return f"80{instruction}0000{len(data) // 2:02X}{data}"


def select(applet):
    return f"00A40400{len(applet) // 2:02X}{applet}"


VERIFY, BALANCE, SHOW = apdu("20", PIN), "8050000000", "8020000000"


class CardClient(Client):
    """Whoever has the card with an applet on it."""

    # The applet's identifier, its parameters, and its packages, the API's first.
    APPLET, PARAMETERS, PACKAGES = None, "", ("card-api.image",)
    # Where the images of packages are.
    DIRECTORY = ""

    def begin(self):
        self.settle(f"apdu {select(self.APPLET)}")
        for name in self.PACKAGES:
            self.install(os.path.join(self.DIRECTORY, name))
        text = f"applet {self.APPLET} {self.APPLET} {self.PARAMETERS}"
        self.expect_word("ok", self.ask(text))
        self.expect_word("refused", self.ask(text))
        self.open()

    def install(self, path):
        with open(path, "rb") as file:
            image = file.read()
        for at in range(0, len(image), PIECE_BYTES):
            self.expect_word("ok", self.ask(f"load {at} {image[at:at + PIECE_BYTES].hex()}"))
        self.expect_word("ok", self.ask(f"package {len(image)}"))

    @staticmethod
    def expect_word(word, words):
        if words != [word]:
            raise Failure(f"the card says {words}, not {word}")

    def open(self):
        """Selects the applet."""
        self.expect_done(select(self.APPLET))

    def expect_done(self, text):
        if (words := self.ask(f"apdu {text}")) != ["ok", DONE]:
            raise Failure(f"{words} to {text}")

    def read(self, text, size):
        """The numbers of two bytes that answer an APDU, of `size` bytes together."""
        words = self.ask(f"apdu {text}")
        if words[0] != "ok" or len(words) != 2 or len(words[1]) != 2 * size + 4 or not words[1].endswith(DONE):
            raise Failure(f"{words} to {text}")
        return [int(words[1][at:at + 4], 16) for at in range(0, 2 * size, 4)]

    def settle_cut(self):
        """Selects the applet after a reset. Returns what the card said before and after its start."""
        earlier, late, selected = self.settle(f"apdu {select(self.APPLET)}")
        if selected != ["ok", DONE]:
            raise Failure(f"{selected} to SELECT")
        return earlier, late


class Holder(CardClient):
    """Whoever knows what is in the purse."""

    APPLET, PARAMETERS, PACKAGES = "F00000000201", PIN, (*CardClient.PACKAGES, "purse.image")
    EXPECTED = ("cut, absent", "cut after its answer", DONE, NO_MONEY)

    def __init__(self, machine, seed):
        super().__init__(machine, seed)
        self.balance, self.debits = 0, 0

    def open(self):
        """Selects the purse, pays nothing yet, and tells who its holder is."""
        super().open()
        self.expect_done(VERIFY)

    def command(self):
        amount = self.rng.randrange(1, 1 << self.rng.randrange(2, 15))
        return f"apdu {apdu(self.rng.choice(['30', '40']), f'{amount:04X}')}"

    def after(self, text):
        """Balance and debits after a command, and its answer."""
        instruction, amount = text[7:9], int(text[-4:], 16)
        if instruction == "30":
            if self.balance + amount > BALANCE_MAX:
                return (self.balance, self.debits), NO_MONEY
            return (self.balance + amount, self.debits), DONE
        if amount > self.balance:
            return (self.balance, self.debits), NO_MONEY
        return (self.balance - amount, (self.debits + 1) & 0xFFFF), DONE

    def obey(self, text):
        answer = self.ask(text)
        (self.balance, self.debits), expected = self.after(text)
        if answer != ["ok", expected]:
            raise Failure(f"{answer} to {text}, not {expected}")
        self.tally[expected] += 1

    def found(self):
        return tuple(self.read(BALANCE, 4))

    def check(self):
        if self.found() != (self.balance, self.debits):
            raise Failure(f"the purse holds {self.found()}, not {(self.balance, self.debits)}")

    def look(self, text, sent, _):
        before, (after, expected) = (self.balance, self.debits), self.after(text)
        earlier, late = self.settle_cut()
        answer = f"{sent} ok {expected}"
        is_answered = answer in earlier
        # A command that is read after the reset finds no purse selected, and changes nothing.
        found = self.found()
        if found not in ([after] if is_answered else [before, after]):
            raise Failure(f"the purse holds {found}; it held {before}, and {text} was {'' if is_answered else 'not '}answered")
        self.balance, self.debits = found
        what = "without effect" if before == after else "whole" if found == after else "absent"
        is_late = any(line.startswith(f"{sent} ") for line in late)
        self.count(is_late, is_answered, f"cut, {what}")
        self.expect_done(VERIFY)


class Attempter(CardClient):
    """Whoever knows which number the applet has noted last, and which one its cells have.

    A transaction that is torn after its number was noted leaves that number and the cells of before. Nothing but the
    card's journal has the number then: a card that loses its journal at a reset never shows that state.
    """

    APPLET, PACKAGES = "F0000000F101", (*CardClient.PACKAGES, "attempts.image")
    EXPECTED = ("cut, absent", "cut, noted only", "cut after its answer", "committed", "aborted")
    NUMBER_BYTES, CELLS = 2, 16

    def __init__(self, machine, seed):
        super().__init__(machine, seed)
        self.noted, self.cell = 0, 0

    def command(self):
        instruction = self.rng.choice(["10", "10", "11"])
        return f"apdu {apdu(instruction, f'{(self.noted + 1) & 0xFFFF:04X}')}"

    def after(self, text):
        """What is noted and in the cells after a command, and what becomes of its transaction."""
        number = int(text[-4:], 16)
        return ((number, number), "committed") if text[7:9] == "10" else ((number, self.cell), "aborted")

    def obey(self, text):
        (self.noted, self.cell), what = self.after(text)
        self.expect_done(text.split(" ")[1])
        self.tally[what] += 1

    def found(self):
        noted, *cells = self.read(SHOW, self.NUMBER_BYTES * (1 + self.CELLS))
        if len(set(cells)) != 1:
            raise Failure(f"a part of a transaction is there: the cells are {cells}, and {noted} was noted")
        return noted, cells[0]

    def check(self):
        if self.found() != (self.noted, self.cell):
            raise Failure(f"the card has {self.found()}, not {(self.noted, self.cell)}")

    def look(self, text, sent, _):
        before, (after, what) = (self.noted, self.cell), self.after(text)
        earlier, late = self.settle_cut()
        is_answered = f"{sent} ok {DONE}" in earlier
        possible = {after: what}
        if not is_answered:
            possible |= {before: "absent"}
            # An ABORT that was torn may have come to its end, where the journal is not needed any more.
            possible |= {(after[0], before[1]): "noted only"} if what == "committed" else {}
        found = self.found()
        if found not in possible:
            answered = "answered" if is_answered else "not answered"
            raise Failure(f"the card has {found}; it had {before}, and {text} was {answered}")
        self.noted, self.cell = found
        is_late = any(line.startswith(f"{sent} ") for line in late)
        self.count(is_late, is_answered, f"cut, {possible[found]}")
