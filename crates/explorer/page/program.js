// The program: WebAssembly in this page. Questions and answers are JSON; nothing leaves the browser.

const byId = (id) => document.getElementById(id);
let program;

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

function openImage(bytes) {
  put(bytes);
  parsed(answerOf(program.norn_open));
}

function openEmpty(part) {
  put(new TextEncoder().encode(part));
  parsed(answerOf(program.norn_empty));
}

const imageBytes = () => answerOf(program.norn_image);

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
