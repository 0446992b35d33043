// The panel of code images: programs, the cache, and hits and misses along a trace.

PANELS.cache = ["Cache", () => showCache()];

function showCache() {
  let compared = null;
  const compare = () => {
    compared = ask("compare");
    renewPanel();
  };
  openPanel("cache", () => {
    const found = ask("cache");
    const rows = found.programs.map((one) => row(addressButton(one.at), one.text, String(one.bytes),
      `${one.pages} of ${one.page_bytes} bytes`, one.runs ? "runs" : ""));
    const policy = element("select", { id: "policy" }, ...found.policies.map((name) => element("option", {}, name)));
    policy.value = found.policy;
    const frames = element("input", { type: "number", id: "frames", min: 1, max: 255, value: found.frames });
    const trace = element("input", { type: "file", id: "trace" });
    trace.addEventListener("change", guarded(async () => {
      const [file] = trace.files;
      openTrace(await file.text(), file.name);
    }));
    const apply = element("button", { type: "button", id: "run", onclick: () => runTrace() }, "Run with this cache");
    return [
      table("Programs", ["Header", "Program", "Bytes", "Cache pages", ""], rows),
      element("p", { class: "buttons" }, element("label", {}, "Policy ", policy), element("label", {}, "Frames ", frames),
        apply, element("label", { class: "button" }, "Open a trace", trace)),
      ...(found.run ? [...runOf(found.run, compare), ...(compared ? comparedOf(compared) : [])] : [element("p", {}, "Play a workload: a trace of a program runs through the " +
        "cache. Or open a trace: a file with an address of the program in each line.")]),
    ];
  });
}

/** The trace that runs: what it is like so far, and which pages the cache holds. */
function runOf(run, compare) {
  const share = run.done ? ` (${(100 * run.misses / run.done).toFixed(1)}% misses)` : "";
  const held = run.held.map(([page, at]) => element("button", { type: "button", onclick: () => showAddress(at) },
    String(page)));
  return [
    element("p", { id: "run-facts" }, `${run.policy}, ${counted(run.frames, "frame")}, after ${run.done} of ` +
      `${counted(run.pages.length, "request")}: ${counted(run.hits, "hit")}, ${counted(run.misses, "miss", "misses")}${share}, ` +
      `${counted(run.loads, "page")} of the part loaded.`),
    dots(run),
    legendOf([["page", "hit"], ["log", "miss, from the part's register"], ["unknown", "miss, with a load"],
      ["mark", "now"]]),
    element("h3", {}, "Cache pages in the cache"), element("p", { class: "buttons", id: "held" }, ...held),
    element("p", { class: "buttons" },
      element("button", { type: "button", id: "compare", onclick: compare }, "Compare policies and page sizes")),
  ];
}

/** Misses of the whole trace, by policy and width of cache pages, in the same RAM. */
function comparedOf(found) {
  const titles = ["Policy", ...found.widths.map((one) => `${one.frames} × ${one.page_bytes} bytes`)];
  const policies = found.widths[0]?.policies.map(([name]) => name) ?? [];
  const cell = ([, misses, loads]) => misses === null ? "too many frames" : `${counted(misses, "miss", "misses")}, ${counted(loads, "load")}`;
  const rows = policies.map((name, number) => row(name, ...found.widths.map((one) => cell(one.policies[number]))));
  const title = `All ${found.requests} requests in ${found.ram_bytes} bytes of frames`;
  return [element("div", { id: "compared" }, element("h3", {}, title), table(title, titles, rows))];
}

function runTrace() {
  ask("set-cache", { policy: byId("policy").value, frames: Number(byId("frames").value) });
  record();
}

function openTrace(text, name) {
  try {
    ask("set-trace", { text });
  } catch (error) {
    throw new Error(`${name}: ${error.message}`);
  }
  record();
}
