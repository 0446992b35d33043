//! `norn card`: a card is made, gets applets, answers commands through power cuts and resets, and loses nothing;
//! mistakes are named with what helps.

#[cfg(target_os = "linux")]
use crate::killing;

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use norn_desk::Desk;

/// A desk with a card's API and the purse as jars.
fn desk() -> Desk {
    static JARS: OnceLock<tempfile::TempDir> = OnceLock::new();
    let jars = JARS.get_or_init(|| {
        let jars = tempfile::tempdir().unwrap();
        let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/card-jars");
        assert!(Command::new(tool).arg(jars.path()).status().unwrap().success());
        jars
    });
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    for jar in ["card-api.jar", "purse.jar"] {
        desk.write(jar, std::fs::read(jars.path().join(jar)).unwrap());
    }
    desk
}

fn json(desk: &Desk, words: &str) -> serde_json::Value {
    serde_json::from_str(&desk.succeed(words)).unwrap_or_else(|error| panic!("{words}: {error}"))
}

fn with_purse() -> Desk {
    let desk = desk();
    let made = desk.succeed("card new my.card --api card-api.jar");
    assert!(made.starts_with("my.card: a card on a tinystore of 56 units of 8192 bytes, its packages on a k9f2808\n"));
    let installed = desk.succeed("card install my.card purse.jar --param 31323334");
    assert!(installed.starts_with("package F000000002 1.0: "), "{installed}");
    assert!(installed.ends_with("\napplet F00000000201 is installed\n"), "{installed}");
    desk
}

const SELECT: &str = "00A4040006F00000000201";

#[test]
fn an_applet_is_installed_used_and_deleted() {
    let desk = with_purse();
    let listed = desk.succeed("card ls my.card");
    assert!(listed.contains("F000000002  1.0") && listed.contains("F00000000201  F00000000201"), "{listed}");
    let answered = desk.succeed(&format!("card apdu my.card {SELECT} 80200000043132333400"));
    assert_eq!(answered, format!("> {SELECT}\n< 9000\n> 80200000043132333400\n< 9000\n"));
    let script = "# a debit\n00 A4 04 00 06 F00000000201 = 9000\n80 20 00 00 04 31323334=9000\n8030000002 01F4 = 9000\n\
                  8040000002 0064 = 9000\n8050000004 = 9000\nreset\n8050000004 = 6999\n";
    desk.write("debit.apdu", script);
    let answered = desk.succeed("card apdu my.card debit.apdu");
    assert!(answered.contains("> 8050000004\n< 01900001 9000\n-- reset\n> 8050000004\n< 6999\n"), "{answered}");
    assert_eq!(desk.succeed("card check my.card"), "violations: 0\n");
    assert_eq!(desk.succeed("card check my.card --quiet"), "");
    assert_eq!(json(&desk, "card check my.card --json")["violations"].as_array().map(Vec::len), Some(0));
    let held = json(&desk, "card ls my.card --json");
    let purse = held["packages"].as_array().unwrap().iter().find(|package| package["aid"] == "F000000002");
    assert_eq!(purse.unwrap()["applets"][0], "F00000000201");
    assert_eq!(held["instances"][0]["package"], "F000000002");
    let held = json(&desk, "card show my.card --json");
    assert_eq!((held["objects"].as_u64(), held["part"].as_str()), (Some(12), Some("tinystore")));
    assert!(held["classes"].as_array().unwrap().iter().any(|class| class["class"] == "purse.Purse"), "{held}");
    let shown = desk.succeed("card show my.card");
    for said in [
        "objects    12 on flash",
        " 1 purse.Purse\n",
        " 1 javacard.framework.OwnerPIN\n",
        "tinystore",
        "transient",
        "erases     min",
    ] {
        assert!(shown.contains(said), "{shown}");
    }
    // A second instance, with a PIN of its own.
    let second = "card install my.card purse.jar --instance F00000000201=F0000000020102 --param 39393939";
    assert_eq!(desk.succeed(second), "applet F0000000020102 is installed\n");
    let answered = desk.succeed("card apdu my.card 00A4040007F0000000020102 802000000439393939");
    assert!(answered.ends_with("> 802000000439393939\n< 9000\n"), "{answered}");
    assert_eq!(desk.succeed("card delete my.card F0000000020102"), "F0000000020102 is deleted\n");
    desk.succeed("card delete my.card F00000000201");
    desk.succeed("card delete my.card F000000002");
    assert!(!desk.succeed("card ls my.card").contains("F000000002"));
}

#[test]
fn a_script_with_power_cuts_goes_on_after_each() {
    let desk = with_purse();
    let mut script = String::new();
    for _ in 0..40 {
        script += &format!("{SELECT}\n802000000431323334\n80300000020001\n");
    }
    desk.write("credits.apdu", &script);
    let answered = desk.succeed("card apdu my.card --script credits.apdu --cut-power 7 --cuts-every 20");
    let cuts = answered.matches("the power was cut; the card is reset").count();
    assert!(cuts > 10, "{answered}");
    assert!(answered.ends_with(&format!("power cuts: {cuts}\n")), "{answered}");
    let again = with_purse();
    again.write("credits.apdu", &script);
    assert_eq!(again.succeed("card apdu my.card --script credits.apdu --cut-power 7 --cuts-every 20"), answered);
    assert_eq!(desk.succeed("card check my.card"), "violations: 0\n");
    let answered = desk.succeed(&format!("card apdu my.card {SELECT} 8050000004"));
    let balance = u32::from_str_radix(&answered[answered.len() - 14..answered.len() - 10], 16).unwrap();
    assert!((1..=40).contains(&balance), "{answered}");
}

/// A card is made under another name until it is whole. That name was `my.part` once, and whatever had it was deleted.
#[test]
fn a_new_card_leaves_alone_what_is_beside_it() {
    let desk = desk();
    std::fs::create_dir(desk.path("my.part")).unwrap();
    desk.write("my.part/thesis.txt", "the only copy");
    desk.succeed("card new my.card --api card-api.jar");
    assert_eq!(std::fs::read_to_string(desk.path("my.part/thesis.txt")).unwrap(), "the only copy");
    assert_eq!(desk.names(), ["card-api.jar", "my.card", "my.part", "purse.jar"]);
    // A name is no extension of another.
    desk.succeed("card new deeper/down/other.part --api card-api.jar");
    desk.succeed("card check deeper/down/other.part");
}

/// What a killed process has left has another name, and is in nobody's way. An interrupted one leaves nothing.
#[cfg(target_os = "linux")]
#[test]
fn a_card_whose_making_is_killed_is_not_there() {
    let desk = desk();
    let interrupted = killing::interrupted(&desk, "card new my.card --api card-api.jar", "fsync", "INT");
    assert_eq!((interrupted, desk.names()), (Some(2), vec!["card-api.jar".to_owned(), "purse.jar".to_owned()]));
    let calls = [("mkdir", 1), ("openat", 9), ("write", 5), ("write", 500), ("fsync", 2), ("rename", 1)];
    for (call, number) in calls {
        let is_killed = killing::killed(&desk, "card new my.card --api card-api.jar", call, number);
        assert!(is_killed && !desk.path("my.card").exists(), "{call} {number}");
    }
    desk.succeed("card new my.card --api card-api.jar");
    desk.succeed("card check my.card");
}

/// With an older image of the NOR part the card does not know the purse, and clears it from NAND when power comes. To
/// look at such a card does nothing to its files, so that the right image still helps.
#[test]
fn looking_at_a_card_changes_nothing() {
    let desk = desk();
    desk.succeed("card new my.card --api card-api.jar");
    let old = std::fs::read(desk.path("my.card/nor.img")).unwrap();
    desk.succeed("card install my.card purse.jar --param 31323334");
    let images = || ["nor.img", "nand.img"].map(|image| std::fs::read(desk.path("my.card").join(image)).unwrap());
    let before = images();
    desk.write("my.card/nor.img", &old);
    for look in ["ls", "show", "check"] {
        assert!(!desk.succeed(&format!("card {look} my.card")).contains("F000000002"));
    }
    assert!(images() == [old, before[1].clone()]);
    desk.write("my.card/nor.img", &before[0]);
    assert_eq!(desk.succeed("card check my.card"), "violations: 0\n");
    assert!(desk.succeed("card ls my.card").contains("F00000000201"));
    assert!(images() == before);
}

#[test]
fn mistakes_are_named() {
    let desk = with_purse();
    desk.fail("card new my.card --api card-api.jar", &["my.card exists, and a card is never made over it"]);
    desk.fail("card new other.card --api none.jar", &["none.jar", "tools/card-jars"]);
    desk.fail("card new other.card --api purse.jar", &["purse"]);
    assert_eq!(desk.names(), ["card-api.jar", "my.card", "purse.jar"]);
    desk.fail("card new other.card --api card-api.jar --part stm32l4", &["stm32l4", "programmed several times"]);
    desk.fail("card install my.card purse.jar", &["F000000002 is on the card already"]);
    desk.fail("card install my.card none.jar", &["none.jar"]);
    desk.write("text.jar", "no jar");
    desk.fail("card install my.card text.jar", &["text.jar"]);
    desk.fail("card delete my.card F000000009", &["no package or applet F000000009 is on the card"]);
    desk.fail("card delete my.card F000000001", &["in use"]);
    desk.fail("card delete my.card F0000", &["5 to 16 bytes"]);
    desk.fail("card ls none.card", &["none.card: there is no card; `norn card new` makes one"]);
    desk.fail("card ls .", &[".: there is no card"]);
    desk.fail("card check text.jar", &["text.jar: a card is a directory, and this is a file"]);
    desk.fail("card apdu my.card 00A", &["hexadecimal"]);
    desk.write("wrong.apdu", "00A40400\n00A4 = 9\n\nfoo\n");
    desk.fail("card apdu my.card --script wrong.apdu", &["wrong.apdu", "line 4", "`foo`"]);
    desk.write("status.apdu", "00A40400 = nine\n");
    desk.fail("card apdu my.card --script status.apdu", &["line 1", "nine"]);
    // An unexpected status word is a finding.
    desk.write("unexpected.apdu", "8050000004 = 9000\n");
    let answer = desk.run("card apdu my.card --script unexpected.apdu");
    assert_eq!(
        (answer.code, answer.output.as_str()),
        (1, "> 8050000004\n< 6999, expected 9000\nunexpected status words: 1\n")
    );
    // A package whose image has gone.
    let path = desk.path("my.card/nand.img");
    let mut nand = norn_flash_sim::NandSim::open_image(&path).unwrap();
    let header = nand_block_of(&mut nand);
    norn_flash::Nand::erase(&mut nand, header).unwrap();
    drop(nand);
    let answer = desk.run("card check my.card");
    let lost = "package 1: installed, and its image is damaged or gone\n";
    assert_eq!((answer.code, answer.output), (1, format!("{lost}violations: 1\n")));
    assert!(desk.succeed("card ls my.card").ends_with(lost));
    assert_eq!(desk.succeed("card apdu my.card 8050000004"), format!("-- {lost}> 8050000004\n< 6999\n"));
}

/// The block with the header of the second package: the second one of those that are programmed at their start.
fn nand_block_of(nand: &mut norn_flash_sim::NandSim) -> norn_flash::Block {
    use norn_flash::Nand;
    let blocks = Nand::part(nand).blocks();
    let mut headers = blocks.filter(|block| {
        let mut magic = [0; 4];
        nand.load(block.page(0)).unwrap();
        nand.fetch(&mut magic).unwrap();
        magic == *b"NPAG"
    });
    headers.nth(1).unwrap()
}

#[test]
fn a_trace_has_the_bytecodes_that_were_carried_out() {
    let desk = with_purse();
    let traced = desk.succeed(&format!("card trace my.card {SELECT} 80200000043132333400 --out purse.runs"));
    assert!(traced.contains("< 9000\n> 80200000043132333400\n< 9000\n"), "{traced}");
    let bytes = std::fs::read(desk.path("purse.runs")).unwrap();
    let half = |record: &[u8], at: usize| u32::from(u16::from_le_bytes([record[at], record[at + 1]]));
    let (mut instructions, mut look_ups) = (0, 0);
    for record in bytes.chunks_exact(8) {
        let (bytes, of_run) = (half(record, 4), half(record, 6));
        assert!(bytes >= of_run.max(1) && half(record, 2) == 0, "{record:?}");
        instructions += of_run;
        look_ups += u32::from(of_run == 0);
    }
    assert_eq!(bytes.len() % 8, 0);
    let all = traced.lines().find_map(|line| line.trim().strip_prefix("all ")).unwrap().trim();
    assert_eq!(all, instructions.to_string());
    assert!(traced.contains(&format!("look-ups of the cache: {look_ups}\n")), "{traced}");
    assert!(instructions > 50 && look_ups > 50, "{traced}");
    // The card is as before: nothing of it is changed by looking at it.
    assert_eq!(desk.succeed("card check my.card"), "violations: 0\n");
}
