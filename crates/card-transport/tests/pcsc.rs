//! Applications of PC/SC take a served card for a card: Debian's pcscd with the driver vpcd, pyscard and opensc-tool.
//!
//! pcscd runs with a `/run` of its own, so that it meets no other, and its reader at a port of its own. The card is
//! served again whenever its connection ends, also in the middle of a command, which INS DE asks for.

use crate::echo;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use echo::Echo;
use norn_card_transport::{CardIo, Link, Power, T0, T1, serve};

/// How long a card stays out. pcscd polls for cards: one that comes back sooner is taken for the last, with power.
const OUT: Duration = Duration::from_secs(1);

/// Pulls the card out before it answers.
const PULL_OUT: u8 = 0xDE;

struct Removable<'a> {
    card: Echo,
    link: &'a Link,
}

impl CardIo for Removable<'_> {
    fn power(&mut self, power: Power) {
        self.card.power(power);
    }

    fn atr(&self) -> &[u8] {
        self.card.atr()
    }

    fn transmit(&mut self, command: &[u8], answer: &mut Vec<u8>) {
        if command.get(1) == Some(&PULL_OUT) {
            self.link.pull_out().unwrap();
        }
        self.card.transmit(command, answer);
    }
}

/// Serves a card, again and again, until the clients are done. Answers how often.
fn serve_until(done: &AtomicBool, address: SocketAddr, protocol: &str) -> u32 {
    let mut served = 0;
    while !done.load(Ordering::Relaxed) {
        let Ok(link) = Link::dial(address, Duration::from_secs(5)) else {
            std::thread::sleep(Duration::from_millis(50));
            continue;
        };
        served += 1;
        let atr: &[u8] = if protocol == "T0" { &[0x3B, 0x00] } else { &[0x3B, 0x80, 0x01, 0x81] };
        let card = Removable { card: Echo::new(atr), link: &link };
        let end = match protocol {
            "T0" => serve(&link, &link, &mut T0::new(card)),
            _ => serve(&link, &link, &mut T1::new(card)),
        };
        println!("{protocol}: {end:?}");
        std::thread::sleep(OUT);
    }
    served
}

/// pcscd in a mount namespace of its own, the clients beside it; pcscd ends with them.
const SCRIPT: &str = r#"
mount -t tmpfs tmpfs /run && mkdir /run/pcscd
pcscd --foreground --config "$1" >"$1.log" 2>&1 &
pcscd=$!
timeout 100 /usr/bin/python3 "$2" "$3"; status=$?
kill $pcscd; wait $pcscd
[ $status = 0 ] || tail -40 "$1.log" >&2
exit $status
"#;

fn drive(protocol: &str) {
    assert!(
        Path::new("/usr/lib/pcsc/drivers/serial/libifdvpcd.so").exists(),
        "no vsmartcard-vpcd: tools/ensure-test-programs installs what the tests need"
    );
    // The port of a listener that is gone: pcscd takes it at once.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let config = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("pcscd-{protocol}-{}", std::process::id()));
    std::fs::create_dir_all(&config).unwrap();
    let reader = format!(
        "FRIENDLYNAME \"Virtual PCD\"\nDEVICENAME /dev/null:0x{port:04X}\n\
         LIBPATH /usr/lib/pcsc/drivers/serial/libifdvpcd.so\nCHANNELID 0x{port:04X}\n"
    );
    std::fs::write(config.join("vpcd"), reader).unwrap();
    let done = AtomicBool::new(false);
    let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients.py");
    let address = (Ipv4Addr::LOCALHOST, port).into();
    std::thread::scope(|scope| {
        let card = scope.spawn(|| serve_until(&done, address, protocol));
        let root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
        let mut command = Command::new(if root { "unshare" } else { "sudo" });
        if !root {
            command.arg("unshare");
        }
        command.args(["--mount", "sh", "-c", SCRIPT, "sh"]).arg(&config).arg(&clients).arg(protocol);
        let output = command.stdin(Stdio::null()).output();
        done.store(true, Ordering::Relaxed);
        let output = output.unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(said.trim(), format!("{protocol}: all clients served"));
        let served = card.join().unwrap();
        assert_eq!(served, 4, "three removals, and the end");
    });
    std::fs::remove_dir_all(&config).unwrap();
}

#[test]
fn applications_are_served_under_t1() {
    drive("T1");
}

#[test]
fn applications_are_served_under_t0() {
    drive("T0");
}
