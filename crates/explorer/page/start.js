// Opening images: the one in this page, one that is dropped onto it, or the one that a server follows.

let example = "test-32x4096";
let opened = null;

/** Shows the image that was opened last, or an empty heap. */
function start() {
  if (opened) openImage(opened);
  else openEmpty(example);
  showSections();
  clearPanel();
  refresh();
  const { mount: found, is_mounted } = chip.overview;
  if (is_mounted && found.operations > 0) {
    byId("power-text").textContent = chip.overview.units_are === "blocks"
      ? `A mount of this device begins with ${found.operations} programs and erases.`
      : `The power failed while this image was at work. The mount will program ${found.operations} words.`;
    byId("mount-list").replaceChildren();
    byId("mount").disabled = false;
    showSections("power");
  }
}

async function openFile(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  try {
    openImage(bytes);
  } catch (error) {
    throw new Error(`${file.name}: ${error.message.replace(/^the image: /, "")}`);
  }
  opened = bytes;
  byId("name").textContent = file.name;
  document.title = `${file.name} – Norn`;
  start();
  say(`${file.name} is open`);
}

function openExample(part) {
  [opened, example] = [null, part];
  byId("name").textContent = "An example";
  start();
}

function saveImage() {
  const url = URL.createObjectURL(new Blob([imageBytes()]));
  element("a", { href: url, download: "chip.img" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Asks the server every second for the image, which another program may change. */
async function follow(path) {
  let tag = "";
  for (;;) {
    const answer = await fetch(path, { headers: tag ? { "If-None-Match": tag } : {} });
    if (answer.status === 200) {
      tag = answer.headers.get("ETag") ?? "";
      opened = new Uint8Array(await answer.arrayBuffer());
      if (byId("guide").hidden && byId("player").hidden) {
        openImage(opened);
        refresh();
      }
      complain(null);
    }
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
  await loadProgram();
  byId("name").textContent = document.title.replace(/ – Norn$/, "");
  const text = byId("image").textContent.trim();
  if (text) opened = await unpacked(text);
  listenToUnits();
  listenToPlay();
  listenToFiles();
  const server = document.querySelector("meta[name=norn-server]").content;
  start();
  document.body.dataset.ready = "yes";
  if (server) await follow(server);
})();
