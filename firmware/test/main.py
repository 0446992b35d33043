"""Runs the programs for boards under QEMU, and compares all that they answer with models of their own."""

import argparse
import os
import sys
import time

import resets
from machine import Failure
from purse import Payer
from sensor_log import Reader

HERE = os.path.dirname(os.path.abspath(__file__))


def built(package, target, name):
    return os.path.join(HERE, "..", package, "target", target, "release", name)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--resets", type=int, default=300, help="resets of each program that is reset")
    parser.add_argument("--seed", type=int, default=2006, help="what is random follows from it, but for times")
    arguments = parser.parse_args()
    chip = "thumbv6m-none-eabi"
    tests = {
        name: lambda name=name, client=client: resets.run(
            name, built("microbit", chip, name), client, arguments.resets, arguments.seed)
        for name, client in (("purse", Payer), ("sensor_log", Reader))
    }
    for name, test in tests.items():
        began = time.monotonic()
        try:
            test()
        except Failure as failure:
            sys.exit(f"{name}: {failure}\n    again: tools/firmware-test --resets {arguments.resets} --seed {arguments.seed}")
        print(f"{name}: passed in {time.monotonic() - began:.0f} seconds", flush=True)


if __name__ == "__main__":
    main()
