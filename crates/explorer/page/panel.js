// The details: bytes and what they say, a unit's areas, and the document of the format. Each kind of image has panels
// of its own between them, which other scripts add to PANELS.
//
// A panel is opened with a function that makes its content. That of the open one is made anew whenever the chip, or the
// choice on it, has changed.

/** Panels by name: title, and what opens the panel. */
const PANELS = {
  bytes: ["Bytes", () => showBytes()],
  unit: ["Unit", () => showUnit()],
  format: ["Format", () => openPanel("format", null)],
};
/** The panel that is open, and what makes its content; `null` where it never changes. */
const shown = { panel: "bytes", content: null };
let tabs = [];

/** Lays out the tabs of an image: those that every one has, and its own. */
function showPanels(own) {
  const { formats } = chip.overview;
  const wanted = ["bytes", "unit", ...own, ...(formats.length ? ["format"] : [])];
  const isSame = wanted.join() === tabs.join() && (byId("format")?.dataset.of ?? "") === formats.join();
  if (isSame && byId("tab-unit").textContent === titleOf("unit")) return;
  tabs = wanted;
  byId("tabs").replaceChildren(...tabs.map(tabOf));
  byId("panels").replaceChildren(...tabs.map((tab) =>
    element("div", { id: tab, role: "tabpanel", "aria-labelledby": "tab-" + tab, tabindex: 0 })));
  if (formats.length) layOutFormats(formats);
  clearPanel();
}

const titleOf = (tab) => tab === "unit" ? pieceTitle() : PANELS[tab][0];

function tabOf(tab, number) {
  const button = element("button", { type: "button", role: "tab", id: "tab-" + tab, "aria-controls": tab,
    onclick: () => PANELS[tab][1]() }, titleOf(tab));
  button.addEventListener("keydown", guarded((event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const next = tabs[(number + step + tabs.length) % tabs.length];
    PANELS[next][1]();
    byId("tab-" + next).focus();
  }));
  return button;
}

/**
 * Opens a panel with the elements that `content` makes; nothing happens where that fails. Where the button that led here
 * is gone, the panel has the focus: what follows it is what it shows.
 */
function openPanel(name, content) {
  const wasInPanel = byId("panels").contains(document.activeElement);
  if (content) byId(name).replaceChildren(...content());
  Object.assign(shown, { panel: name, content });
  for (const tab of tabs) {
    const isShown = tab === name;
    byId(tab).hidden = !isShown;
    byId("tab-" + tab).setAttribute("aria-selected", String(isShown));
    byId("tab-" + tab).tabIndex = isShown ? 0 : -1;
  }
  if (wasInPanel && !byId(name).contains(document.activeElement)) byId(name).focus({ preventScroll: true });
}

/** Makes the content of the open panel anew, and leaves where people are in it and what they have typed. */
function renewPanel() {
  if (!shown.content) return;
  const panel = byId(shown.panel);
  const controls = () => [...panel.querySelectorAll("button, input, select, [tabindex]")];
  const [before, top] = [controls(), panel.scrollTop];
  const focused = before.indexOf(document.activeElement);
  try {
    panel.replaceChildren(...shown.content());
  } catch (error) {
    panel.replaceChildren(element("p", {}, error.message));
    return;
  }
  const after = controls();
  before.filter((one) => one.id && one.matches("input:not([type=file]), select")).forEach((one) => {
    const other = after.find(({ id }) => id === one.id);
    if (other) other.value = one.value;
  });
  panel.scrollTop = top;
  after[focused]?.focus({ preventScroll: true });
}

/** Forgets the details and the choice of another chip. */
function clearPanel() {
  [chip.unit, chip.area, chip.address] = [0, -1, null];
  if (!tabs.length) return;
  for (const tab of tabs) if (tab !== "format") byId(tab).replaceChildren();
  showBytes();
}

function row(...cells) {
  return element("tr", {}, ...cells.map((cell) => element("td", {}, cell)));
}

/** A table with a name, which a screen reader says. */
function table(name, titles, rows) {
  const head = element("tr", {}, ...titles.map((title) => element("th", { scope: "col" }, title)));
  return element("table", { "aria-label": name }, element("thead", {}, head), element("tbody", {}, ...rows));
}

const addressButton = (address) => element("button", { type: "button", onclick: () => showAddress(address) },
  hexadecimal(address));

/** Shows what is at an address: its bytes, and what each of them says. */
function showAddress(address) {
  [chip.address, chip.marked] = [address, null];
  showBytes();
  chooseAddress(address);
  byId("bytes").querySelector("tr.on")?.scrollIntoView({ block: "nearest" });
  say(byId("bytes").querySelector("h3").dataset.says);
}

function showBytes() {
  openPanel("bytes", () => chip.address === null
    ? [element("p", {}, `Choose an area of a ${pieceName()}.`)] : bytesOf(chip.address));
}

function bytesOf(address) {
  const found = ask("at", { address });
  const hex = hexOf(found);
  const rows = found.pieces.map((piece) => pieceRow(piece, found, hex));
  const length = counted(found.length, "byte");
  const title = element("h3", { "data-says": `${found.title}, ${length}` },
    `${found.title}: ${length} at ${hexadecimal(found.at)}, ${pieceName()} ${found.unit}`);
  const marked = chip.marked ?? (address === found.at ? null : address);
  const inside = marked === null ? null : rows.find(({ dataset }) => Number(dataset.at) <= marked &&
    marked < Number(dataset.at) + Number(dataset.bytes));
  if (inside) markPiece(inside, hex, found);
  const pieces = table("What the bytes say", ["Where", "What", "Says", "Reads as", ""], rows);
  return [title, hex, rows.length ? pieces : "No format describes these bytes."];
}

function hexOf(found) {
  const box = element("div", { class: "hex" });
  for (let at = 0; at < found.bytes.length / 2; at += 16) {
    const line = element("div");
    for (let byte = at; byte < Math.min(at + 16, found.bytes.length / 2); byte += 1) {
      line.append(element("span", { "data-at": byte }, found.bytes.slice(2 * byte, 2 * byte + 2)), " ");
    }
    box.append(element("b", {}, hexadecimal(found.at + at)), line);
  }
  return box;
}

/** Digits of a value: on one line where that is not too long. */
const digitsOf = (value) => element("code", value.length <= 16 ? { class: "short" } : {}, value);

/** A value as an unsigned number, as a signed one where that differs, and as text of two characters or more. */
function readings(digits) {
  const bytes = (digits.match(/../g) ?? []).map((pair) => parseInt(pair, 16));
  const read = [];
  if ([1, 2, 4, 8].includes(bytes.length)) {
    const number = bytes.reduceRight((rest, byte) => rest * 256n + BigInt(byte), 0n);
    const signed = BigInt.asIntN(8 * bytes.length, number);
    read.push(String(number), ...(signed === number ? [] : [String(signed)]));
  }
  const text = bytes.slice(0, bytes.findLastIndex((byte) => byte !== 0) + 1);
  if (text.length > 1 && text.every((byte) => byte >= 0x20 && byte < 0x7F)) {
    read.push(`"${String.fromCharCode(...text)}"`);
  }
  return read.join(", ");
}

function pieceRow(piece, found, hex) {
  const from = piece.at - found.at;
  const where = element("button", { type: "button", onclick: () => {
    chip.marked = piece.at;
    renewPanel();
  } },
    piece.bytes > 1 ? `${from}..${from + piece.bytes}` : `${from}`);
  const says = piece.to === null ? piece.value
    : element("button", { type: "button", onclick: () => showAddress(piece.to) }, piece.value);
  const line = element("button", { type: "button", onclick: () => showLine(piece.line, found), "aria-label":
    `the format's line for ${piece.name}` }, "§ " + piece.line.split(":")[0].split("/").at(-1));
  // A value may be followed by what is said of it: "46000000, void".
  const digits = /\bfield \d+$/.test(piece.name) ? piece.value.match(/^([0-9a-f]{2})+(?=,|$)/)?.[0] : null;
  const one = row(where, piece.name, says, digits ? readings(digits) : "", line);
  Object.assign(one.dataset, { at: piece.at, bytes: piece.bytes, line: piece.line });
  return one;
}

function markPiece(one, hex, found) {
  one.classList.add("on");
  const from = Number(one.dataset.at) - found.at;
  for (const byte of hex.querySelectorAll("span")) {
    const at = Number(byte.dataset.at);
    byte.classList.toggle("on", at >= from && at < from + Number(one.dataset.bytes));
  }
}

/** Shows the line of the format that describes a piece, and leads back to all pieces that it describes. */
function showLine(line, found) {
  openPanel("format", null);
  byId("format").querySelectorAll(".on").forEach((other) => other.classList.remove("on"));
  const [section, start] = [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)];
  const of = [...byId("format").querySelectorAll(`[data-section="${section}"]`)];
  const target = of.find((one) => one.dataset.start === start) ?? of.find((one) => one.dataset.start.startsWith(start));
  if (!target) throw new Error(`the format has no line ${line}`);
  target.classList.add("on");
  target.scrollIntoView({ block: "center" });
  target.title = "Click, or press Enter, to see the bytes that this line describes";
  const back = () => {
    showAddress(found.at);
    byId("bytes").querySelectorAll("tr[data-line]").forEach((one) => {
      one.classList.toggle("on", one.dataset.line === line);
    });
  };
  target.onclick = guarded(back);
  target.onkeydown = guarded((event) => {
    if (event.key === "Enter") back();
  });
  target.tabIndex = 0;
  target.focus({ preventScroll: true });
  say(`Format, section ${section}: ${target.textContent}`);
}

/** Shows the areas of the chosen unit or block. */
function showUnit() {
  openPanel("unit", () => {
    const rows = areasOf(chip.unit).map((area) =>
      row(addressButton(area.at), area.text, String(area.bytes), area.kind === "erased" ? "" : area.state));
    const [erases, role, sequence] = chip.overview.units[chip.unit];
    const since = sequence === null ? "" : `, sequence number ${sequence}`;
    const of = role ? role + since : nothingOf();
    return [
      element("h3", {}, `${pieceTitle()} ${chip.unit}: ${of}, erased ${times(erases)}`),
      table(`Areas of ${pieceName()} ${chip.unit}`, ["Address", "Holds", "Bytes", "State"], rows),
    ];
  });
}

/** The documents of the format, with the section and the start of each line noted on its element. */
function layOutFormats(names) {
  byId("format").dataset.of = names.join();
  byId("format").replaceChildren(...names.flatMap((name, number) => laidOut(name, number ? `${name}/` : "")));
}

function laidOut(name, prefix) {
  const made = [];
  let section = "";
  for (const block of byId("format-" + name).textContent.split("\n\n")) {
    const lines = block.trim().split("\n");
    const note = (one, start) => {
      Object.assign(one.dataset, { section, start });
      return one;
    };
    if (block.trim().startsWith("#")) {
      const number = lines[0].match(/^## (\d+)/)?.[1];
      section = number ? prefix + number : section;
      made.push(element(lines[0].startsWith("##") ? "h3" : "h2", {}, lines[0].replace(/^#+ /, "")));
    } else if (lines[0].startsWith("```")) {
      made.push(element("pre", {}, lines.slice(1, -1).join("\n")));
    } else if (lines[0].startsWith("|")) {
      const cells = lines.map((line) => line.slice(1, -1).split("|").map((cell) => cell.trim()));
      const rows = cells.slice(2).map((one) => note(row(...one), one[0]));
      made.push(table(section ? `${name}, section ${section.split("/").at(-1)}` : name, cells[0], rows));
    } else {
      made.push(note(element("p", {}, lines.join(" ").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[*`]/g, "")),
        lines.join(" ")));
    }
  }
  return made;
}
