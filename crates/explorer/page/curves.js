// Curves and dots on a canvas of a panel: levels over operations, requests of a trace.

const PAD = { left: 44, right: 10, top: 8, bottom: 20 };
const STROKES = ["page", "unknown", "log", "array", "roots", "changes", "map", "head"];

/** A canvas that is drawn when it has a size, and again when that changes. */
function drawing(height, label, draw) {
  const canvas = element("canvas", { role: "img", "aria-label": label, class: "curves" });
  canvas.style.height = `${height}px`;
  new ResizeObserver(() => {
    const scale = window.devicePixelRatio || 1;
    const width = canvas.clientWidth;
    if (!width) return;
    [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.font = "11px system-ui, sans-serif";
    draw(context, width, height);
  }).observe(canvas);
  return canvas;
}

const colourOf = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

/** Axes with their limits; returns where a point is drawn. */
function axes(context, [width, height], [from, to], most) {
  const [room, rise] = [width - PAD.left - PAD.right, height - PAD.top - PAD.bottom];
  context.strokeStyle = colourOf("line");
  context.strokeRect(PAD.left, PAD.top, room, rise);
  context.fillStyle = colourOf("pale");
  context.textAlign = "right";
  context.fillText(`${most}`, PAD.left - 5, PAD.top + 9);
  context.fillText("0", PAD.left - 5, PAD.top + rise);
  context.textAlign = "left";
  context.fillText(`${from}`, PAD.left, height - 6);
  context.textAlign = "right";
  context.fillText(`${to}`, width - PAD.right, height - 6);
  const [across, up] = [room / Math.max(1, to - from), rise / Math.max(1, most)];
  return (x, y) => [PAD.left + across * (x - from), PAD.top + rise - up * y];
}

function marker(context, place, at, most) {
  const [x, top] = place(at, most);
  context.fillStyle = colourOf("mark");
  context.fillRect(x - 1, top, 2, place(at, 0)[1] - top);
}

/** Curves of levels: one for each name, in steps. */
function curves({ names, levels, at }) {
  const most = Math.max(1, ...levels.flatMap(([, numbers]) => numbers));
  const [from, to] = [levels[0][0], levels[levels.length - 1][0]];
  return drawing(260, `${names.join(", ")}, over operations ${from} to ${to}`, (context, width, height) => {
    context.clearRect(0, 0, width, height);
    const place = axes(context, [width, height], [from, to], most);
    context.lineWidth = 1.6;
    names.forEach((_, number) => {
      context.strokeStyle = colourOf(STROKES[number % STROKES.length]);
      context.beginPath();
      let before = null;
      for (const [operation, numbers] of levels) {
        const [x, y] = place(operation, numbers[number]);
        if (before === null) context.moveTo(x, y);
        else context.lineTo(x, before);
        context.lineTo(x, y);
        before = y;
      }
      context.stroke();
    });
    if (at !== null) marker(context, place, at, most);
  });
}

/** Requests of a trace as dots, by their number and page; misses stand out. */
function dots({ pages, served, done }) {
  const most = Math.max(1, ...pages);
  const misses = [...served].filter((letter) => letter !== "h").length;
  return drawing(300, `${pages.length} requests by cache page, ${misses} of them misses`, (context, width, height) => {
    context.clearRect(0, 0, width, height);
    const place = axes(context, [width, height], [0, pages.length], most);
    for (const wanted of ["h", "r", "l"]) {
      context.fillStyle = colourOf({ h: "page", r: "log", l: "unknown" }[wanted]);
      pages.forEach((page, number) => {
        if (served[number] !== wanted) return;
        const [x, y] = place(number, page);
        context.globalAlpha = number < done ? 1 : 0.22;
        context.fillRect(x - 1, y - 1, wanted === "h" ? 2 : 3, wanted === "h" ? 2 : 3);
      });
    }
    context.globalAlpha = 1;
    marker(context, place, done, most);
  });
}

/** A legend of colours. */
function legendOf(entries) {
  return element("ul", { class: "legend" }, ...entries.map(([colour, text]) =>
    element("li", {}, element("i", { style: `background: var(--${colour})` }), text)));
}
