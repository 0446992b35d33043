"""Counts instructions and stack of what programs for the MPS2 do, under QEMU, where each instruction takes the same time."""

import argparse
import random
import subprocess
import sys

import card
from main import built
from machine import Failure, Image, Machine
from resets import MPS2, Power

# An instruction takes 2¹⁰ ns of the machine's time, and nothing else takes any.
ICOUNT = ("-icount", "shift=10,sleep=off")
# Programs that count their own calls, and tell the host.
PROGRAMS = ("heap_counts", "index_counts", "nand_counts")
# Seconds that the slowest may take, on a busy machine.
PATIENCE = 900
# Debits and credits that are counted.
PAYMENTS = 200


def count_calls(name):
    path = built("mps2-an385", "thumbv7m-none-eabi", name)
    done = subprocess.run(
        ["qemu-system-arm", "-machine", MPS2.name, "-kernel", path, "-nodefaults", "-net", "none", "-display", "none",
         "-monitor", "none", "-semihosting-config", "enable=on,target=native", *ICOUNT],
        stdout=subprocess.PIPE, timeout=PATIENCE, text=True, check=False)
    print(done.stdout, end="", flush=True)
    if done.returncode != 0:
        raise Failure(f"{name} ends with {done.returncode}")


class Costs:
    """What commands of a kind took."""

    def __init__(self, name):
        self.name, self.instructions = name, []

    def __str__(self):
        mean = sum(self.instructions) // len(self.instructions)
        return f"{self.name:<44} {len(self.instructions):>7} {mean:>10} {max(self.instructions):>10}"


def count_commands():
    """Counts the commands of a purse on the card."""
    image = Image(built("mps2-an385", "thumbv7m-none-eabi", "card"))
    with Machine(image, MPS2.name, ICOUNT) as machine:
        power, holder = Power(machine, MPS2), card.Holder(machine, 2006)
        power.on()
        holder.begin()
        rng = random.Random(2006)
        kinds = {"SELECT": card.select(card.Holder.APPLET), "VERIFY": card.VERIFY, "BALANCE": card.BALANCE}
        costs = {name: Costs(f"APDU {name}") for name in (*kinds, "CREDIT", "DEBIT")}
        for _ in range(PAYMENTS):
            credit = rng.randrange(2, 100)
            kinds["CREDIT"] = card.apdu("30", f"{credit:04X}")
            kinds["DEBIT"] = card.apdu("40", f"{credit - 1:04X}")
            for name, text in kinds.items():
                words = holder.ask(f"apdu {text}")
                if words[0] != "ok" or not words[1].endswith(card.DONE):
                    raise Failure(f"{words} to {name}")
                costs[name].instructions.append(int(holder.ask("cost")[1]))
        print("-- card, 200 rounds; the purse's objects on the object heap, its code through a cache of 2 KB")
        for kind in costs.values():
            print(kind)
        machine.halt()
        power.look_at_stack()
        print(f"{'deepest stack of the card, the line included':<44} {'':>7} {'':>10} {'':>10} {power.stack:>8}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packages", required=True, help="the directory of images of packages for the card")
    card.CardClient.DIRECTORY = parser.parse_args().packages
    print(f"{'':<44} {'calls':>7} {'mean':>10} {'most':>10} {'stack':>8}")
    try:
        for name in PROGRAMS:
            count_calls(name)
        count_commands()
    except Failure as failure:
        sys.exit(str(failure))


if __name__ == "__main__":
    main()
