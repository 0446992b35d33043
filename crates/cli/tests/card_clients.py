"""Uses the purse on a served card as a PC/SC application: selection, PIN, debits, warm and cold resets, opensc-tool."""

import subprocess
import sys
import time

from smartcard.scard import SCARD_LEAVE_CARD, SCARD_RESET_CARD, SCARD_UNPOWER_CARD
from smartcard.System import readers
from smartcard.util import toBytes, toHexString

protocol = sys.argv[1]
atr = {"t0": "3B 00", "t1": "3B 80 01 81"}[protocol]
select = "00 A4 04 00 06 F0 00 00 00 02 01"
verify = "80 20 00 00 04 31 32 33 34"
balance = "80 50 00 00 04"


def until(what, attempt, seconds=30):
    """Repeats an attempt until it gives something: a service has to come up, a card to be seen."""
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
    data, sw1, sw2 = connection.transmit(toBytes(command))
    got = toHexString(data + [sw1, sw2])
    assert got == answer, f"{command}: {got}, not {answer}"


connection = connect()
assert toHexString(connection.getATR()) == atr, connection.getATR()
expect(connection, balance, "69 99")
expect(connection, select, "90 00")
expect(connection, "80 40 00 00 02 00 01", "69 82")
expect(connection, "80 20 00 00 04 39 39 39 39", "63 C2")
expect(connection, verify, "90 00")
expect(connection, "80 30 00 00 02 03 E8", "90 00")
expect(connection, "80 40 00 00 02 00 64", "90 00")
expect(connection, balance, "03 84 00 01 90 00")
start = time.monotonic()
for _ in range(50):
    expect(connection, balance, "03 84 00 01 90 00")
each = (time.monotonic() - start) / 50
assert each < 0.03, f"{each * 1000:.1f} ms a command"
connection.disconnect()

for disposition in (SCARD_RESET_CARD, SCARD_UNPOWER_CARD):
    connection = connect(disposition)
    connection.disconnect()
    connection = connect()
    # A reset forgets what was selected and that the PIN was shown, and keeps the money.
    expect(connection, balance, "69 99")
    expect(connection, select, "90 00")
    expect(connection, "80 40 00 00 02 00 01", "69 82")
    expect(connection, balance, "03 84 00 01 90 00")
    connection.disconnect()

tool = subprocess.run(
    ["opensc-tool", "--reader", "0", "--send-apdu", select.replace(" ", ":"), "--send-apdu", balance.replace(" ", ":")],
    capture_output=True, text=True, timeout=60)
assert tool.returncode == 0, tool
assert "03 84 00 01" in tool.stdout, tool.stdout
print(f"{protocol}: all clients served")
