// Opening images: the one in this page, one that is dropped onto it, or the one that a server follows.

let example = "test-32x4096";
/** The image that was opened last, packed, and whether it is the one that this page is for. */
let [opened, isOwn] = [null, true];
/** What the image that was opened last, or the example, is called. */
let openedName = "";

/** Shows the image that was opened last, or an empty heap. */
function start() {
  if (opened) openImage(opened);
  else openEmpty(example);
  complain(null);
  byId("name").textContent = openedName;
  byId("return").textContent = `Back to ${opened ? openedName : "the example"}`;
  showSections();
  clearPanel();
  refresh();
  tellOfMount();
  document.body.dataset.ready = "yes";
}

/** Says what a mount of the image does, if it changes anything. */
function tellOfMount() {
  const { mount, is_mounted, units_are } = chip.overview;
  const calls = is_mounted ? callsOf(mount) : "";
  if (!calls) showSections();
  else if (units_are === "blocks") showPower(`A mount of this device begins with ${calls}.`, "power");
  else showPower(`The power failed while this image was at work. The mount will make ${calls}.`, "power");
}

const megabytes = (bytes) => (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);

/** Says how far an image is opened, and lets the browser show that. */
function tellOfOpening(text) {
  byId("facts").textContent = text;
  return shownNow();
}

async function openFile(file) {
  const size = megabytes(file.size);
  const before = byId("facts").textContent;
  try {
    const bytes = await packed(file, (done) => tellOfOpening(`Reading ${file.name}: ${megabytes(done)} of ${size} MB`));
    await tellOfOpening(`Mounting a copy of ${file.name}, ${size} MB`);
    openImage(bytes);
    [opened, isOwn] = [bytes, false];
  } catch (error) {
    byId("facts").textContent = before;
    throw new Error(`${file.name}: ${error.message.replace(/^the image: /, "")}`);
  }
  nameImage(file.name);
  start();
  say(`${file.name} is open`);
}

function nameImage(name) {
  byId("name").textContent = openedName = name;
  document.title = `${name} – Norn`;
}

function openExample(part) {
  [opened, example, isOwn] = [null, part, false];
  openedName = "An example";
  start();
}

function saveImage() {
  const url = URL.createObjectURL(unpackedFile(packedImage()));
  element("a", { href: url, download: "chip.img" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Says what is between the page and its server; nothing if nothing is. What stays true is not said again. */
function tellOfServer(text, button = null) {
  const box = byId("server");
  if (box.dataset.says === text) return;
  box.dataset.says = text;
  box.hidden = !text;
  box.replaceChildren(text, ...(button ? [" ", button] : []));
}

/** Asks the server every second for the image, which another program may change. Shows what is wrong while it is. */
async function follow(path) {
  const name = byId("name").textContent;
  let [tag, newest, refused, at] = ["", null, "", ""];
  const isElsewhere = () => !isOwn || isAway();
  const last = () => !at ? "Nothing is shown yet"
    : isElsewhere() ? `The last that the page has of ${name} is from ${at}`
      : `The page shows ${name} as it was at ${at}`;
  const show = () => {
    try {
      openImage(newest);
      const isOther = !opened || !isOwn;
      [opened, isOwn, refused] = [newest, true, ""];
      nameImage(name);
      if (isOther) start();
      else refresh();
      tellOfMount();
    } catch (error) {
      newest = opened;
      refused = `${name} can no longer be shown: ${error.message.replace(/^the image: /, "")}. Once the file has changed, ` +
        "the page tries again.";
    }
  };
  const button = element("button", { type: "button", id: "follow", onclick: () => {
    isOwn = true;
    showSections();
    show();
    tellOfServer("");
    byId("record").focus();
  } }, `Show ${name} as it is now`);
  for (;;) {
    let lost = refused;
    try {
      const answer = await fetch(path, { headers: tag ? { "If-None-Match": tag } : {} });
      if (answer.status === 200) {
        newest = new Uint8Array(await answer.arrayBuffer());
        [tag, refused, lost] = [answer.headers.get("ETag") ?? "", "", ""];
      } else if (answer.status !== 304) {
        lost = `The server cannot read the image: ${await answer.text()}. ${last()}. Once the file can be read, the page ` +
          "goes on by itself.";
      }
      if (!lost) at = new Date().toLocaleTimeString();
    } catch {
      lost = `The server of this page does not answer; it may have ended. ${last()}. Start it again as ` +
        `before, with --serve ${location.host}, and the page goes on by itself.`;
    }
    if (newest && newest !== opened && !isElsewhere()) show();
    const isBehind = newest && newest !== opened;
    tellOfServer(lost || refused || (isBehind ? `This page does not show ${name} as it is now.` : ""),
      isBehind && !lost ? button : null);
    await new Promise((done) => setTimeout(done, 1000));
  }
}

function listenToFiles() {
  byId("file").addEventListener("change", guarded((event) => openFile(event.target.files[0])));
  byId("export").addEventListener("click", guarded(saveImage));
  byId("example").addEventListener("change", guarded(() => {
    if (byId("example").value) openExample(byId("example").value);
  }));
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", guarded(async (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) await openFile(event.dataTransfer.files[0]);
  }));
}

guarded(async () => {
  await tellOfOpening("Loading: the program");
  await loadProgram();
  nameImage(document.title.replace(/ – Norn$/, ""));
  const text = byId("image").textContent.trim();
  listenToUnits();
  listenToPlay();
  listenToFiles();
  const server = document.querySelector("meta[name=norn-server]").content;
  if (server) {
    await tellOfOpening("Loading: the image from the server");
    await follow(server);
  }
  if (text) {
    await tellOfOpening("Loading: the image");
    opened = await unpacked(text);
  }
  await tellOfOpening("Loading: mounting a copy of the image");
  start();
})();
