// The panels of ordered indexes: levels in the order of keys, cells of turnstiles, entries, and a search.

PANELS.levels = ["Levels", () => showLevels()];
PANELS.turnstiles = ["Turnstiles", () => showTurnstiles()];
PANELS.keys = ["Keys", () => showKeys()];

/** Places of the picture of levels: boxes of objects, a column each, and rows of levels. */
const TOWER = { left: 46, wide: 58, step: 96, high: 20, row: 38, below: 34 };
const CELLS = { f: "free", u: "not sealed", d: "dead", x: "malformed", b: "batch of changes", h: "head", o: "object" };

/** An element of a picture; one with `onclick` is a button, also for the keyboard. */
function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  const { onclick, ...rest } = attributes;
  for (const [key, value] of Object.entries(rest)) made.setAttribute(key, value);
  made.append(...children);
  if (onclick) {
    made.addEventListener("click", guarded(onclick));
    made.addEventListener("keydown", guarded((event) => {
      if (event.key === "Enter") onclick();
    }));
    made.setAttribute("role", "button");
    made.setAttribute("tabindex", "0");
  }
  return made;
}

const titled = (text) => drawn("title", {}, text);
const label = (x, y, text, more = {}) => drawn("text", { x, y, ...more }, text);

/** A field for a key with its value, and the button that goes with it. */
function keyField(id, text, button, key_bytes, onclick, value = null) {
  const input = element("input", { type: "text", id, size: 12, spellcheck: "false", autocomplete: "off",
    value: value ?? "", title: `${counted(key_bytes, "byte")}: hexadecimal digits, or text in quotes` });
  const go = element("button", { type: "button", id: `${id}-go`, onclick: () => onclick(input.value) }, button);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") go.click();
  });
  return [element("label", {}, `${text} `, input), go];
}

/** Shows objects from that of a key on, as the pointers of each level link them; and how a search for `key` went. */
function showLevels(from = null, key = null) {
  openPanel("levels", () => {
    const found = ask("levels", { from });
    const steps = key === null ? [] : ask("find", { key }).steps;
    const visits = new Map(steps.map(([at], number) => [at, number + 1]));
    const rows = found.objects.map((one) => row(addressButton(one.at), one.cell, one.low ?? "head of the list",
      String(one.level), one.low ? String(one.keys) : "", one.low ? `${one.slots} of ${found.slots}` : ""));
    const more = found.next
      ? element("button", { type: "button", id: "levels-more", onclick: () => showLevels(found.next) }, "Further objects") : "";
    return [
      element("p", { class: "buttons" },
        ...keyField("levels-from", "From key", "Show", found.key_bytes, (key) => showLevels(key)), more),
      element("div", { class: "wide" }, towers(found, visits)),
      element("p", {}, "A box is an object on a level; the numbers in it are its unit and cell. An arrow is a soft " +
        "pointer: it names a turnstile and the number of a cell, and means the cells of that number in all blocks of the " +
        "turnstile, so that it stays right when a block is moved."),
      table("Objects", ["Cell", "Unit and cell", "Low key", "Highest level", "Keys", "Slots written"], rows),
    ];
  });
}

/** The picture of levels. */
function towers(found, visits) {
  const { objects, levels, links } = found;
  const place = new Map(objects.map((one, number) => [one.at, TOWER.left + number * TOWER.step]));
  const right = TOWER.left + objects.length * TOWER.step;
  const top = (level) => 8 + (levels - 1 - level) * TOWER.row;
  const high = top(0) + TOWER.high + TOWER.below;
  const picture = drawn("svg", { width: right + 8, height: high, class: "towers", role: "group",
    "aria-label": `${counted(objects.length, "object")} on ${counted(levels, "level")}` });
  for (let level = 0; level < levels; level += 1) {
    const y = top(level) + TOWER.high / 2;
    picture.append(label(4, y + 4, `level ${level}`, { class: "pale" }));
    links[level].forEach(([at, cell, column], number) => {
      const to = links[level][number + 1];
      if (!place.has(at) && !(to && place.has(to[0]))) return;
      const from = place.has(at) ? place.get(at) + TOWER.wide : TOWER.left - 4;
      const end = to && place.has(to[0]) ? place.get(to[0]) : Math.max(from + TOWER.step - TOWER.wide, right);
      picture.append(arrow(from, end, y, column, to ? `cell ${to[1]}` : "the head: this is the last object"));
    });
  }
  for (const one of objects) picture.append(tower(one, place.get(one.at), top, visits.get(one.at)));
  return picture;
}

/** A soft pointer, which leads to the cells that it means. */
function arrow(from, to, y, column, target) {
  const [turnstile, cell] = column.split(".");
  return drawn("g", { class: "arrow", onclick: () => showTurnstiles(Number(turnstile), column) },
    titled(`A soft pointer to turnstile ${turnstile}, cell ${cell}: ${target}`),
    drawn("rect", { x: from, y: y - 13, width: Math.max(1, to - from), height: 22, class: "clear" }),
    drawn("line", { x1: from, y1: y, x2: to - 5, y2: y }),
    drawn("path", { d: `M ${to} ${y} l -7 -4 v 8 z` }),
    label(from + 4, y - 4, column));
}

function tower(one, x, top, visit) {
  const kind = one.low === null ? "list-head" : "object";
  const what = one.low === null ? "head of the list" : `object from key ${one.low} on, ${counted(one.keys, "key")}`;
  const group = drawn("g", { class: `tower ${kind}${visit ? " visited" : ""}`, onclick: () => showAddress(one.at),
    "aria-label": `cell ${one.cell}, ${what}, on levels 0 to ${one.level}` }, titled(`cell ${one.cell}: ${what}`));
  for (let level = 0; level <= one.level; level += 1) {
    group.append(drawn("rect", { x, y: top(level), width: TOWER.wide, height: TOWER.high, rx: 3 }),
      label(x + TOWER.wide / 2, top(level) + 14, one.cell, { "text-anchor": "middle", class: "on-box" }));
  }
  const y = top(0) + TOWER.high;
  const low = one.low === null ? "head" : one.low.length > 10 ? `…${one.low.slice(-9)}` : one.low;
  group.append(label(x + TOWER.wide / 2, y + 13, low, { "text-anchor": "middle" }),
    label(x + TOWER.wide / 2, y + 27, one.low === null ? "" : counted(one.keys, "key"),
      { "text-anchor": "middle", class: "pale" }));
  if (visit) group.append(label(x + TOWER.wide - 2, top(one.level) - 1, `${visit}.`, { "text-anchor": "end", class: "step" }));
  return group;
}

/** Shows turnstiles from one on: each block is a row of cells. `column` is what a pointer means. */
function showTurnstiles(first = 0, column = null) {
  openPanel("turnstiles", () => {
    const found = ask("turnstiles", { first });
    const numbers = [...new Set(found.blocks.map((block) => block.turnstile))];
    const pictures = numbers.flatMap((number) => {
      const blocks = found.blocks.filter((block) => block.turnstile === number);
      return [element("h3", {}, `Turnstile ${number}`), element("div", { class: "wide" }, grid(blocks, column))];
    });
    const rows = found.blocks.map((block) => row(String(block.turnstile), addressButton(block.at), String(block.unit),
      block.role, String(block.erases ?? ""), String(block.live), String(block.dead), String(block.free)));
    const to = (number, id, text) => element("button", { type: "button", id, onclick: () => showTurnstiles(number) }, text);
    return [
      element("p", { class: "buttons" }, first > 0 ? to(0, "turnstiles-first", "All from the first") : "",
        found.next === null ? "" : to(found.next, "turnstiles-more", "Further turnstiles")),
      element("p", {}, column
        ? `The marked column is what the pointer ${column} means: of cell ${column.split(".")[1]} in all blocks, the ` +
          "live object on the level that comes next."
        : "A row is a block, a square a cell. One block of each turnstile is spare: a block that is reclaimed is moved " +
          "there, each live cell to the cell of its number."),
      legendOf([["list-head", "head of the list"], ["object", "object"], ["batch", "batch"], ["dead", "dead"],
        ["unknown", "not whole"], ["row", "free"]]),
      ...pictures,
      table("Blocks", ["Turnstile", "Cells at", "Unit", "Is", "Erases by identity", "Live", "Dead", "Free"], rows),
    ];
  });
}

/** Blocks of a turnstile as rows of cells. */
function grid(blocks, column) {
  const most = Math.max(1, ...blocks.map((block) => block.cells.length));
  const size = Math.max(5, Math.min(16, Math.floor(560 / most)));
  const left = 150;
  const picture = drawn("svg", { width: left + most * size + 8, height: blocks.length * (size + 4) + 8, class: "grid",
    role: "group", "aria-label": `${counted(blocks.length, "block")} of ${counted(most, "cell")}` });
  blocks.forEach((block, number) => {
    const y = 4 + number * (size + 4);
    picture.append(label(0, y + size / 2 + 4, `${block.unit}: ${block.role}`));
    [...block.cells].forEach((letter, cell) => {
      const at = block.at + cell * block.cell_bytes;
      const pale = block.counts || letter === "f" ? "" : " obsolete";
      picture.append(drawn("rect", { x: left + cell * size, y, width: size - 1, height: size, class: `cell-${letter}${pale}`,
        onclick: () => showAddress(at), "aria-label": `cell ${block.unit}.${cell}: ${CELLS[letter]}` },
        titled(`cell ${block.unit}.${cell}: ${CELLS[letter]}`)));
    });
  });
  const [turnstile, cell] = (column ?? "").split(".").map(Number);
  if (column && blocks[0].turnstile === turnstile) {
    picture.append(drawn("rect", { x: left + cell * size - 2, y: 1, width: size + 3, height: blocks.length * (size + 4) + 2,
      class: "column", rx: 3 }));
  }
  return picture;
}

/** Shows entries of a range, and above them a search for a key. */
function showKeys(from = null, to = null, key = null) {
  openPanel("keys", () => {
    const listed = ask("keys", { from, to });
    const found = key === null ? null : ask("find", { key });
    const rows = listed.entries.map(([key, value, at, cell]) => row(
      element("button", { type: "button", onclick: () => find(key) }, key), digitsOf(value), readings(value),
      at === null ? "" : addressButton(at), cell ?? ""));
    const more = listed.next
      ? element("button", { type: "button", id: "keys-more", onclick: () => showKeys(listed.next, to) }, "Further entries") : "";
    const search = keyField("find", "Key", "Search", listed.key_bytes, find, found?.key);
    const [upper] = keyField("keys-to", "to", "", listed.key_bytes, () => {}, to);
    const range = keyField("keys-from", "From key", "Read the range", listed.key_bytes,
      (key) => showKeys(key, byId("keys-to").value), from);
    return [
      element("p", { class: "buttons" }, ...search), ...(found ? foundText(found) : []),
      element("p", { class: "buttons" }, range[0], upper, range[1], more),
      table("Entries", ["Key", "Value", "Reads as", "At", "Unit and cell"], rows),
    ];
  });
}

/** Looks a key up, and shows what the search read. */
function find(text) {
  const { key } = ask("find", { key: text });
  showKeys(key, null, key);
  say(byId("find-facts").textContent);
}

function foundText(found) {
  const rows = found.steps.map(([at, title, names, bytes], number) =>
    row(`${number + 1}.`, addressButton(at), title, names.join(", "), String(bytes)));
  const value = found.value === null ? "is not there" : `has the value ${found.value || "(empty)"}`;
  const facts = `Key ${found.key} ${value}. The search read ${counted(found.words, "word")} and followed ` +
    `${counted(found.pointers, "soft pointer")}. Of the cells that they mean, ${found.successful} led on, ${found.null} ` +
    `were free or dead, ${found.low} had an object on lower levels only, ${found.back} one that comes before, ` +
    `${found.over} one beyond the key.`;
  return [element("p", { id: "find-facts" }, facts), element("p", { class: "buttons" },
    element("button", { type: "button", id: "find-levels", onclick: () => showLevels(found.key, found.key) },
      "Show its way on the levels")),
  table("Cells that the search read", ["", "At", "Cell", "Reads", "Bytes"], rows)];
}
