"""Counts the money of a purse on a micro:bit that is reset in the middle of what it does."""

from machine import Failure
from resets import Client

ACCOUNTS = 8


class Books:
    """What the purse must hold: its accounts, and the number of transfers."""

    def __init__(self, accounts=(0,) * ACCOUNTS, transfers=0):
        self.values = [*accounts, transfers]

    def after(self, command):
        """The books after a command, and its answer."""
        name, *numbers = command.split(" ")
        numbers = [int(number) for number in numbers]
        *accounts, transfers = self.values
        if name == "credit":
            accounts[numbers[0]] += numbers[1]
            return Books(accounts, transfers), "ok"
        moves = {"transfer": lambda: [tuple(numbers)], "tidy": list,
                 "shift": lambda: [(at, (at + 1) % ACCOUNTS, numbers[0]) for at in range(ACCOUNTS)]}[name]()
        for source, target, amount in moves:
            if accounts[source] < amount:
                return self, "poor"
            accounts[source] -= amount
            accounts[target] += amount
        return Books(accounts, transfers + len(moves)), "ok"


class Payer(Client):
    """Whoever pays with the purse."""

    EXPECTED = ("cut, absent", "cut after its answer", "ok", "poor")

    def __init__(self, machine, seed):
        super().__init__(machine, seed)
        self.books, self.starts = Books(), 0

    def command(self):
        kind = self.rng.random()
        account, other = self.rng.sample(range(ACCOUNTS), 2)
        if kind < 0.25:
            return f"credit {account} {self.rng.randrange(1, 1000)}"
        if kind < 0.65:
            return f"transfer {account} {other} {self.rng.randrange(1, 800)}"
        return f"shift {self.rng.randrange(1, 200)}" if kind < 0.95 else "tidy"

    def begin(self):
        self.expect(self.settle("show")[2], [self.books], 1)

    def check(self):
        self.expect(self.ask("show"), [self.books], 0)

    def expect(self, words, possible, resets):
        """What the purse shows is one of the books that are possible. A start counts itself before it says that it is
        ready, and a reset may hit it in between.
        """
        *found, starts = [int(word) for word in words[1:]]
        holds = [books for books in possible if books.values == found]
        if words[0] != "ok" or not holds:
            raise Failure(f"the purse says {words}; possible are {[books.values for books in possible]}")
        if not self.starts + min(resets, 1) <= starts <= self.starts + resets:
            raise Failure(f"{starts} starts after {self.starts} and {resets} resets")
        self.books, self.starts = holds[0], starts

    def obey(self, text):
        answer = self.ask(text)
        self.books, expected = self.books.after(text)
        if answer != [expected]:
            raise Failure(f"{answer} to {text}, not {expected}")
        self.tally[expected] += 1

    def look(self, text, sent, resets):
        before, (after, expected) = self.books, self.books.after(text)
        answer = f"{sent} {expected}"
        earlier, late, words = self.settle("show")
        is_answered = answer in earlier + late
        self.expect(words, [after] if is_answered else [before, after], resets)
        what = "without effect" if after.values == before.values else "whole" if self.books is after else "absent"
        self.count(answer in late, is_answered, f"cut, {what}")
