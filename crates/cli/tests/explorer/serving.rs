//! `norn explore --serve`: the page follows an image that another program uses, says what is wrong when the image or
//! the server is gone, and goes on when they are back; no page of another site gets the image.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use norn_desk::Desk;
use norn_flash::{EraseUnit, Nor};
use norn_flash_sim::{ImageBytes, NorSim};

use crate::browser::Browser;
use crate::desk;

/// A server, which ends with this value.
struct Server {
    process: Child,
    output: BufReader<std::process::ChildStdout>,
    address: String,
}

impl Server {
    fn start(desk: &Desk, image: &str, address: &str) -> Server {
        Server::start_with(desk, &[image], address)
    }

    fn start_with(desk: &Desk, source: &[&str], address: &str) -> Server {
        let mut process = Command::new(env!("CARGO_BIN_EXE_norn"))
            .arg("explore")
            .args(source)
            .args(["--serve", address])
            .current_dir(desk.path(""))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let address = line.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
        Server { process, output, address }
    }

    fn page(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The answer to a request with these headers.
    fn ask(&self, path: &str, headers: &[&str]) -> Vec<u8> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        write!(stream, "GET {path} HTTP/1.1\r\n{headers}\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        answer
    }

    fn host(&self) -> String {
        format!("Host: {}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A desk with a heap that is served.
fn served() -> (Desk, Server) {
    let desk = desk();
    desk.succeed("--quiet heap create heap.img --part tinystore");
    let server = Server::start(&desk, "heap.img", "127.0.0.1:0");
    (desk, server)
}

/// The body of an answer, as an image.
fn image_in(answer: &[u8]) -> Vec<u8> {
    let head = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    Vec::from(&ImageBytes::from_packed(&answer[head + 4..]).unwrap())
}

#[test]
fn the_served_page_follows_an_image_that_is_in_use() {
    let (desk, server) = served();
    // Another program has the image open, and its lock.
    let mut in_use = NorSim::open_image(&desk.path("heap.img")).unwrap();
    let answer = server.ask("/image", &[&server.host()]);
    assert!(image_in(&answer) == fs::read(desk.path("heap.img")).unwrap());
    let tag = String::from_utf8_lossy(&answer).split_once("ETag: ").unwrap().1.split('\r').next().unwrap().to_owned();
    let known = format!("If-None-Match: {tag}");
    assert!(server.ask("/image", &[&server.host(), &known]).starts_with(b"HTTP/1.1 304"));
    let mut browser = Browser::start();
    browser.open(&server.page());
    assert!(browser.text("byId('facts').textContent").contains("a log-structured heap"), "no example before it");
    browser.click("tab-unit");
    browser.value("choose(55, -1)");
    assert!(browser.text("byId('unit').textContent").contains("erased 0 times"));
    in_use.erase(EraseUnit(55)).unwrap();
    assert!(server.ask("/image", &[&server.host(), &known]).starts_with(b"HTTP/1.1 200"));
    browser.wait_until("byId('unit').textContent.includes('erased once')");
}

/// It was sent to whoever had the right name of the host, whatever page asked for it.
#[test]
fn no_page_of_another_site_gets_the_image() {
    let (_desk, server) = served();
    let host = server.host();
    let own = format!("Origin: http://{}", server.address);
    for allowed in [&[][..], &[&*own], &["Sec-Fetch-Site: same-origin"], &["Sec-Fetch-Site: none"]] {
        let answer = server.ask("/image", &[&[&*host][..], allowed].concat());
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{allowed:?}");
    }
    for foreign in
        ["Origin: http://elsewhere.example", "Origin: null", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site"]
    {
        assert!(server.ask("/image", &[&host, foreign]).starts_with(b"HTTP/1.1 403"), "{foreign}");
        assert!(server.ask("/", &[&host, foreign]).starts_with(b"HTTP/1.1 200"), "a link may lead to the page");
    }
    assert!(server.ask("/", &["Host: elsewhere.example"]).starts_with(b"HTTP/1.1 403"));
    assert!(server.ask("/image", &["Host: elsewhere.example"]).starts_with(b"HTTP/1.1 403"));
}

/// A page said nothing of an image that was gone, and stopped to follow when its server had ended for a moment.
#[test]
fn the_page_says_what_is_gone_and_goes_on_when_it_is_back() {
    let (desk, server) = served();
    let mut browser = Browser::start();
    browser.open(&server.page());
    let shown = browser.text("byId('facts').textContent");
    let says = "byId('server').textContent";
    assert_eq!(browser.text(says), "");

    let (path, away) = (desk.path("heap.img"), desk.path("away.img"));
    fs::rename(&path, &away).unwrap();
    browser.wait_until("!byId('server').hidden");
    let text = browser.text(says);
    assert!(text.contains("heap.img") && text.contains("No such file") && text.contains("as it was at"), "{text}");
    browser.picture("serve-no-image.png");
    assert_eq!(browser.text("byId('facts').textContent"), shown, "the last state stays");

    fs::write(&path, &fs::read(&away).unwrap()[..5000]).unwrap();
    browser.wait_until(&format!("{says}.includes('can no longer be shown')"));
    assert_eq!(browser.text("byId('facts').textContent"), shown);
    fs::rename(&away, &path).unwrap();
    browser.wait_until("byId('server').hidden");

    let address = server.address.clone();
    drop(server);
    browser.wait_until("!byId('server').hidden");
    let text = browser.text(says);
    let advice = format!("Start it again as before, with --serve {address}, and");
    assert!(text.contains("does not answer") && text.contains(&advice), "{text}");
    NorSim::open_image(&path).unwrap().erase(EraseUnit(3)).unwrap();
    let _server = Server::start(&desk, "heap.img", &address);
    browser.wait_until("byId('server').hidden && chip.overview.units[3][0] === 1");
}

/// Buttons threw errors of the script, which stayed when the image was back.
#[test]
fn a_page_whose_image_is_away_at_first_offers_nothing_that_fails() {
    let (desk, server) = served();
    let (path, away) = (desk.path("heap.img"), desk.path("away.img"));
    fs::rename(&path, &away).unwrap();
    let mut browser = Browser::start();
    browser.go_to(&server.page());
    browser.wait_until("document.getElementById('server')?.hidden === false");
    let text = browser.text("byId('server').textContent");
    assert!(text.contains("No such file") && text.contains("Nothing is shown yet"), "{text}");
    let offered = "['tour', 'record', 'export'].filter((id) => !byId(id).disabled).join()";
    assert_eq!(browser.text(offered), "");
    for key in ["ArrowDown", "ArrowRight", "Enter"] {
        browser.value("byId('units').focus()");
        browser.press(key);
    }
    browser.value("byId('units').click()");
    assert_eq!(browser.text("byId('problem').textContent"), "");
    fs::rename(&away, &path).unwrap();
    browser.wait_until("byId('server').hidden && chip.overview !== null");
    assert_eq!(browser.text(offered), "tour,record,export");
    browser.click("record");
}

/// Whoever opened a pipe in the image's place waited for ever, and the page with them.
#[test]
fn a_pipe_in_the_images_place_is_refused() {
    let (desk, server) = served();
    let pipe = desk.path("pipe.img");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    desk.fail("explore pipe.img --serve 127.0.0.1:0", &["pipe.img: no regular file"]);
    desk.fail("explore pipe.img", &["pipe.img: no regular file"]);
    let image = desk.path("heap.img");
    fs::rename(&image, desk.path("away.img")).unwrap();
    fs::rename(&pipe, &image).unwrap();
    let answer = String::from_utf8(server.ask("/image", &[&server.host()])).unwrap();
    assert!(answer.starts_with("HTTP/1.1 503") && answer.ends_with("heap.img: no regular file"), "{answer}");
}

/// The image was served as a whole.
#[test]
fn a_region_of_an_image_in_use_is_served() {
    let desk = desk();
    desk.succeed("--quiet heap create heap.img --part tinystore");
    let server = Server::start_with(&desk, &["heap.img", "--region", "0..0x8000"], "127.0.0.1:0");
    let _in_use = NorSim::open_image(&desk.path("heap.img")).unwrap();
    let image = image_in(&server.ask("/image", &[&server.host()]));
    assert_eq!(NorSim::from_image_bytes(ImageBytes::from(&*image)).unwrap().part().unit_count, 4);
}

/// What is played, or another file, is not replaced by the image; a button leads back to it.
#[test]
fn a_recording_is_kept_while_the_image_changes() {
    let (desk, server) = served();
    let mut browser = Browser::start();
    browser.open(&server.page());
    browser.click("record");
    NorSim::open_image(&desk.path("heap.img")).unwrap().erase(EraseUnit(3)).unwrap();
    browser.wait_until("!byId('server').hidden");
    assert_eq!(browser.value("byId('player').hidden"), false);
    // The page does not show the image of that time, but what was played on it.
    fs::rename(desk.path("heap.img"), desk.path("away.img")).unwrap();
    browser.wait_until("byId('server').textContent.includes('No such file')");
    let text = browser.text("byId('server').textContent");
    assert!(
        text.contains("The last that the page has of heap.img is from ") && !text.contains("The page shows"),
        "{text}"
    );
    fs::rename(desk.path("away.img"), desk.path("heap.img")).unwrap();
    browser.wait_until("byId('follow') !== null");
    browser.click("follow");
    assert_eq!(browser.value("chip.overview.units[3][0]"), 1);
    assert_eq!(browser.value("byId('player').hidden && byId('server').hidden"), true);
}

#[test]
fn entries_of_a_log_that_grows_appear_in_the_open_panel() {
    let desk = desk();
    desk.succeed("--quiet log create log.img --part test-16x1024");
    desk.write("a.csv", "1000,1\n");
    desk.write("b.csv", "2000,2\n");
    desk.succeed("--quiet log append log.img a.csv");
    let server = Server::start(&desk, "log.img", "127.0.0.1:0");
    let mut browser = Browser::start();
    browser.open(&server.page());
    browser.click("tab-keys");
    assert_eq!(browser.rows("keys", 0).len(), 1);
    browser.value("byId('keys-from').value = '3e8'; byId('keys-from').focus()");
    desk.succeed("--quiet log append log.img b.csv");
    browser.wait_until("document.querySelectorAll('#keys tbody tr').length === 2");
    assert_eq!(browser.text("byId('keys-from').value + document.activeElement.id"), "3e8keys-from");
}

/// It ended with the signal's own code, where the server of block devices ends with 0.
#[test]
fn a_signal_ends_the_server_as_it_ends_other_servers() {
    for signal in ["-TERM", "-INT"] {
        let (_desk, mut server) = served();
        let sent = Command::new("kill").args([signal, &server.process.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let mut lines = String::new();
        server.output.read_to_string(&mut lines).unwrap();
        assert_eq!(server.process.wait().unwrap().code(), Some(0), "{signal}");
        assert!(lines.ends_with("heap.img: stopped\n"), "{lines}");
    }
}
