"""Drives a served echo card as a PC/SC application: enumeration, ATR, APDUs of every case, resets, removal."""

import subprocess
import sys
import time

from smartcard.Exceptions import CardConnectionException, NoCardException
from smartcard.scard import SCARD_LEAVE_CARD, SCARD_RESET_CARD, SCARD_UNPOWER_CARD
from smartcard.System import readers
from smartcard.util import toHexString

protocol = sys.argv[1]
atr = {"T0": [0x3B, 0x00], "T1": [0x3B, 0x80, 0x01, 0x81]}[protocol]


success = [0x90, 0x00]
pattern = [at % 251 for at in range(0x8000)]


def until(what, attempt, seconds=20):
    """Repeats an attempt until it gives something; a service has to come up, or a card to be seen."""
    end = time.monotonic() + seconds
    while True:
        try:
            found = attempt()
            if found:
                return found
        except Exception as error:
            if time.monotonic() > end:
                raise SystemExit(f"{what}: {error!r}")
        if time.monotonic() > end:
            raise SystemExit(f"{what}: nothing in {seconds} s")
        time.sleep(0.1)


def connect(disposition=SCARD_LEAVE_CARD):
    connection = until("a reader", lambda: [r for r in readers() if "Virtual PCD 00 00" in str(r)])[0].createConnection()
    until("a card", lambda: connection.connect(disposition=disposition) or True)
    return connection


def expect(connection, command, answer):
    data, sw1, sw2 = connection.transmit(command)
    got = data + [sw1, sw2]
    assert got == answer, f"{toHexString(command[:8])}: {toHexString(got[:8])}, {len(got)} bytes"


def counts(connection):
    data, sw1, sw2 = connection.transmit([0, 0x50, 0, 0, 3])
    assert (sw1, sw2) == (0x90, 0), (sw1, sw2)
    return data


def tool(*arguments):
    run = subprocess.run(["opensc-tool", "--reader", "0", *arguments], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run
    return run.stdout + run.stderr


connection = connect()
assert connection.getATR() == atr, connection.getATR()
expect(connection, [0, 1, 0, 0], success)
expect(connection, [0, 2, 0, 5, 5], pattern[:5] + success)
expect(connection, [0, 2, 1, 0, 0], pattern[:256] + success)
expect(connection, [0, 1, 0, 0, 2, 8, 9] if protocol == "T0" else [0, 1, 0, 0, 2, 8, 9, 0],
       [0x61, 2] if protocol == "T0" else [8, 9] + success)
if protocol == "T0":
    expect(connection, [0, 0xC0, 0, 0, 2], [8, 9] + success)
    expect(connection, [0, 2, 1, 4, 0], pattern[:256] + [0x61, 4])
    expect(connection, [0, 0xC0, 0, 0, 4], pattern[256:260] + success)
    expect(connection, [0, 2, 0, 5, 9], [0x6C, 5])
    expect(connection, [0, 2, 0, 5, 5], pattern[:5] + success)
else:
    expect(connection, [0, 1, 0, 0, 0, 0x7F, 0xFF] + pattern[:0x7FFF] + [0, 0], pattern[:0x7FFF] + success)
    expect(connection, [0, 2, 0x40, 0, 0, 0, 0], pattern[:0x4000] + success)


def after(disposition):
    """What a reset through PC/SC adds to the card's counts."""
    connection = connect()
    before = counts(connection)
    connection.disconnect()
    connection = connect(disposition)
    connection.disconnect()
    connection = connect()
    now = counts(connection)
    connection.disconnect()
    return [new - old for new, old in zip(now, before)]


connection.disconnect()
assert after(SCARD_LEAVE_CARD) == [0, 0, 0], after(SCARD_LEAVE_CARD)
warm, cold = after(SCARD_RESET_CARD), after(SCARD_UNPOWER_CARD)
assert warm[2] >= 1, f"no warm reset: {warm}"
assert cold[0] >= 1 and cold[1] >= 1, f"no cold reset: {cold}"


def next_card():
    """pcscd polls for cards, and fails commands until it has seen that the last one is gone."""
    connection = connect()
    expect(connection, [0, 2, 0, 5, 5], pattern[:5] + success)
    connection.disconnect()
    return True


# Removal in the middle of a command, and the next card.
for _ in range(3):
    connection = connect()
    try:
        connection.transmit([0, 0xDE, 0, 0])
        raise SystemExit("a removed card has answered")
    except CardConnectionException:
        pass
    until("the next card", next_card)

listed = subprocess.run(["opensc-tool", "--list-readers"], capture_output=True, text=True, timeout=60).stdout
assert "Virtual PCD" in listed and "Yes" in listed, listed
text = tool("--atr").strip()
assert [int(byte, 16) for byte in text.splitlines()[-1].split(":")] == atr, text
text = tool("--send-apdu", "00:02:00:04:04")
assert "SW1=0x90, SW2=0x00" in text and "00 01 02 03" in text, text
print(f"{protocol}: all clients served")
