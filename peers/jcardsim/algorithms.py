"""Prints commands for the test applet that computes by any algorithm: every number of one, and keys and data of many
lengths, drawn from a fixed seed."""

import random

RANDOM = random.Random(5)
DIGEST, AES_CODE, DES_CODE, HMAC, AES, DES, CHECKSUM = 1, 2, 3, 4, 5, 6, 7


def drawn(count):
    return bytes(RANDOM.randrange(256) for _ in range(count))


def command(instruction, algorithm, first, key, vector, data):
    given = bytes([len(key)]) + key + bytes([len(vector)]) + vector + data
    print(f"80{instruction:02X}{algorithm:02X}{first:02X}{len(given):02X} {given.hex().upper()} 00")


print("00A4040007 F0000000050001")
for algorithm in range(9):
    for length in (0, 1, 55, 56, 64, 111, 120, 200):
        command(DIGEST, algorithm, length // 3, b"", b"", drawn(length))
for instruction, keys, block, algorithms in (
    (AES, (16, 24, 32), 16, range(1, 34)),
    (DES, (8, 16, 24), 8, range(1, 20)),
):
    for algorithm in algorithms:
        for key in keys:
            for length in (16, 48, 7):
                for vector in (0, block):
                    command(instruction, algorithm, 5, drawn(key), drawn(vector), drawn(length))
for algorithm in range(1, 50):
    for instruction, keys in ((AES_CODE, (16, 24, 32)), (DES_CODE, (8, 16, 24)), (HMAC, (64, 128))):
        for key in keys:
            for length in (16, 48, 7):
                command(instruction, algorithm, 5, drawn(key), b"", drawn(length))
for algorithm in range(4):
    for length in (0, 1, 9, 100):
        command(CHECKSUM, algorithm, length // 2, b"", b"", drawn(length))
