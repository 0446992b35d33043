"""Uses the purse on a served card as a PC/SC application: selection, PIN, debits, warm and cold resets, opensc-tool, and a
card that is pulled out in the middle of a command: the one who reads "pull" kills its server, and serves it again."""

import subprocess
import sys
import time

from smartcard.Exceptions import SmartcardException
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


def debit_until_it_fails(connection):
    """Says that the card is gone when a debit is not answered; each that is counts as acknowledged."""
    global acknowledged
    while True:
        try:
            data, sw1, sw2 = connection.transmit(toBytes("80 40 00 00 02 00 01"))
        except SmartcardException:
            return True
        if (sw1, sw2) != (0x90, 0):
            raise SystemExit(f"a debit answers {sw1:02X}{sw2:02X}")
        acknowledged += 1


def selected():
    """A connection to the card that is in the reader again, with the purse selected."""
    connection = connect()
    data, sw1, sw2 = connection.transmit(toBytes(select))
    return connection if (sw1, sw2) == (0x90, 0) else None


connection = connect()
assert toHexString(connection.getATR()) == atr, connection.getATR()
expect(connection, balance, "69 99")
expect(connection, select, "90 00")
expect(connection, "80 40 00 00 02 00 01", "69 82")
expect(connection, "80 20 00 00 04 39 39 39 39", "63 C2")
expect(connection, verify, "90 00")
expect(connection, "80 30 00 00 02 75 30", "90 00")
expect(connection, "80 40 00 00 02 00 64", "90 00")
expect(connection, balance, "74 CC 00 01 90 00")
fastest = 1.0
for _ in range(50):
    start = time.monotonic()
    expect(connection, balance, "74 CC 00 01 90 00")
    fastest = min(fastest, time.monotonic() - start)
# An acknowledgement that is put off takes 40 ms in each of them.
assert fastest < 0.03, f"{fastest * 1000:.1f} ms a command at least"
connection.disconnect()

for disposition in (SCARD_RESET_CARD, SCARD_UNPOWER_CARD):
    connection = connect(disposition)
    connection.disconnect()
    connection = connect()
    # A reset forgets what was selected and that the PIN was shown, and keeps the money.
    expect(connection, balance, "69 99")
    expect(connection, select, "90 00")
    expect(connection, "80 40 00 00 02 00 01", "69 82")
    expect(connection, balance, "74 CC 00 01 90 00")
    connection.disconnect()

connection = connect()
# More than is spent until a card is pulled out: a debit of 1 takes some 100 µs.
money, acknowledged, rounds = 29901, 1, 3
for _ in range(rounds):
    expect(connection, select, "90 00")
    expect(connection, verify, "90 00")
    print("pull", flush=True)
    until("the card is pulled out", lambda: debit_until_it_fails(connection), 60)
    connection.disconnect()
    connection = until("a card that answers", selected)
    data, sw1, sw2 = connection.transmit(toBytes(balance))
    left, debits = data[0] << 8 | data[1], data[2] << 8 | data[3]
    assert (sw1, sw2) == (0x90, 0) and left + debits == money, (data, sw1, sw2)
    assert acknowledged <= debits <= acknowledged + 1, f"{debits} debits, {acknowledged} acknowledged"
    acknowledged = debits
assert acknowledged > rounds, "no debit between two removals"
connection.disconnect()

tool = subprocess.run(
    ["opensc-tool", "--reader", "0", "--send-apdu", select.replace(" ", ":"), "--send-apdu", balance.replace(" ", ":")],
    capture_output=True, text=True, timeout=60)
assert tool.returncode == 0, tool
left = toHexString([left >> 8, left & 255, debits >> 8, debits & 255])
assert left in tool.stdout, tool.stdout
print(f"{protocol}: all clients served, {left}")
