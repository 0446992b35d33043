//! Every creation of an image file, killed in its system calls: nothing is at its place, or all of it. Interrupted, it
//! leaves nothing.
//!
//! Cards, which are directories, are in `cards`.
#![cfg(target_os = "linux")]

use crate::killing;

use std::fs;

use killing::{interrupted, interrupted_though_ignored, killed};
use norn_desk::Desk;

/// Calls by which a file comes into being. Which of two a host uses for one thing does not matter.
const CALLS: [&str; 6] = ["openat", "ftruncate", "write", "fsync", "link,linkat", "unlink,unlinkat"];

/// Kills a creation in its calls, and makes the file in the end. Says how often nothing was there, and all.
fn kill_everywhere(create: &str, check: Option<&str>) -> [u32; 2] {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.succeed(&create.replace("IMAGE", "whole.img"));
    let whole = fs::read(desk.path("whole.img")).unwrap();
    let (mut nothing, mut all) = (0, 0);
    for calls in CALLS {
        let mut number = 1;
        while killed(&desk, &create.replace("IMAGE", "image.img"), calls, number) {
            let image = desk.path("image.img");
            if image.exists() {
                assert!(fs::read(&image).unwrap() == whole, "{create}: a part of it, at {calls} {number}");
                fs::remove_file(image).unwrap();
                all += 1;
            } else {
                nothing += 1;
            }
            number += 1 + number / 6;
        }
        // It was not killed.
        assert!(fs::read(desk.path("image.img")).unwrap() == whole, "{create}, {calls}");
        if let Some(check) = check {
            desk.succeed(&check.replace("IMAGE", "image.img"));
        }
        fs::remove_file(desk.path("image.img")).unwrap();
    }
    println!("{create}: {nothing} nothing, {all} all");
    [nothing, all]
}

#[test]
fn a_killed_creation_leaves_nothing_or_all() {
    for (create, check) in [
        ("heap create IMAGE --engine tinystore --part test-16x4096", Some("heap check IMAGE")),
        ("heap create IMAGE --part stm32l4", Some("heap check IMAGE")),
        ("heap create IMAGE --engine tinystore --part stm32l4", Some("heap check IMAGE")),
        ("log create IMAGE --part test-16x4096", Some("log check IMAGE")),
        ("nbd create IMAGE --part nandtest-32x16x512 --bad-blocks 3", Some("nbd check IMAGE")),
        ("code create IMAGE --part nandtest-32x16x512 --bad-blocks 3", None),
    ] {
        let [nothing, all] = kill_everywhere(create, check);
        assert!(nothing > 15 && all > 0, "{create}: {nothing}, {all}");
    }
}

/// Whoever presses Ctrl-C found `.norn-….new` in the directory.
#[test]
fn an_interrupted_creation_leaves_nothing() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.write("heap.json", "{}");
    desk.succeed("heap create old.img --part stm32l4:16");
    let before = desk.names();
    for (signal, number) in [("INT", 2), ("TERM", 15)] {
        for create in [
            "heap create new.img",
            "heap import heap.json new.img",
            "heap convert old.img new.img --part test-16x4096",
            "heap export old.img new.json",
            "image export old.img new.hex",
            "image import old.img new.img",
            "nbd create new.img --part nandtest-32x16x512",
            "explore old.img --out new.html",
        ] {
            assert_eq!(interrupted(&desk, create, "fsync", signal), Some(number), "{create}");
            assert_eq!(desk.names(), before, "{create}, {signal}");
        }
    }
}

#[test]
fn what_was_ignored_from_the_start_ends_no_command() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    for signal in ["INT", "HUP"] {
        assert_eq!(interrupted_though_ignored(&desk, "heap create new.img", "fsync", signal), None, "{signal}");
        desk.succeed("heap check new.img");
        fs::remove_file(desk.path("new.img")).unwrap();
    }
}
