//! A headless Chromium, driven over its DevTools protocol: JSON in two pipes, messages end with a zero byte.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// A page of its own in a browser: nothing that another page has stored is there. A browser whose page was closed
/// serves the next test. Browsers end with the pipes to them, and these with the tests.
pub struct Browser {
    process: Option<Process>,
    /// What the page is in, apart from others; and the page.
    context: String,
    session: String,
}

/// A browser, and the pipes to it.
struct Process {
    questions: File,
    answers: BufReader<File>,
    asked: u64,
}

/// Browsers without a page.
static IDLE: Mutex<Vec<Process>> = Mutex::new(Vec::new());

impl Drop for Browser {
    fn drop(&mut self) {
        // What became of a browser while a test failed is not known.
        if !thread::panicking() {
            self.session.clear();
            let context = json!({ "browserContextId": self.context });
            self.call("Target.disposeBrowserContext", context);
            IDLE.lock().unwrap().extend(self.process.take());
        }
    }
}

impl Process {
    fn start() -> Process {
        let directory = tempfile::tempdir().unwrap();
        let [questions, answers, profile] = ["questions", "answers", "profile"].map(|name| directory.path().join(name));
        assert!(Command::new("mkfifo").args([&questions, &answers]).status().unwrap().success());
        // A shell gives the browser the pipes as its files 3 and 4, and clears up after it; nobody waits for it.
        let script = "{ chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
                      --user-data-dir=\"$3\" --window-size=1280,900 --remote-debugging-pipe 3<\"$1\" 4>\"$2\"; \
                      rm -rf \"$4\"; } &";
        let mut shell = Command::new("sh");
        shell.args(["-c", script, "sh"]).args([&questions, &answers, &profile]).arg(directory.keep());
        assert!(shell.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success());
        let questions = OpenOptions::new().write(true).open(questions).unwrap();
        Process { questions, answers: BufReader::new(File::open(answers).unwrap()), asked: 0 }
    }
}

impl Browser {
    /// A browser with an empty page.
    pub fn start() -> Browser {
        let idle = IDLE.lock().unwrap().pop();
        let process = Some(idle.unwrap_or_else(Process::start));
        let mut browser = Browser { process, context: String::new(), session: String::new() };
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        browser.context = text(&browser.call("Target.createBrowserContext", json!({}))["browserContextId"]);
        let wanted = json!({ "url": "about:blank", "browserContextId": browser.context, "width": 1280, "height": 900 });
        let target = browser.call("Target.createTarget", wanted);
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        browser.session = text(&browser.call("Target.attachToTarget", attach)["sessionId"]);
        browser.call("Page.enable", json!({}));
        browser
    }

    /// Calls a method of the protocol.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        let process = self.process.as_mut().unwrap();
        process.asked += 1;
        let mut question = json!({ "id": process.asked, "method": method, "params": parameters });
        if !self.session.is_empty() {
            question["sessionId"] = self.session.clone().into();
        }
        process.questions.write_all(format!("{question}\0").as_bytes()).unwrap();
        loop {
            let mut bytes = Vec::new();
            assert!(process.answers.read_until(0, &mut bytes).unwrap() > 0, "the browser ended in {method}");
            bytes.pop();
            let answer: Value = serde_json::from_slice(&bytes).unwrap();
            if answer["id"] == process.asked {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    /// The value of an expression in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let result = self.call("Runtime.evaluate", parameters);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].clone()
    }

    /// The same as a text.
    pub fn text(&mut self, expression: &str) -> String {
        self.value(expression).as_str().unwrap_or_default().to_owned()
    }

    /// Waits until an expression is true, but not for ever.
    pub fn wait_until(&mut self, expression: &str) {
        let looking = "new Promise((done) => { const end = performance.now() + 60000; \
                       const look = () => (EXPRESSION) ? done('true') : performance.now() > end ? \
                       done(document.body.innerText) : setTimeout(look, 20); look(); })";
        assert_eq!(self.value(&looking.replace("EXPRESSION", expression)), "true", "{expression}");
    }

    /// Opens a page, and waits until its image is shown.
    pub fn open(&mut self, page: &str) {
        self.go_to(page);
        self.wait_until("document.body?.dataset.ready");
        assert_eq!(self.text("document.getElementById('problem').textContent"), "");
    }

    /// Goes to a page, and waits until it is there.
    pub fn go_to(&mut self, page: &str) {
        self.call("Page.navigate", json!({ "url": page }));
        while self.value("location.href") != page {}
    }

    /// Opens a file.
    pub fn open_file(&mut self, file: &Path) {
        self.open(&format!("file://{}", file.display()));
    }

    /// Clicks a button, and expects that nothing goes wrong.
    pub fn click(&mut self, id: &str) {
        let click = format!("document.getElementById('{id}').click()");
        self.value(&click);
        assert_eq!(self.text("document.getElementById('problem').textContent"), "", "{id}");
    }

    /// Presses a key where the focus is.
    pub fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", json!({ "type": kind, "key": key, "code": key }));
        }
    }

    /// The image of what the page shows.
    pub fn image(&mut self) -> Vec<u8> {
        let text = self.text(
            "unpackedFile(packedImage()).arrayBuffer().then((bytes) => { let text = ''; \
             for (const byte of new Uint8Array(bytes)) text += String.fromCharCode(byte); return btoa(text); })",
        );
        STANDARD.decode(text).unwrap()
    }

    /// The rows of a table in a panel, as the texts of their cells.
    pub fn rows(&mut self, panel: &str, table: usize) -> Vec<Vec<String>> {
        let rows = self.value(&format!(
            "[...document.querySelectorAll('#{panel} table')[{table}].querySelectorAll('tbody tr')]\
             .map((row) => [...row.cells].map((cell) => cell.textContent))"
        ));
        serde_json::from_value(rows).unwrap()
    }

    /// The texts of a list.
    pub fn rows_of_list(&mut self, list: &str) -> Vec<String> {
        let texts = format!("[...document.querySelectorAll('#{list} li')].map((item) => item.textContent)");
        serde_json::from_value(self.value(&texts)).unwrap()
    }

    /// Writes a picture of the page into the directory that `NORN_SCREENSHOTS` names, if it does.
    pub fn picture(&mut self, name: &str) {
        let Some(directory) = std::env::var_os("NORN_SCREENSHOTS") else { return };
        let picture = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let picture = STANDARD.decode(picture["data"].as_str().unwrap()).unwrap();
        std::fs::write(Path::new(&directory).join(name), picture).unwrap();
    }
}
