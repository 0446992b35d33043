"""What tools/lookup-cycles computes: requests from a trace, and cycles from a log of executed instructions."""

import re
import struct
import sys

# Requests that the flash has room for, beside their number and the bytes of the code.
REQUESTS_MAX = (128 * 1024 - 8) // 2


def requests(page_bytes, runs_file, wanted, out_file):
    """Twice as many requests of cache pages as wanted, from the middle of a trace."""
    with open(runs_file, "rb") as file:
        records = file.read()
    pages, code_bytes, last = [], 0, None
    for address, length, _ in struct.iter_unpack("<IHH", records):
        code_bytes = max(code_bytes, address + length)
        for page in range(address // page_bytes, (address + length - 1) // page_bytes + 1):
            if page != last:
                pages.append(page)
                last = page
    count = 2 * wanted
    if count > min(REQUESTS_MAX, len(pages)):
        sys.exit(f"{wanted} requests are too many: the trace has {len(pages)}, the part has room for {REQUESTS_MAX // 2}")
    start = (len(pages) - count) // 2
    with open(out_file, "wb") as file:
        file.write(struct.pack("<II", count, code_bytes))
        file.write(struct.pack(f"<{count}H", *pages[start:start + count]))


def registers(operands):
    """Registers of a list in braces."""
    count = 0
    for part in re.search(r"{(.*)}", operands).group(1).split(","):
        first, _, last = part.strip().partition("-")
        count += int(last.strip()[1:]) - int(first[1:]) + 1 if last else 1
    return count


def cycles_of(name, operands):
    """Cycles of an instruction, and those of a branch that is taken (Cortex-M0 Technical Reference Manual, table 3-1)."""
    if name in ("ldm", "stm", "ldmia", "stmia", "push", "pop"):
        count = registers(operands)
        return (3 + count, 3 + count) if "pc" in operands else (1 + count, 1 + count)
    if name.startswith(("ldr", "str")):
        return 2, 2
    if name in ("bl",):
        return 4, 4
    if name in ("bx", "blx"):
        return 3, 3
    if re.fullmatch(r"b(eq|ne|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)?", name):
        return 1, 3
    if name in ("mov", "add") and operands.startswith("pc"):
        return 3, 3
    if name in ("dmb", "dsb", "isb", "mrs", "msr"):
        return 4, 4
    if re.fullmatch(r"(mov|mvn|add|sub|rsb|adc|sbc|mul|cmp|cmn|tst|and|orr|eor|bic|lsl|lsr|asr|ror|sxt[bh]|uxt[bh]|rev(16|sh)?|adr|nop|cps.*)s?", name):
        return 1, 1
    sys.exit(f"no cycles are known of {name} {operands}")


def cycles(page_bytes, code_file, wanted):
    """Reads addresses of executed instructions, and adds up those of each request's view."""
    code, marks, label = {}, {}, None
    for line in open(code_file):
        if match := re.match(r"[0-9a-f]+ <(.*)>:", line):
            label = match.group(1)
        elif match := re.match(r" *([0-9a-f]+):\s+(\S+)\s*(.*)", line):
            address, name, operands = int(match.group(1), 16), match.group(2), match.group(3).strip()
            code[address] = (name, operands)
            if label in ("requested", "hit", "missed"):
                marks.setdefault(address, label) if label not in marks.values() else None
            label = label if label not in ("requested", "hit", "missed") else None
    if sorted(marks.values()) != ["hit", "missed", "requested"]:
        sys.exit(f"functions are missing: {marks}")
    totals = {"hit": [], "missed": []}
    prices = {}
    current, before, seen = None, None, 0
    for line in sys.stdin:
        match = re.match(r"Trace .*\[[0-9a-f]*/([0-9a-f]+)/", line)
        if not match:
            continue
        address = int(match.group(1), 16)
        if before is not None and current is not None:
            price = prices.get(before)
            if price is None:
                price = prices[before] = cycles_of(*code[before])
            current += price[1] if address not in (before + 2, before + 4) else price[0]
        mark = marks.get(address)
        if mark == "requested":
            current, seen = 0, seen + 1
        elif mark:
            if seen > wanted:
                totals[mark].append(current)
            current = None
        before = address
    if seen != 2 * wanted:
        sys.exit(f"{seen} requests were seen of {2 * wanted}")
    hits, misses = totals["hit"], totals["missed"]
    mean = lambda values: f"{sum(values) / len(values):.1f}" if values else "-"
    most = lambda values: str(max(values)) if values else "-"
    print(f"{2048 // page_bytes:<8} {page_bytes:<10} {len(hits):>10} {len(misses):>10} {mean(hits):>12} {most(hits):>12} {mean(misses):>12} {most(misses):>12}")


if sys.argv[1] == "requests":
    requests(int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), sys.argv[5])
else:
    cycles(int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
