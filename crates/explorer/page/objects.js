// The panel of heaps: roots, objects, and the values of one object.

PANELS.objects = ["Objects", () => showObjects()];

/** Shows roots and objects; `after` continues a long list. */
function showObjects(after = null) {
  const listed = ask("objects", { after });
  const object = (bits, text) => element("button", { type: "button", onclick: () => showObject(bits) }, text);
  const bitsOf = new Map(listed.objects.map((one) => [one.reference, one.bits]));
  const roots = listed.roots.map((one) => row(one.root,
    bitsOf.has(one.reference) ? object(bitsOf.get(one.reference), one.reference) : one.reference));
  const objects = listed.objects.map((one) => row(object(one.bits, one.reference), one.kind, String(one.fields),
    String(one.data_bytes), String(one.header_bytes), String(one.pieces)));
  const more = listed.after === null ? ""
    : element("button", { type: "button", onclick: () => showObjects(listed.after) }, "More objects");
  byId("objects").replaceChildren(
    element("h3", {}, "Roots"), table(["Root", "Reference"], roots),
    element("h3", {}, "Objects"),
    table(["Reference", "Kind", "Fields", "Data bytes", "Header bytes", listed.pieces], objects), more,
  );
  showTab("objects");
}

function showObject(bits) {
  const found = ask("object", { bits });
  const rows = found.fields.map((field) => row(
    String(field.index), element("code", {}, field.value), readings(field.value), addressButton(field.at), field.in,
    field.names ? element("button", { type: "button", onclick: () => showObject(field.names.bits) },
      field.names.reference) : "",
  ));
  const back = element("button", { type: "button", onclick: () => showObjects() }, "All objects");
  const header = found.header ? [element("p", {}, "Header: ", element("code", {}, found.header))] : [];
  byId("objects").replaceChildren(
    back, element("h3", {}, found.reference), ...header,
    table(["Field", "Value", "Reads as", "At", "In", "Names"], rows),
    found.count > found.fields.length ? `and ${found.count - found.fields.length} more` : "",
  );
  showTab("objects");
  if (found.at !== null) chooseAddress(found.at);
}
