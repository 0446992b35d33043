"""Runs the programs for boards under QEMU, and compares all that they answer with models of their own."""

import argparse
import os
import sys
import time

import card
import resets
from machine import Failure
from purse import Payer
from sensor_log import Reader

HERE = os.path.dirname(os.path.abspath(__file__))


def built(package, target, name):
    """Where a program is that cargo has built, or make for no target."""
    built_for = [target, "release"] if target else []
    return os.path.join(HERE, "..", package, "target", *built_for, name)


MICROBIT = ("microbit", "thumbv6m-none-eabi")
CARD = ("mps2-an385", "thumbv7m-none-eabi", "card")
# Each test with the package, target and name of its program, the board and the client.
TESTS = {
    "purse": ((*MICROBIT, "purse"), resets.MICROBIT, Payer),
    "sensor_log": ((*MICROBIT, "sensor_log"), resets.MICROBIT, Reader),
    "c_purse": (("mps2-an385-c", None, "c_purse"), resets.MPS2, Payer),
    "card": (CARD, resets.MPS2, card.Holder),
    "card_journal": (CARD, resets.MPS2, card.Attempter),
}


def main():
    parser = argparse.ArgumentParser(prog="tools/firmware-test", description=__doc__)
    parser.add_argument("--resets", type=int, default=300, help="resets of each test")
    parser.add_argument("--seed", type=int, default=2006, help="what is random follows from it, but for times")
    parser.add_argument("--only", action="append", choices=TESTS, help="a test to run, instead of all")
    parser.add_argument("--parse", action="store_true", help="run nothing: say whether the arguments can be")
    parser.add_argument("--packages", default="", help="the directory of images of packages for the card")
    arguments = parser.parse_args()
    if arguments.parse:
        return
    card.CardClient.DIRECTORY = arguments.packages
    for name in arguments.only or TESTS:
        program, board, client = TESTS[name]
        began = time.monotonic()
        try:
            resets.run(name, built(*program), board, client, arguments.resets, arguments.seed)
        except Failure as failure:
            sys.exit(f"{name}: {failure}\n    again: tools/firmware-test --resets {arguments.resets} "
                     f"--seed {arguments.seed} --only {name}")
        print(f"{name}: passed in {time.monotonic() - began:.0f} seconds", flush=True)


if __name__ == "__main__":
    main()
