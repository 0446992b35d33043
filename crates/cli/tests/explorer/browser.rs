//! A headless Chromium, driven over its DevTools protocol: JSON in two pipes, messages end with a zero byte.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A browser with one page; its pipes and profile go away with it.
pub struct Browser {
    _directory: TempDir,
    process: Child,
    questions: File,
    answers: BufReader<File>,
    asked: u64,
    session: String,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Browser {
    /// A browser with an empty page.
    pub fn start() -> Browser {
        let directory = tempfile::tempdir().unwrap();
        let [questions, answers, profile] = ["questions", "answers", "profile"].map(|name| directory.path().join(name));
        assert!(Command::new("mkfifo").args([&questions, &answers]).status().unwrap().success());
        // The shell gives the browser the pipes as its files 3 and 4.
        let script = "exec chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
                      --user-data-dir=\"$3\" --window-size=1280,900 --remote-debugging-pipe 3<\"$1\" 4>\"$2\"";
        let mut shell = Command::new("sh");
        shell.args(["-c", script, "sh"]).args([&questions, &answers, &profile]);
        let process = shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let questions = OpenOptions::new().write(true).open(questions).unwrap();
        let answers = BufReader::new(File::open(answers).unwrap());
        let mut browser =
            Browser { _directory: directory, process, questions, answers, asked: 0, session: String::new() };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        browser.session = browser.call("Target.attachToTarget", attach)["sessionId"].as_str().unwrap().to_owned();
        browser.call("Page.enable", json!({}));
        browser
    }

    /// Calls a method of the protocol.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.asked += 1;
        let mut question = json!({ "id": self.asked, "method": method, "params": parameters });
        if !self.session.is_empty() {
            question["sessionId"] = self.session.clone().into();
        }
        self.questions.write_all(format!("{question}\0").as_bytes()).unwrap();
        loop {
            let mut bytes = Vec::new();
            assert!(self.answers.read_until(0, &mut bytes).unwrap() > 0, "the browser ended in {method}");
            bytes.pop();
            let answer: Value = serde_json::from_slice(&bytes).unwrap();
            if answer["id"] == self.asked {
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

    /// Opens a page, and waits until its image is shown.
    pub fn open(&mut self, page: &str) {
        self.call("Page.navigate", json!({ "url": page }));
        let ready = "new Promise((done) => { const look = () => document.body?.dataset.ready ? done('ready') : \
                     setTimeout(look, 20); look(); })";
        while self.value("location.href") != page {}
        assert_eq!(self.value(ready), "ready");
        assert_eq!(self.text("document.getElementById('problem').textContent"), "");
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
            "(() => { let text = ''; for (const byte of imageBytes()) text += String.fromCharCode(byte); \
             return btoa(text); })()",
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
