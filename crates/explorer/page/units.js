// The units as rows of a canvas. Only rows in sight are drawn, and asked for once. A frame asks for rows as long as it
// has time; those that are left are blank up to a later frame.

const ROW = 18;
const LEFT = 92;
const RIGHT = 88;
const COLUMNS = 400;
/** Milliseconds of a frame in which rows are asked for. */
const ASKING_MS = 8;
const chip = {
  overview: null, kinds: {}, rows: new Map(), unit: 0, area: -1, areas: null, address: null, marked: null, most: 0,
  oldest: 0, newest: 0,
};
let colours = {};
let isDue = false;

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const others = ["map", "front", "pale", "mark", "row", "back", "obsolete"];
  const names = [...Object.values(chip.kinds).map(([name]) => name), ...others];
  colours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue("--" + name).trim()]));
}

/** What a row is: a unit, of a NAND part a block; as a title; and what is said of one of which nothing is known. */
const isOfBlocks = () => chip.overview?.units_are === "blocks";
const pieceName = () => isOfBlocks() ? "block" : "unit";
const pieceTitle = () => isOfBlocks() ? "Block" : "Unit";
const nothingOf = () => isOfBlocks() ? "nothing known" : "no head";

/** The legend, and the colours of the kinds of areas that this image has. */
function showKinds(kinds) {
  const shown = JSON.stringify(kinds);
  if (byId("legend").dataset.shown === shown) return;
  byId("legend").dataset.shown = shown;
  chip.kinds = Object.fromEntries(kinds.map(([letter, name, text]) => [letter, [name, text]]));
  readColours();
  const legend = kinds.map(([, name, text]) =>
    element("li", {}, element("i", { style: `background: var(--${name})` }), text));
  byId("legend").replaceChildren(...legend, element("li", {}, isOfBlocks()
    ? "pale: obsolete; right: erases" : "pale: obsolete; strong: newest; right: erases"));
}

/** Enables a button, or says to all why it is not enabled. */
function enable(id, isEnabled, why) {
  byId(id).disabled = !isEnabled;
  byId(id).title = isEnabled ? "" : why;
}

/** Shows what the program shows now. */
function refresh() {
  chip.overview = ask("overview");
  chip.rows.clear();
  chip.areas = null;
  const { part, within, unit_count, unit_bytes, units, units_are, content, erases, programs } = chip.overview;
  showKinds(chip.overview.kinds);
  showPanels(chip.overview.panels);
  chip.most = Math.max(1, ...units.map(([erased]) => erased));
  const sequences = units.map(([, , sequence]) => sequence).filter((sequence) => sequence !== null);
  chip.oldest = Math.min(...sequences, Infinity);
  chip.newest = Math.max(...sequences, 0);
  chip.unit = Math.min(chip.unit, unit_count - 1);
  const of = within ? ` (${units_are} ${within[0]} to ${within[1] - 1} of ${within[2]})` : "";
  byId("facts").textContent = `${part}${of}: ${counted(unit_count, units_are.slice(0, -1))} of ${unit_bytes} bytes, ${content}; ` +
    `${counted(programs, isOfBlocks() ? "page" : "word")} programmed, ${counted(erases, "erase")}`;
  byId("chip-title").textContent = isOfBlocks() ? "Blocks" : "Erase units";
  byId("units-help").textContent = `Arrow keys choose a ${pieceName()} and an area in it; Enter shows the bytes.`;
  byId("units-height").style.height = `${unit_count * ROW}px`;
  const { has_image, has_tour, is_mounted } = chip.overview;
  enable("export", has_image, "No file is made of such an image");
  enable("record", is_mounted, `Nothing can be played on this image: ${content}`);
  enable("tour", has_tour, "There is a tour of heaps and of sorted maps only: choose one of them under Example");
  describeUnit();
  renewPanel();
  redraw();
}

function rowOf(unit) {
  if (!chip.rows.has(unit)) chip.rows.set(unit, ask("rows", { first: unit, count: 1, columns: COLUMNS })[0]);
  return chip.rows.get(unit);
}

/** Asks for rows in sight, at least for one; what there is no time for is left to the next frame. */
function askForRows(first, last) {
  const end = performance.now() + ASKING_MS;
  for (let unit = first; unit < last; unit += 1) {
    if (chip.rows.has(unit)) continue;
    rowOf(unit);
    if (performance.now() >= end) {
      redraw();
      return;
    }
  }
}

function redraw() {
  if (isDue || !chip.overview) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    draw();
  });
}

/** How strongly a unit is coloured: the one that was opened last most, older ones less. */
function strength(sequence) {
  if (sequence === null || chip.newest <= chip.oldest) return 1;
  return 0.62 + 0.38 * ((sequence - chip.oldest) / (chip.newest - chip.oldest));
}

function draw() {
  const box = byId("units");
  const canvas = byId("canvas");
  const scale = window.devicePixelRatio || 1;
  const [width, height] = [box.clientWidth, box.clientHeight];
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
    [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
  }
  byId("units-height").style.height = `${chip.overview.unit_count * ROW}px`;
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  const first = Math.floor(box.scrollTop / ROW);
  const last = Math.min(chip.overview.unit_count, first + Math.ceil(height / ROW) + 1);
  askForRows(first, last);
  for (let unit = first; unit < last; unit += 1) drawRow(context, unit, unit * ROW - box.scrollTop, width);
}

function drawRow(context, unit, y, width) {
  const [erases, role, sequence] = chip.overview.units[unit];
  const strip = chip.rows.get(unit)?.strip ?? "";
  const room = width - LEFT - RIGHT;
  context.globalAlpha = 1;
  context.fillStyle = colours.front;
  context.fillText(`${unit}`, 6, y + ROW / 2);
  context.fillStyle = colours.pale;
  context.fillText((role ?? "").replace(/^turnstile (\d+): ([^,]*).*/, "t$1 $2"), 34, y + ROW / 2, LEFT - 38);
  context.fillStyle = colours.row;
  context.fillRect(LEFT, y + 2, room, ROW - 4);
  for (let from = 0; from < strip.length;) {
    let to = from + 1;
    while (strip[to] === strip[from]) to += 1;
    const letter = strip[from].toLowerCase();
    if (letter !== "e") {
      context.globalAlpha = strip[from] === letter ? strength(sequence) : Number(colours.obsolete);
      context.fillStyle = colours[chip.kinds[letter][0]];
      context.fillRect(LEFT + (room * from) / COLUMNS, y + 2, (room * (to - from)) / COLUMNS, ROW - 4);
    }
    from = to;
  }
  context.globalAlpha = 1;
  const x = width - RIGHT + 8;
  context.fillStyle = colours.row;
  context.fillRect(x, y + 5, 34, ROW - 10);
  context.fillStyle = colours.map;
  context.fillRect(x, y + 5, (34 * erases) / chip.most, ROW - 10);
  context.fillStyle = colours.pale;
  context.fillText(`${erases}`, x + 40, y + ROW / 2);
  if (unit === chip.unit) drawChosen(context, unit, y, room);
}

function drawChosen(context, unit, y, room) {
  context.strokeStyle = colours.mark;
  context.lineWidth = 1.5;
  context.strokeRect(LEFT - 1, y + 1, room + 2, ROW - 2);
  const area = areasOf(unit)[chip.area];
  if (!area) return;
  const { unit_bytes } = chip.overview;
  const from = ((area.at - unit * unit_bytes) / unit_bytes) * room;
  // Around the area: a frame on it would cover a single word.
  context.strokeStyle = colours.front;
  context.lineWidth = 2;
  context.strokeRect(LEFT + from - 2, y + 1, Math.max(2, (area.bytes / unit_bytes) * room) + 4, ROW - 2);
}

function areasOf(unit) {
  if (chip.areas?.unit !== unit) chip.areas = ask("unit", { unit });
  return chip.areas.areas;
}

/** The state of an area, after its text; places that are erased or free have none. */
const stateOf = ({ kind, state }) => ["erased", "free"].includes(kind) ? "" : `, ${state}`;

/** What a screen reader says of the chosen unit and area. */
function describeUnit() {
  const [erases, role] = chip.overview.units[chip.unit];
  const area = chip.area < 0 ? null : areasOf(chip.unit)[chip.area];
  const text = area
    ? `${area.text}${stateOf(area)}, ${counted(area.bytes, "byte")} at ${hexadecimal(area.at)}`
    : `${pieceTitle()} ${chip.unit}, ${role ?? nothingOf()}, erased ${times(erases)}`;
  byId("unit-now").textContent = text;
  return text;
}

/** Chooses a unit and an area in it, and shows them. */
function choose(unit, area) {
  const before = chip.unit;
  chip.unit = Math.max(0, Math.min(chip.overview.unit_count - 1, unit));
  chip.area = Math.max(-1, Math.min(areasOf(chip.unit).length - 1, area));
  const box = byId("units");
  const top = chip.unit * ROW;
  if (top < box.scrollTop) box.scrollTop = top;
  if (top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW - box.clientHeight;
  describeUnit();
  if (chip.unit !== before) renewPanel();
  redraw();
}

/** Chooses what is at an address of the part. */
function chooseAddress(address) {
  const unit = Math.floor(address / chip.overview.unit_bytes);
  choose(unit, areasOf(unit).findIndex((area) => area.at <= address && address < area.at + area.bytes));
}

function listenToUnits() {
  const box = byId("units");
  box.addEventListener("scroll", redraw, { passive: true });
  new ResizeObserver(redraw).observe(box);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readColours();
    redraw();
  });
  box.addEventListener("click", guarded((event) => {
    if (!chip.overview) return;
    const bounds = box.getBoundingClientRect();
    const unit = Math.floor((event.clientY - bounds.top + box.scrollTop) / ROW);
    if (unit >= chip.overview.unit_count) return;
    const { unit_bytes } = chip.overview;
    const room = box.clientWidth - LEFT - RIGHT;
    const share = (event.clientX - bounds.left - LEFT) / room;
    choose(unit, -1);
    if (share < 0 || share >= 1 || !areasOf(unit).length) showUnit();
    else showAddress(unit * unit_bytes + Math.floor(share * unit_bytes));
  }));
  box.addEventListener("keydown", guarded((event) => {
    if (!chip.overview) return;
    const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -20, PageDown: 20, Home: -Infinity, End: Infinity };
    if (event.key in steps) choose(chip.unit + steps[event.key], -1);
    else if (event.key === "ArrowRight") choose(chip.unit, chip.area + 1);
    else if (event.key === "ArrowLeft") choose(chip.unit, chip.area - 1);
    else if (event.key === "Enter" && chip.area >= 0) showAddress(areasOf(chip.unit)[chip.area].at);
    else if (event.key === "Enter") showUnit();
    else return;
    event.preventDefault();
  }));
}
