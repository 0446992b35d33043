//! `norn code`: a program is installed, updated, booted, confirmed, rolled back and copied as its user expects, and
//! mistakes are named with what helps.

use norn_desk::Desk;
use norn_flash::{Block, Column};
use norn_flash_sim::NandSim;

/// A desk with two programs and an image for them.
fn desk() -> Desk {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.write("one.bin", vec![1; 5_000]);
    desk.write("two.bin", vec![2; 7_000]);
    let made = desk.succeed("code create part.img --part nandtest-32x16x512 --bad-blocks 2");
    assert_eq!(
        made,
        "part.img: a nandtest-32x16x512 for programs, with two rooms of 13 blocks, each for a program of at most \
         86016 bytes; `norn code install` fills one\n"
    );
    desk
}

#[test]
fn a_program_is_updated_tried_and_confirmed() {
    let desk = desk();
    let installed = desk.succeed("code install part.img one.bin --program-version 1.0.0");
    assert_eq!(
        installed,
        format!("part.img: program 1.0.0, 5000 bytes, CRC-32C {:#010x}: boots run it from now on\n", check(1, 5000))
    );
    assert!(desk.succeed("code boot part.img").starts_with("part.img: room A runs: program 1.0.0, 5000 bytes"));

    let updated = desk.succeed("code update part.img two.bin --program-version 1.1.0 --boots 2");
    assert!(updated.contains("on trial for 2 boots"), "{updated}");
    let status = desk.succeed("code status part.img");
    let lines: Vec<&str> = status.lines().collect();
    assert_eq!(lines[0], "part.img: programs on a nandtest-32x16x512, in two rooms of 13 blocks");
    assert!(lines[1].starts_with("room A: program 1.0.0") && !lines[1].contains("runs"), "{status}");
    assert!(lines[2].starts_with("room B: program 1.1.0") && lines[2].ends_with("runs, on trial for 2 boots"));
    assert!(desk.succeed("code boot part.img").contains("room B runs: program 1.1.0"));
    desk.succeed("code confirm part.img");
    for _ in 0..3 {
        assert!(desk.succeed("code boot part.img").contains("room B runs: program 1.1.0"));
    }
    assert!(desk.succeed("code rollback part.img").contains("program 1.0.0"));
    assert!(desk.succeed("code boot part.img").contains("room A runs: program 1.0.0"));
}

/// What `create` says of a room is what `install` takes, to the byte: on a small part the blocks decide, on a large one
/// the numbers of cache pages.
#[test]
fn a_room_takes_a_program_of_the_size_that_is_stated_and_no_larger_one() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    for (part, stated) in [("nandtest-32x16x512", 12 * 16 * 7 * 64), ("k9f2808", 65_535 * 64)] {
        let image = format!("{part}.img");
        let made = desk.succeed(&format!("code create {image} --part {part}"));
        assert!(made.contains(&format!("a program of at most {stated} bytes;")), "{made}");
        desk.write("larger.bin", vec![1; stated + 1]);
        desk.fail(&format!("code install {image} larger.bin --program-version 1.0.0"), &["an image of", "bytes"]);
        desk.write("largest.bin", vec![1; stated]);
        desk.succeed(&format!("code install {image} largest.bin --program-version 1.0.0"));
    }
}

/// CRC-32C of bytes that are all the same.
fn check(byte: u8, bytes: usize) -> u32 {
    let shift = |crc: u32| crc >> 1 ^ if crc & 1 == 1 { 0x82F6_3B78 } else { 0 };
    !(0..bytes).fold(!0, |crc: u32, _| (0..8).fold(crc ^ u32::from(byte), |crc, _| shift(crc)))
}

#[test]
fn a_program_that_is_not_confirmed_goes() {
    let desk = desk();
    desk.succeed("code install part.img one.bin --program-version 1.0.0");
    desk.succeed("code update part.img two.bin --program-version 1.1.0");
    let tried = desk.succeed("code boot part.img");
    assert!(tried.contains("room B runs") && tried.contains("the next boot goes back, unless"), "{tried}");
    desk.fail("code update part.img one.bin --program-version 1.2.0", &["on trial", "`norn code confirm`"]);
    let back = desk.succeed("code boot part.img");
    assert!(back.contains("room A runs") && back.contains("rolled back"), "{back}");
    desk.succeed("code update part.img two.bin --program-version 1.1.1 --confirmed");
    for _ in 0..3 {
        assert!(desk.succeed("code boot part.img").contains("room B runs: program 1.1.1"));
    }
}

#[test]
fn a_program_is_copied_to_a_file() {
    let desk = desk();
    let code: Vec<u8> = (0..5_001u32).map(|at| (at * 7 % 251) as u8).collect();
    desk.write("odd.bin", code.clone());
    desk.succeed("code install part.img odd.bin --program-version 1.0.0");
    desk.fail("code read part.img b.bin --room b", &["part.img: room B: no program"]);
    desk.succeed("code update part.img two.bin --program-version 1.1.0");
    let told = desk.succeed("code read part.img running.bin");
    assert!(told.starts_with("part.img: room B: program 1.1.0, 7000 bytes"), "{told}");
    assert!(told.ends_with("copied to running.bin\n"), "{told}");
    desk.succeed("code read part.img a.bin --room A");
    assert_eq!(std::fs::read(desk.path("running.bin")).unwrap(), vec![2; 7_000]);
    assert_eq!(std::fs::read(desk.path("a.bin")).unwrap(), code);
    desk.fail("code read part.img a.bin", &["a.bin: there is such a file; it is never overwritten"]);
    desk.fail("code read part.img c.bin --room c", &["a part has room A and room B"]);
    assert_eq!(std::fs::read(desk.path("a.bin")).unwrap(), code, "it is not overwritten");
    assert!(!desk.path("b.bin").exists() && !desk.path("c.bin").exists());
    assert!(desk.succeed("code boot part.img").contains("room B runs"), "a copy is no boot");
}

#[test]
fn a_damaged_program_is_found_and_gives_way() {
    let desk = desk();
    desk.succeed("code install part.img one.bin --program-version 1.0.0");
    desk.succeed("code update part.img two.bin --program-version 1.1.0 --confirmed");
    let mut part = NandSim::open_image(&desk.path("part.img")).unwrap();
    // The second block of room B that is good.
    let page = (20..32).map(|block| Block(block).page(0)).find(|&page| part.peek(page)[..64] == [2; 64]).unwrap();
    part.poke(page, Column(3), &[9, 9, 9]);
    drop(part);
    let status = desk.run("code status part.img");
    assert_eq!((status.code, status.errors.as_str()), (1, ""));
    assert!(status.output.contains("room B: ") && status.output.contains("more wrong bits"), "{}", status.output);
    desk.fail("code read part.img damaged.bin", &["room B: ", "more wrong bits"]);
    assert!(!desk.path("damaged.bin").exists());
    assert!(desk.succeed("code boot part.img").contains("room A runs: program 1.0.0"));
    desk.succeed("code status part.img");
    desk.fail("code rollback part.img", &["no whole program in room B"]);
}

#[test]
fn mistakes_are_named() {
    let desk = desk();
    desk.fail("code read part.img out.bin", &["no program is installed"]);
    for command in ["status", "boot", "confirm", "rollback"] {
        let said = ["part.img: no program is installed; `norn code install` installs one", "it is a blank"];
        desk.fail(&format!("code {command} part.img"), &said);
    }
    desk.fail("code update part.img one.bin --program-version 1.0.0", &["no program is installed"]);
    desk.fail("code install part.img one.bin --program-version 1.0", &["a version is three numbers, such as 1.4.0"]);
    desk.fail("code install part.img none.bin --program-version 1.0.0", &["none.bin: No such file"]);
    desk.write("empty.bin", "");
    desk.fail(
        "code install part.img empty.bin --program-version 1.0.0",
        &["empty.bin: a file of 0 bytes is not a program"],
    );
    desk.write("large.bin", vec![3; 200_000]);
    let large = "code install part.img large.bin --program-version 1.0.0";
    desk.fail(large, &["an image of 200000 bytes does not fit 13 blocks"]);
    desk.succeed("code install part.img one.bin --program-version 1.0.0");
    let again = "code install part.img two.bin --program-version 1.1.0";
    desk.fail(again, &["room A has a program that runs", "`norn code update`"]);
    desk.fail("code rollback part.img", &["no whole program in room B"]);
    desk.fail("code create part.img", &["part.img"]);
    desk.fail("code update part.img two.bin --program-version 1.1.0 --boots 0", &["0 is not in 1..=255"]);

    let small = "code create small.img --part nandtest-8x4x512";
    desk.fail(small, &["small.img: two rooms and a switch cannot be here: a room has one block for a header"]);
    desk.fail("code create bad.img --bad-blocks 600", &["bad.img: 600 bad blocks of 1024"]);
    assert!(!desk.path("small.img").exists() && !desk.path("bad.img").exists());

    desk.succeed("nbd create disk.img --part nandtest-32x16x512");
    let disk = "code install disk.img one.bin --program-version 1.0.0";
    desk.fail(disk, &["not blank", "`norn nbd check disk.img` opens it"]);
    desk.succeed("nbd check disk.img");
}
