// The recorded workload, the cut of the power, and the guided tour.

const SHAPES = [
  "nothing of it", "all of it", "one bit", "all but one bit", "some bits", "some bits of each word", "the first bytes",
  "the last bytes", "some bits, and unstable ones", "a few bits", "all but a few bits",
];
/** Of pages and blocks of NAND parts, in addition. */
const SHAPES_OF_NAND = [
  "all of it, with one to four unstable bits", "all of it, with 5 to 16 unstable bits",
  "some bits, of which half are lost before the next boot", "all but 5 to 16 bits, which change before the next boot",
];
const STEPS = 5;
let step = 0;

/** Shows only these of the sections above the chip. */
function showSections(...names) {
  for (const name of ["guide", "player", "power"]) byId(name).hidden = !names.includes(name);
  byId("return").hidden = !names.includes("player");
}

/** Whether a tour or a recording is shown, and not the image that was opened. */
const isAway = () => !byId("guide").hidden || !byId("player").hidden;

function record() {
  if (!byId("seed").checkValidity()) throw new Error(`Seed: ${byId("seed").validationMessage}`);
  const ofBlocks = isOfBlocks();
  const ofIndex = chip.overview.panels.includes("levels");
  const recorded = ask("record", { seed: Number(byId("seed").value), calls: ofBlocks ? 600 : ofIndex ? 400 : 120 });
  const slider = byId("slider");
  [slider.min, slider.max, slider.value] = [recorded.first, recorded.last, recorded.first];
  offerCuts();
  showSections("player");
  clearPanel();
  moveTo(recorded.first);
  if (ofBlocks) PANELS[chip.overview.panels.at(-1)][1]();
  say(`Recorded ${counted(recorded.calls.length, "call")}, ${counted(recorded.last - recorded.first, "operation")}`);
}

/** Offers what the image that is shown can be cut by: nothing where nothing is programmed. */
function offerCuts() {
  const isTrace = chip.overview.panels.includes("cache");
  const shapes = isOfBlocks() ? [...SHAPES, ...SHAPES_OF_NAND] : SHAPES;
  const select = byId("shape");
  if (select.options.length !== shapes.length) {
    const options = shapes.map((text, number) => element("option", { value: number }, text));
    select.replaceChildren(...options);
    select.value = 4;
  }
  byId("cut").hidden = byId("shape-label").hidden = isTrace;
  byId("slider-label").textContent = isTrace ? "Request of the trace" : "Operation of the part";
}

/** Shows the part after so many operations. */
function moveTo(operation) {
  const slider = byId("slider");
  slider.value = operation;
  const at = ask("position", { operation: Number(slider.value) });
  byId("position").textContent = `${slider.value - slider.min} of ${slider.max - slider.min}`;
  const before = at.without_operation.map((call) => `Just made, without an operation: ${call}. `).join("");
  byId("operation").textContent = before + (at.call ? `Next: ${at.operation} (${at.call})` : at.operation);
  slider.setAttribute("aria-valuetext", byId("operation").textContent);
  byId("cut").disabled = Number(slider.value) >= Number(slider.max);
  showSections("player");
  refresh();
}

/** Whether the slider was moved since the part was shown last. */
let isMoving = false;

/** Shows the part where the slider is, before something else happens there. */
function settle() {
  if (!isMoving) return;
  isMoving = false;
  moveTo(Number(byId("slider").value));
}

function cutPower() {
  settle();
  const [operation, shape] = [Number(byId("slider").value), Number(byId("shape").value)];
  const torn = ask("cut", { operation, shape, seed: Number(byId("seed").value) || 0 });
  refresh();
  const repairs = callsOf(chip.overview.mount);
  const left = torn.lost ? "The mount fails."
    : repairs ? `The mount will make ${repairs}.` : "The mount has nothing to repair.";
  showPower(`The power failed in: ${torn.operation} (${torn.call}); of what it was to change, it changed ` +
    `${byId("shape").selectedOptions[0].textContent}. ${left}`, "player", "power");
  byId("mount").disabled = torn.lost;
  say(byId("power-text").textContent);
}

/** What a mount does to the part, in words: nothing where it does nothing. */
function callsOf({ programs, erases }) {
  const of = [counted(programs, "program"), counted(erases, "erase")].filter((text) => !text.startsWith("0 "));
  return programs + erases > 0 ? `${counted(programs + erases, "call")} of the part: ${of.join(" and ")}` : "";
}

/** Says what happened to the power, above a button that mounts. */
function showPower(text, ...sections) {
  byId("power-text").textContent = text;
  byId("mount-list").replaceChildren();
  byId("mount").disabled = false;
  showSections(...sections);
}

function mount() {
  const calls = callsOf(chip.overview.mount);
  const done = ask("mount");
  byId("mount-list").replaceChildren(...done.operations.map((text) => element("li", {}, text)));
  byId("power-text").textContent = calls ? `The mount made ${calls}.` : "The mount changed nothing.";
  byId("power-text").focus();
  byId("mount").disabled = true;
  refresh();
  say(byId("power-text").textContent);
}

function showStep(number) {
  step = Math.max(0, Math.min(STEPS - 1, number));
  const stop = ask("tour", { step });
  byId("name").textContent = "The tour's example";
  byId("guide-title").textContent = `${step + 1} of ${STEPS}: ${stop.title}`;
  byId("guide-text").textContent = stop.text;
  byId("guide-back").disabled = step === 0;
  byId("guide-next").disabled = step === STEPS - 1;
  showSections("guide");
  refresh();
  showAddress(stop.look);
  byId("guide-title").focus();
  say(`${stop.title}. ${stop.text}`);
}

function listenToPlay() {
  const listen = (id, work) => byId(id).addEventListener("click", guarded(work));
  byId("slider").addEventListener("input", () => {
    if (isMoving) return;
    isMoving = true;
    requestAnimationFrame(guarded(settle));
  });
  listen("record", record);
  listen("before", () => moveTo(Number(byId("slider").value) - 1));
  listen("after", () => moveTo(Number(byId("slider").value) + 1));
  listen("cut", cutPower);
  listen("mount", mount);
  listen("tour", () => showStep(0));
  listen("guide-back", () => showStep(step - 1));
  listen("guide-next", () => showStep(step + 1));
  listen("guide-end", () => {
    start();
    byId("tour").focus();
  });
  listen("return", () => {
    start();
    byId("record").focus();
  });
}
