// The program: WebAssembly in this page. Questions and answers are JSON; nothing leaves the browser.

const byId = (id) => document.getElementById(id);
let program;

/** Bytes of a page of an image, which is left out if it is all zeros. */
const PAGE = 4096;

/** Lets the browser show what has changed, before work that it waits for. */
const shownNow = () => new Promise((done) => setTimeout(done, 25));

/** Bytes of compressed text in this page. */
async function unpacked(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function loadProgram() {
  const bytes = await unpacked(byId("program").textContent);
  program = (await WebAssembly.instantiate(bytes, {})).instance.exports;
}

function put(bytes) {
  const at = program.norn_room(bytes.length);
  new Uint8Array(program.memory.buffer, at, bytes.length).set(bytes);
}

/** The answer of an export, as bytes. */
function answerOf(call) {
  const length = call();
  return new Uint8Array(program.memory.buffer, program.norn_answer(), length).slice();
}

function parsed(bytes) {
  const answer = JSON.parse(new TextDecoder().decode(bytes));
  if (answer.error) throw new Error(answer.error);
  return answer;
}

/** Asks the program. An error is thrown. */
function ask(question, more = {}) {
  put(new TextEncoder().encode(JSON.stringify({ ask: question, ...more })));
  return parsed(answerOf(program.norn_ask));
}

/** Opens an image that is packed. */
function openImage(packed) {
  put(packed);
  parsed(answerOf(program.norn_open));
}

function areZeros(words, from, to) {
  for (let at = from; at < to; at += 1) if (words[at] !== 0) return false;
  return true;
}

/** A file without its pages of zeros, as the program wants it. `tell` is given the bytes so far. */
async function packed(file, tell) {
  const head = new DataView(new ArrayBuffer(8));
  head.setBigUint64(0, BigInt(file.size), true);
  const parts = [head.buffer];
  for (let from = 0; from < file.size; from += 1024 * PAGE) {
    if (from > 0) await tell(from);
    const bytes = new Uint8Array(1024 * PAGE);
    bytes.set(new Uint8Array(await file.slice(from, from + bytes.length).arrayBuffer()));
    const words = new Uint32Array(bytes.buffer);
    for (let at = 0; at < Math.min(bytes.length, file.size - from); at += PAGE) {
      if (areZeros(words, at / 4, (at + PAGE) / 4)) continue;
      parts.push(Uint32Array.of((from + at) / PAGE), bytes.subarray(at, at + PAGE));
    }
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** The file of an image that is packed. */
function unpackedFile(packed) {
  // A blob, whose slices the browser does not copy.
  const [view, zeros] = [new DataView(packed.buffer, packed.byteOffset), new Blob([new Uint8Array(1024 * PAGE)])];
  const length = Number(view.getBigUint64(0, true));
  const parts = [];
  let end = 0;
  const fill = (to) => {
    for (; end < to; end += zeros.size) parts.push(zeros.slice(0, Math.min(zeros.size, to - end)));
    end = to;
  };
  for (let at = 8; at < packed.length; at += 4 + PAGE) {
    const page = view.getUint32(at, true) * PAGE;
    fill(page);
    end = Math.min(length, page + PAGE);
    parts.push(packed.subarray(at + 4, at + 4 + end - page));
  }
  fill(length);
  return new Blob(parts);
}

function openEmpty(part) {
  put(new TextEncoder().encode(part));
  parsed(answerOf(program.norn_empty));
}

const packedImage = () => answerOf(program.norn_image);

/** Tells people who do not see the page what has changed. */
function say(text) {
  byId("said").textContent = text;
}

function complain(error) {
  byId("problem").hidden = !error;
  byId("problem").textContent = error ? String(error.message ?? error) : "";
}

/** Does what a button asks for; shows what goes wrong. */
function guarded(work) {
  return async (event) => {
    try {
      complain(null);
      await work(event);
    } catch (error) {
      complain(error);
    }
  };
}

const hexadecimal = (number) => "0x" + number.toString(16).padStart(6, "0");

/** A number of things: `1 byte`, `2 bytes`; an irregular plural is given. */
const counted = (number, one, more = `${one}s`) => `${number} ${number === 1 ? one : more}`;

const times = (number) => number === 1 ? "once" : `${number} times`;

/** An element with attributes and children; text is text, never markup. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "onclick") made.addEventListener("click", guarded(value));
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}
