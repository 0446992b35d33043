//! Applications of PC/SC take a card that `norn card serve` serves for a card: Debian's pcscd with the driver vpcd,
//! pyscard and opensc-tool, under both protocols, also where the card is pulled out in the middle of commands.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use norn_desk::Desk;

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

/// A server that ends with the test, also where that fails.
struct Server(Child);

impl Server {
    /// Asks it to end, and says how it did.
    fn end(mut self) -> std::process::ExitStatus {
        let pid = self.0.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.0.wait().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn pcsc_applications_use_a_served_card() {
    assert!(
        Path::new("/usr/lib/pcsc/drivers/serial/libifdvpcd.so").exists(),
        "no vsmartcard-vpcd: tools/ensure-test-programs installs what the tests need"
    );
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/card-jars");
    assert!(Command::new(tools).arg(desk.path("jars")).status().unwrap().success());
    for protocol in ["t1", "t0"] {
        let card = format!("{protocol}.card");
        desk.succeed(&format!("card new {card} --api jars/card-api.jar"));
        desk.succeed(&format!("card install {card} jars/purse.jar --param 31323334"));
        // The port of a listener that is gone: pcscd takes it at once.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = desk.path(&format!("pcscd-{protocol}"));
        std::fs::create_dir_all(&config).unwrap();
        let reader = format!(
            "FRIENDLYNAME \"Virtual PCD\"\nDEVICENAME /dev/null:0x{port:04X}\n\
             LIBPATH /usr/lib/pcsc/drivers/serial/libifdvpcd.so\nCHANNELID 0x{port:04X}\n"
        );
        std::fs::write(config.join("vpcd"), reader).unwrap();
        let address = format!("127.0.0.1:{port}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_norn"));
        command.args(["card", "serve"]).arg(desk.path(&card)).args(["--vpcd", &address, "--protocol", protocol]);
        let mut server = Server(command.stdout(Stdio::null()).spawn().unwrap());
        let root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
        let mut clients = Command::new(if root { "unshare" } else { "sudo" });
        if !root {
            clients.arg("unshare");
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/card_clients.py");
        clients.args(["--mount", "sh", "-c", SCRIPT, "sh"]).arg(&config).arg(&script).arg(protocol);
        clients.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut clients = clients.spawn().unwrap();
        let mut said = String::new();
        let mut pulls = 0;
        for line in BufReader::new(clients.stdout.take().unwrap()).lines() {
            said = line.unwrap();
            if said == "pull" {
                pulls += 1;
                thread::sleep(Duration::from_micros(40_700 * pulls));
                // Its process is killed while a command runs.
                drop(server);
                // Sooner the reader takes the card for the one that is gone.
                thread::sleep(Duration::from_millis(1_500));
                server = Server(command.spawn().unwrap());
            }
        }
        let output = clients.wait_with_output().unwrap();
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        let served = format!("{protocol}: all clients served, ");
        let money = said.strip_prefix(&served).unwrap_or_else(|| panic!("{said}")).replace(' ', "");
        assert_eq!(pulls, 3);
        assert!(server.end().success());
        // The money is on the card that was taken out.
        let answered = desk.succeed(&format!("card apdu {card} 00A4040006F00000000201 8050000004"));
        assert!(answered.ends_with(&format!("< {money} 9000\n")), "{answered}, not {money}");
    }
}
