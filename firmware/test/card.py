"""Installs a purse on the card of the MPS2, and pays with it by APDUs, with resets in the middle."""

from machine import Failure
from resets import Client

APPLET = "F00000000201"
PIN = "31323334"
BALANCE_MAX = 30000
# Bytes of a package that a line takes.
PIECE_BYTES = 256
DONE, NO_MONEY = "9000", "6985"


def apdu(instruction, data=""):
    return f"80{instruction}0000{len(data) // 2:02X}{data}"


SELECT = f"00A40400{len(APPLET) // 2:02X}{APPLET}"
VERIFY, BALANCE = apdu("20", PIN), "8050000000"


class Holder(Client):
    """Whoever has the card, and knows what is in its purse."""

    EXPECTED = ("cut, absent", "cut after its answer", DONE, NO_MONEY)
    PACKAGES = ()

    def __init__(self, machine, seed):
        super().__init__(machine, seed)
        self.balance, self.debits = 0, 0

    def begin(self):
        self.settle(f"apdu {SELECT}")
        for path in self.PACKAGES:
            self.install(path)
        self.expect_word("ok", self.ask(f"applet {APPLET} {APPLET} {PIN}"))
        self.expect_word("refused", self.ask(f"applet {APPLET} {APPLET} {PIN}"))
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
        """Selects the purse, pays nothing yet, and tells who its holder is."""
        for text in (SELECT, VERIFY):
            if (words := self.ask(f"apdu {text}")) != ["ok", DONE]:
                raise Failure(f"{words} to {text}")

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
        words = self.ask(f"apdu {BALANCE}")
        if words[0] != "ok" or len(words) != 2 or not words[1].endswith(DONE) or len(words[1]) != 12:
            raise Failure(f"{words} to BALANCE")
        return int(words[1][:4], 16), int(words[1][4:8], 16)

    def check(self):
        if self.found() != (self.balance, self.debits):
            raise Failure(f"the purse holds {self.found()}, not {(self.balance, self.debits)}")

    def look(self, text, sent, _):
        before, (after, expected) = (self.balance, self.debits), self.after(text)
        earlier, late, selected = self.settle(f"apdu {SELECT}")
        if selected != ["ok", DONE]:
            raise Failure(f"{selected} to SELECT")
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
        if self.ask(f"apdu {VERIFY}") != ["ok", DONE]:
            raise Failure("the PIN is not taken")


def of_packages(paths):
    """A holder who installs these packages."""
    return type("Holder", (Holder,), {"PACKAGES": paths})
