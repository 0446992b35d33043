"""Compares a sensor log on a micro:bit, which is reset in the middle of what it does, with readings in a table."""

from machine import Failure
from resets import Client

# Readings until the log is full and drops old ones, and those of a page, which are dropped at once at most.
READINGS = 1300
PAGE_READINGS = 85
SECONDS_MAX = 1 << 32


def summary(readings, start, end):
    """The words that answer `sum`."""
    values = [value for second, value in readings.items() if start <= second < end]
    return [str(number) for number in (len(values), sum(values), min(values), max(values))] if values else ["0"]


class Reader(Client):
    """Whoever logs readings, and asks for sums."""

    EXPECTED = ("cut, absent", "cut after its answer", "dropped for a new one", "there", "absent")

    def __init__(self, machine, seed):
        super().__init__(machine, seed)
        self.readings, self.now = {}, 1_000

    def command(self):
        kind = self.rng.random()
        some = self.rng.choice([*self.readings, self.now])
        if kind < 0.75:
            self.now += self.rng.randrange(1, 60)
            return f"add {self.now} {self.rng.randrange(1000)}"
        if kind < 0.85:
            return f"add {some + self.rng.choice([0, 1])} {self.rng.randrange(1000)}"
        if kind < 0.95:
            return f"remove {some + self.rng.choice([0, 0, 1])}"
        return f"drop {sorted(self.readings)[min(20, len(self.readings) - 1)] if self.readings else 0}"

    def begin(self):
        self.settle("span")
        for _ in range(READINGS):
            self.now += self.rng.randrange(1, 60)
            self.obey(f"add {self.now} {self.rng.randrange(1000)}")
        self.check()

    def check(self):
        self.expect_range(0, SECONDS_MAX - 1)

    def expect_range(self, start, end):
        words = self.ask(f"sum {start} {end}")
        if words != ["ok", *summary(self.readings, start, end)]:
            raise Failure(f"{words} from {start} to {end}, not {summary(self.readings, start, end)}")

    def without_oldest(self, count):
        return {second: self.readings[second] for second in sorted(self.readings)[count:]}

    def expected(self, name, at):
        """The answer to a command, or None if the log chooses how much to drop."""
        if name == "remove":
            return ["ok"] if at in self.readings else ["absent"]
        if name == "drop":
            return ["ok", str(sum(second < at for second in self.readings))]
        return ["there"] if at in self.readings else None

    def after(self, text, answer):
        """The readings after a command with this answer, which must fit."""
        name, at, *value = text.split(" ")
        at, expected = int(at), self.expected(name, int(at))
        is_too_old = name == "add" and answer == ["old"] and at < min(self.readings, default=0)
        if answer != expected and (expected or answer[0] != "ok") and not is_too_old:
            raise Failure(f"{answer} to {text}, not {expected}")
        if name == "add" and answer[0] == "ok":
            dropped = int(answer[1])
            self.expect_dropped(dropped, at)
            return {**self.without_oldest(dropped), at: int(value[0])}
        gone = {"remove": lambda second: second == at, "drop": lambda second: second < at, "add": lambda _: False}[name]
        return {second: reading for second, reading in self.readings.items() if not gone(second)}

    def expect_dropped(self, dropped, at):
        """Only old readings make room, of one page at most, and only in a log that is full."""
        oldest = sorted(self.readings)[:dropped]
        if dropped and (dropped > PAGE_READINGS or oldest[-1] > at or len(self.readings) < READINGS / 4):
            raise Failure(f"{dropped} readings were dropped for one of second {at}: {oldest}")
        self.tally["dropped for a new one"] += dropped

    def obey(self, text):
        answer = self.ask(text)
        self.readings = self.after(text, answer)
        self.tally[answer[0]] += 1
        if self.rng.random() < 0.2:
            ends = sorted(self.rng.choices([*self.readings, self.now + 1], k=2))
            self.expect_range(*ends)

    def look(self, text, sent, _):
        before = self.readings
        earlier, late, span = self.settle("span")
        answers = [line.split(" ")[1:] for line in earlier + late if line.startswith(f"{sent} ")]
        if answers:
            self.readings = self.after(text, answers[0])
        else:
            self.readings = self.found_after(text, int(span[1]) if len(span) > 1 else SECONDS_MAX)
        self.check()
        what = "absent" if set(self.readings) <= set(before) and text.startswith("add") else "whole"
        is_late = any(line.startswith(f"{sent} ") for line in late)
        self.count(is_late, bool(answers), f"cut, {what}" if text.startswith("add") else "cut, of another command")

    def found_after(self, text, first):
        """The readings that a log holds in which the first one is of this second, after a command without an answer."""
        name, at, *value = text.split(" ")
        at = int(at)
        if name == "add":
            dropped = sum(second < first for second in self.readings if second != at)
            self.expect_dropped(dropped, at)
            absent = self.without_oldest(dropped)
            return {**absent, at: absent.get(at, int(value[0]))} if self.has(at) else absent
        whole = self.after(text, self.expected(name, at))
        if name == "remove":
            return whole if at in self.readings and not self.has(at) else self.readings
        return whole if first >= at else self.readings

    def has(self, second):
        return self.ask(f"sum {second} {second + 1}") != ["ok", "0"]
