//! Proves that scripts run alike with and without power cuts, continue where the last run ended, and change nothing
//! when they have a mistake.

use norn_desk::{Answer, Desk, example, line};
use norn_flash::{Address, Nor};
use norn_flash_sim::NorSim;
use norn_heap::ObjectHeap;
use norn_heap_image::{create, mount, part_by_name, violations};
use norn_object_heap::Config;

/// Payments of which some are refused, and which reclaim units of a small part.
const SCRIPT: &str = "\
open ann
open bob
open eve
credit ann 900
credit bob 400
repeat 40
    transfer ann bob 7
    debit eve 5000
    transfer bob eve 3
    random-transfers 2
end
open guest
close guest
";

/// A part on which units are reclaimed soon.
const SMALL: &str = "--part test-12x4096";

fn desk_with_script() -> Desk {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn-purse"));
    desk.write("pay.txt", SCRIPT);
    desk
}

/// Accounts, log and refusals: what does not depend on power cuts.
fn books(report: &str) -> String {
    let (books, _) = report.split_once("In this run").unwrap();
    format!("{books}{}\n{}", line(report, "commands"), line(report, "money conserved:"))
}

fn found_violations(desk: &Desk) -> usize {
    let mut device = NorSim::open_image(&desk.path("a.img")).unwrap();
    violations(&mut mount(&mut device).unwrap()).unwrap().len()
}

fn make_heap(desk: &Desk, part: &str) {
    drop(create(&desk.path("a.img"), part_by_name(part).unwrap(), Config::default(), None).unwrap());
}

#[test]
fn a_heap_without_purses_is_refused() {
    let desk = desk_with_script();
    make_heap(&desk, "test-16x4096");
    let mut device = NorSim::open_image(&desk.path("a.img")).unwrap();
    let mut heap = mount(&mut device).unwrap();
    let array = heap.create_array(2, 2, b"").unwrap();
    heap.set_root(b"purses", Some(array)).unwrap();
    drop(device);
    desk.fail("a.img pay.txt", &["a.img: "]);
}

#[test]
fn cuts_change_nothing_but_the_cost() {
    let desk = desk_with_script();
    let smooth = desk.succeed(&format!("smooth.img pay.txt {SMALL}"));
    assert!(line(&smooth, "money conserved:").starts_with("yes (sum 1300 = 1300 credited"), "{smooth}");
    assert!(line(&smooth, "commands").contains("refused (insufficient balance: "), "{smooth}");
    assert!(!line(&smooth, "part").ends_with(" 0 units erased"), "{smooth}");
    let rough = desk.succeed(&format!("rough.img pay.txt {SMALL} --cut-power 5 --cuts-every 100"));
    assert_eq!(books(&smooth), books(&rough));
    assert!(line(&rough, "interrupted") != "0 found whole", "{rough}");
}

#[test]
fn many_seeds_conserve_money() {
    for seed in 0..12 {
        let desk = desk_with_script();
        let report = desk.succeed(&format!("a.img pay.txt {SMALL} --cut-power {seed} --cuts-every 15"));
        assert!(line(&report, "money conserved:").starts_with("yes"), "{report}");
        let cuts = line(&report, "power cuts").split(',').next().unwrap().parse::<u32>().unwrap();
        assert!(cuts > 300, "{report}");
        assert_eq!(found_violations(&desk), 0);
    }
}

#[test]
fn a_seed_gives_the_same_run_again() {
    let desk = desk_with_script();
    desk.succeed(&format!("a.img pay.txt {SMALL}"));
    std::fs::copy(desk.path("a.img"), desk.path("b.img")).unwrap();
    let run = |image: &str, seed| desk.succeed(&format!("{image} pay.txt --cut-power {seed}"));
    assert_eq!(run("a.img", 3), run("b.img", 3));
    assert_ne!(run("a.img", 3), run("b.img", 4));
}

#[test]
fn a_second_run_goes_on() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn-purse"));
    desk.write("pay.txt", "open ann\nopen bob\ncredit ann 100\ntransfer ann bob 30\n");
    let first = desk.succeed("a.img pay.txt");
    assert_eq!((account(&first, "ann"), account(&first, "bob")), ([70, 1, 1], [30, 1, 0]));
    assert_eq!(newest_entry(&first), 4);
    let second = desk.succeed("a.img pay.txt");
    assert_eq!((account(&second, "ann"), account(&second, "bob")), ([140, 2, 2], [60, 2, 0]));
    assert_eq!(newest_entry(&second), 6, "the accounts were open already");
    assert!(line(&second, "money conserved:").starts_with("yes (sum 200 = 200 credited"));
}

/// Balance, credits and debits.
fn account(report: &str, name: &str) -> [u32; 3] {
    let row = line(report, &format!(" {name} ")).split_whitespace().map(|figure| figure.parse().unwrap());
    row.collect::<Vec<_>>().try_into().unwrap()
}

fn newest_entry(report: &str) -> u32 {
    let (tables, _) = report.split_once("\n\nIn this run").unwrap();
    tables.lines().last().unwrap().split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn many_accounts_open_and_close_under_cuts() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn-purse"));
    let names: Vec<String> = (0..40).map(|number| format!("account-{number}")).collect();
    let all = |command: &str| names.iter().map(|name| format!("{command} {name}\n")).collect::<String>();
    desk.write("open.txt", all("open"));
    desk.write("both.txt", all("open") + &all("close") + &all("open"));
    desk.succeed("a.img open.txt --cut-power 1 --cuts-every 60");
    let report = desk.succeed("a.img both.txt --cut-power 2 --cuts-every 60");
    assert_eq!(line(&report, "commands"), "120 run, 0 refused");
    assert_eq!(found_violations(&desk), 0);
}

#[test]
fn a_mistake_in_a_script_names_its_line_and_changes_nothing() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn-purse"));
    desk.write("typo.txt", "open ann\ncredit ann 5\nopne bob\n");
    desk.fail("a.img typo.txt", &["typo.txt:3: unknown command `opne`: expected open, close"]);
    desk.write("stranger.txt", "open ann\nrepeat 2\ncredit bob 5\nend\n");
    desk.fail("a.img stranger.txt", &["stranger.txt:3: there is no account `bob`"]);
    assert!(!desk.path("a.img").exists(), "no image is made for a script with a mistake");

    desk.write("good.txt", "open ann\ncredit ann 10\n");
    desk.succeed("a.img good.txt");
    desk.write("nothing.txt", "");
    let before = desk.succeed("a.img nothing.txt");
    desk.write("closed.txt", "debit ann 10\nclose ann\ncredit ann 5\n");
    desk.fail("a.img closed.txt", &["closed.txt:3: there is no account `ann`"]);
    desk.fail("a.img typo.txt", &["typo.txt:3"]);
    desk.fail("a.img none.txt", &["none.txt: No such file"]);
    assert_eq!(books(&desk.succeed("a.img nothing.txt")), books(&before));
}

#[test]
fn an_image_of_another_part_or_with_other_things_is_refused() {
    let desk = desk_with_script();
    make_heap(&desk, "tinystore-4k");
    desk.fail("a.img pay.txt --part tinystore", &["a.img: a tinystore-4k, not a tinystore"]);
    desk.succeed("a.img pay.txt");
    desk.fail("b.img pay.txt --cuts-every 20", &["--cut-power"]);
}

#[test]
fn a_full_part_is_an_error_that_tells_how_to_replay_it() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn-purse"));
    let names: String = (0..200).map(|number| format!("open account-{number}\n")).collect();
    desk.write("open.txt", names);
    let answer: Answer = desk.run("a.img open.txt --part test-7x1024 --cut-power 77");
    assert_eq!(answer.code, 2, "{answer:?}");
    for said in
        ["a.img: full", "seed 77", "norn-purse a.img open.txt --part test-7x1024 --cut-power 77 --cuts-every 200"]
    {
        assert!(answer.errors.contains(said), "{answer:?}");
    }
    assert_eq!(found_violations(&desk), 0);
}

#[test]
fn a_part_too_small_for_purses_leaves_no_new_image() {
    let desk = desk_with_script();
    let said = ["a.img: purses need a part with larger erase units"];
    desk.fail("a.img pay.txt --part test-7x512", &said);
    assert!(!desk.path("a.img").exists());
    make_heap(&desk, "test-7x512");
    desk.fail("a.img pay.txt", &said);
    assert!(desk.path("a.img").exists(), "an image that was there before stays");
}

#[test]
fn damage_leads_to_the_checker() {
    let desk = desk_with_script();
    desk.succeed("a.img pay.txt");
    let mut device = NorSim::open_image(&desk.path("a.img")).unwrap();
    // What the newest data unit has, but its head.
    let part = device.part();
    let (unit, head) = (part.unit_size_bytes, 64);
    let mut content = vec![0; (unit - head) as usize];
    let newest = (1..u32::from(part.unit_count)).rev().map(|number| Address(number * unit + head)).find(|at| {
        device.read(*at, &mut content).unwrap();
        content.iter().filter(|byte| **byte != 0xFF).count() > 256
    });
    device.poke(newest.unwrap(), &vec![0; content.len()]);
    drop(device);
    desk.fail("a.img pay.txt", &["the heap in the image is damaged; `norn heap check a.img` shows where"]);
}

#[test]
fn the_example_reclaims_units() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn-purse"));
    let report = desk.succeed(&format!("a.img {} --cut-power 2006", example("purse.txt")));
    assert!(!line(&report, "part").ends_with(" 0 units erased"), "{report}");
    assert!(line(&report, "violations").starts_with("0 in "), "{report}");
}
