// The panels of block devices: the logical map, and free pages and tokens over time.

PANELS.map = ["Map", () => showMap(0)];
PANELS.tokens = ["Tokens", () => showTokens()];

/** Shows logical pages from one on: where each of them is. */
function showMap(first) {
  openPanel("map", () => {
    const found = ask("map", { first });
    const where = ([number, at, text]) => row(String(number), at === null ? "no contents"
      : element("button", { type: "button", onclick: () => showAddress(at) }, text));
    const input = element("input", { type: "number", id: "map-from", min: 0, max: found.logical_pages - 1, value: first });
    const go = element("button", { type: "button", id: "map-go", onclick: () => showMap(Number(input.value)) }, "Show");
    const after = first + found.rows.length;
    const more = after < found.logical_pages
      ? element("button", { type: "button", id: "map-more", onclick: () => showMap(after) }, "More pages") : "";
    return [
      element("p", {}, `${found.size_bytes} bytes, ${counted(found.good_blocks, "good block")}. Pages of the part: ` +
        `${found.pages_in_use} in use, the checkpoint's included, ${found.pages_erased} erased, ` +
        `${found.pages_to_erase} to be erased before they are written.`),
      element("p", { class: "buttons" }, element("label", {}, "Logical page ", input), go),
      table("Logical pages", ["Logical page", "Is in"], found.rows.map(where)), more,
      element("h3", {}, "Checkpoint"), table("Pages of the checkpoint", ["Chunk", "Is in"], found.chunks.map(where)),
    ];
  });
}

/** Shows free pages and tokens over the recording, and where in it the page is. */
function showTokens() {
  openPanel("tokens", () => {
    const found = ask("tokens");
    const { names, levels, at } = found;
    if (!levels.length) return [element("p", {}, "Play a workload: free pages and tokens are drawn here.")];
    const now = levels.findLast(([operation]) => operation <= at) ?? levels[0];
    const rows = names.map((name, number) => {
      const all = levels.map(([, numbers]) => numbers[number]);
      return row(name, String(now[1][number]), String(Math.min(...all)), String(Math.max(...all)));
    });
    return [
      element("h3", {}, "Pages and tokens over operations"), curves(found),
      legendOf(names.map((name, number) => [STROKES[number % STROKES.length], name])),
      table("Pages and tokens", ["Pages or tokens", "Now", "Least", "Most"], rows),
      element("p", {}, "A token is good for programming one page. All tokens together never exceed the free pages: a " +
        "task that was admitted has a token for each page that it declared to write, and waits for no collection."),
    ];
  });
}
