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


# Each program with its package, target, board and client.
PROGRAMS = {
    "purse": ("microbit", "thumbv6m-none-eabi", resets.MICROBIT, lambda _: Payer),
    "sensor_log": ("microbit", "thumbv6m-none-eabi", resets.MICROBIT, lambda _: Reader),
    "c_purse": ("mps2-an385-c", None, resets.MPS2, lambda _: Payer),
    "card": ("mps2-an385", "thumbv7m-none-eabi", resets.MPS2, card.of_packages),
}


def main():
    parser = argparse.ArgumentParser(prog="tools/firmware-test", description=__doc__)
    parser.add_argument("--resets", type=int, default=300, help="resets of each program that is reset")
    parser.add_argument("--seed", type=int, default=2006, help="what is random follows from it, but for times")
    parser.add_argument("--only", action="append", choices=PROGRAMS, help="a program to run, instead of all")
    parser.add_argument("--parse", action="store_true", help="run nothing: say whether the arguments can be")
    parser.add_argument("--packages", nargs="+", default=[], help="images of packages for the card, the API's first")
    arguments = parser.parse_args()
    if arguments.parse:
        return
    for name in arguments.only or PROGRAMS:
        package, target, board, client_of = PROGRAMS[name]
        client = client_of(arguments.packages)
        began = time.monotonic()
        try:
            resets.run(name, built(package, target, name), board, client, arguments.resets, arguments.seed)
        except Failure as failure:
            sys.exit(f"{name}: {failure}\n    again: tools/firmware-test --resets {arguments.resets} "
                     f"--seed {arguments.seed} --only {name}")
        print(f"{name}: passed in {time.monotonic() - began:.0f} seconds", flush=True)


if __name__ == "__main__":
    main()
