// The panel of heaps: roots, objects, and the values of one object.

PANELS.objects = ["Objects", () => showObjects()];

/** Shows roots and objects; `after` continues a long list, of which `before` were shown. */
function showObjects(after = null, before = 0) {
  openPanel("objects", () => {
    const listed = ask("objects", { after });
    const object = (bits, text) => element("button", { type: "button", onclick: () => showObject(bits) }, text);
    const roots = listed.roots.map((one) => row(one.root, object(one.bits, one.reference)));
    const objects = listed.objects.map((one) => row(object(one.bits, one.reference), one.kind, String(one.fields),
      String(one.data_bytes), String(one.header_bytes), String(one.pieces)));
    const end = before + objects.length;
    const text = `Objects ${before + 1} to ${end}${listed.after === null ? "." : "; there are more."}`;
    const first = before === 0 ? "" : element("button", { type: "button", id: "objects-first",
      onclick: () => showObjects() }, "First objects");
    const more = listed.after === null ? "" : element("button", { type: "button", id: "objects-more",
      onclick: () => showObjects(listed.after, end) }, "More objects");
    const range = first || more
      ? [element("p", { class: "buttons", id: "objects-range" }, element("span", {}, text), first, more)] : [];
    return [
      element("h3", {}, "Roots"), table("Roots", ["Root", "Reference"], roots),
      element("h3", {}, "Objects"), ...range,
      table("Objects", ["Reference", "Kind", "Fields", "Data bytes", "Header bytes", listed.pieces], objects),
    ];
  });
}

function showObject(bits) {
  let found;
  openPanel("objects", () => {
    found = ask("object", { bits });
    const rows = found.fields.map((field) => row(
      String(field.index), digitsOf(field.value), readings(field.value), addressButton(field.at), field.in,
      field.names ? element("button", { type: "button", onclick: () => showObject(field.names.bits) },
        field.names.reference) : "",
    ));
    const back = element("button", { type: "button", onclick: () => showObjects() }, "All objects");
    const header = found.header ? [element("p", {}, "Header: ", element("code", {}, found.header))] : [];
    return [
      back, element("h3", {}, found.reference), ...header,
      table(`Fields of ${found.reference}`, ["Field", "Value", "Reads as", "At", "In", "Names"], rows),
      found.count > found.fields.length ? `and ${found.count - found.fields.length} more` : "",
    ];
  });
  if (found.at !== null) chooseAddress(found.at);
}
