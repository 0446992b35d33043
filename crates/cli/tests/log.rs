//! `norn log`: readings come back, means are right, nothing acknowledged is lost to power cuts, a full log forgets its
//! oldest readings, and wrong input is named with its line.

use norn_desk::{Desk, line};
use norn_flash_sim::{NorSim, Tear};
use norn_ordered_index::{FatList, OrderedIndex};

/// 2026-11-20T00:00:00Z.
const MIDNIGHT: u32 = 1_795_132_800;
/// A part on which blocks are moved soon.
const SMALL: &str = "--part test-16x4096";

/// A reading a minute: 1000 thousandths and one more each time.
fn minutes(from: u32, count: u32) -> String {
    let lines =
        (from..from + count).map(|minute| format!("{},{}\n", MIDNIGHT + 60 * minute, f64::from(1000 + minute) / 1e3));
    format!("timestamp,value\n{}", lines.collect::<String>())
}

fn desk_with_log(csv: &str, part: &str) -> Desk {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.write("a.csv", csv);
    desk.succeed(&format!("log create a.img {part}"));
    desk
}

#[test]
fn the_mean_of_yesterday_ten_to_eleven() {
    let desk = desk_with_log(&minutes(0, 2000), "");
    let report = desk.succeed("log append a.img a.csv");
    assert_eq!((line(&report, "new"), line(&report, "replaced")), ("2000", "0"));
    let mean = desk.succeed("log mean a.img yesterdayT10:00 yesterdayT11:00");
    // Minutes 600 to 659.
    assert_eq!((line(&mean, "readings"), line(&mean, "mean")), ("60", "1.629"));
    assert_eq!((line(&mean, "least"), line(&mean, "greatest")), ("1.600", "1.659"));
    assert_eq!(line(&mean, "from"), "2026-11-20T10:00:00Z");
    assert_eq!(mean, desk.succeed("log mean a.img 2026-11-20T10:00 2026-11-20T12:00:00+01:00"));
    assert_eq!(line(&desk.succeed("log mean a.img"), "readings"), "2000");
    assert_eq!(line(&desk.succeed("log check a.img"), "violations"), "0");

    let range = desk.succeed(&format!("log range a.img {} {}", MIDNIGHT + 60, MIDNIGHT + 180));
    assert_eq!(range, "timestamp,value\n2026-11-20T00:01:00Z,1.001\n2026-11-20T00:02:00Z,1.002\n");
    let plot = desk.succeed("log plot a.img --columns 50 --rows 6");
    assert_eq!(plot.lines().count(), 8, "{plot}");
    assert!(plot.contains("2026-11-20T00:00:00Z") && plot.contains('█'), "{plot}");
}

#[test]
fn what_a_log_writes_it_reads_and_knows() {
    let desk = desk_with_log(&minutes(0, 300), SMALL);
    desk.succeed("log append a.img a.csv");
    let all = desk.succeed("log range a.img");
    assert_eq!(all.lines().count(), 301);
    desk.write("b.csv", &all);
    let again = desk.succeed("log append a.img b.csv");
    assert_eq!((line(&again, "new"), line(&again, "known before")), ("0", "300"));
    desk.write("c.csv", format!("{},-7.5\n", MIDNIGHT + 60));
    assert_eq!(line(&desk.succeed("log append a.img c.csv"), "replaced"), "1");
    let changed = desk.succeed("log range a.img");
    assert_eq!(changed, all.replace("00:01:00Z,1.001", "00:01:00Z,-7.500"));
}

#[test]
fn power_cuts_in_the_middle_of_appends_lose_nothing() {
    let (mut whole, mut absent) = (0, 0);
    for seed in 0..6 {
        let desk = desk_with_log(&minutes(0, 500), SMALL);
        let report = desk.succeed(&format!("log append a.img a.csv --cut-power {seed} --cuts-every 24"));
        let cuts = line(&report, "power cuts");
        assert!(cuts.split(';').next().unwrap().parse::<u32>().unwrap() > 20, "{report}");
        let number = |text: &str| text.split_whitespace().next().unwrap().parse::<u32>().unwrap();
        let (found_whole, found_absent) = cuts.split_once("flight: ").unwrap().1.split_once(", ").unwrap();
        (whole, absent) = (whole + number(found_whole), absent + number(found_absent));
        assert_eq!(line(&report, "lost").split(':').next(), Some("0"));
        let mean = desk.succeed("log mean a.img");
        assert_eq!((line(&mean, "readings"), line(&mean, "mean")), ("500", "1.249"), "seed {seed}");
        assert_eq!(line(&desk.succeed("log check a.img"), "violations"), "0", "seed {seed}");
    }
    assert!(whole > 0 && absent > 0, "cuts hit readings before and after they counted: {whole}, {absent}");
}

#[test]
fn an_image_left_by_a_cut_is_gone_on_with() {
    for operations in [0, 3, 40, 700] {
        let desk = desk_with_log(&minutes(0, 200), SMALL);
        desk.succeed("log append a.img a.csv");
        // The program that runs when the power fails is the device's own, on the file of readings' last hour.
        let mut device = NorSim::open_image(&desk.path("a.img")).unwrap();
        let mut readings = FatList::<_, 4, 4>::mount(&mut device).unwrap();
        readings.device_mut().cut_power_after(operations, Tear::Subset(operations));
        let at = |minute: u32| (MIDNIGHT + 60 * minute).to_be_bytes();
        let acknowledged = (200..).take_while(|&minute| readings.insert(&at(minute), &[0; 4]).is_ok()).count();
        drop(device);
        let kept: usize = line(&desk.succeed("log mean a.img"), "readings").parse().unwrap();
        assert!((200 + acknowledged..=201 + acknowledged).contains(&kept), "{kept} after {acknowledged} more");
        assert_eq!(line(&desk.succeed("log check a.img"), "violations"), "0");
    }
}

#[test]
fn a_full_log_forgets_its_oldest_readings() {
    let desk = desk_with_log(&minutes(0, 8000), SMALL);
    let report = desk.succeed("log append a.img a.csv");
    let forgotten: u32 = line(&report, "forgotten").split_whitespace().next().unwrap().parse().unwrap();
    assert!(forgotten > 1000, "{report}");
    let kept: u32 = line(&desk.succeed("log mean a.img"), "readings").parse().unwrap();
    assert_eq!(kept + forgotten, 8000, "the newest are kept");
    let expected = minutes(forgotten, kept).lines().count();
    assert_eq!(desk.succeed("log range a.img").lines().count(), expected);
    assert_eq!(line(&desk.succeed("log mean a.img"), "least"), format!("{:.3}", f64::from(1000 + forgotten) / 1e3));

    let rough = desk_with_log(&minutes(0, 8000), SMALL);
    let report = rough.succeed("log append a.img a.csv --cut-power 3 --cuts-every 1000");
    assert!(report.contains("power cuts"), "{report}");
    assert_eq!(line(&rough.succeed("log check a.img"), "violations"), "0");
}

#[test]
fn wrong_readings_are_named_by_line_and_change_nothing() {
    let desk = desk_with_log("timestamp,value\n60,1\n120,warm\n", SMALL);
    let before = std::fs::read(desk.path("a.img")).unwrap();
    desk.fail("log append a.img a.csv", &["a.csv:3", "value \"warm\" is not a number"]);
    for (csv, said) in [
        ("60,1\n61\n", "a.csv:2: 1 field instead of a timestamp and a value with a comma between"),
        ("noon,1\n", "a.csv:1: timestamp \"noon\" is neither seconds since 1970 nor like"),
        ("1,1\n-3,1\n", "a.csv:2: timestamp \"-3\" is not between 1970 and 2106"),
        ("1,1e99\n", "a.csv:1: value \"1e99\" is not within"),
    ] {
        desk.write("a.csv", csv);
        desk.fail("log append a.img a.csv", &[said]);
    }
    assert_eq!(std::fs::read(desk.path("a.img")).unwrap(), before, "nothing has changed");
    desk.fail("log append a.img none.csv", &["none.csv: No such file"]);
}

#[test]
fn wrong_questions_and_images_are_named() {
    let desk = desk_with_log(&minutes(0, 10), SMALL);
    desk.fail("log mean a.img", &["a.img: the log has no readings yet"]);
    desk.succeed("log append a.img a.csv");
    desk.fail("log mean a.img today yesterday", &["is empty"]);
    desk.fail(
        "log mean a.img yesterdayT10:00 yesterdayT11:00",
        &["no readings from 2026-11-19T10:00:00Z to 2026-11-19T11:00:00Z"],
    );
    desk.fail("log plot a.img 60 120", &["no readings from 1970-01-01T00:01:00Z"]);
    desk.fail("log mean a.img yesterdayTnoon", &["not a time of day, such as 10:00"]);
    desk.fail("log create a.img", &["never overwritten"]);
    desk.fail(
        "log create b.img --part stm32l4",
        &[
            "b.img: cannot be formatted: unsuitable: an index takes words that can be programmed again and again",
            "a log needs a part of unlimited reprogramming: `norn parts` lists them, and --part NAME takes one",
        ],
    );
    assert!(!desk.path("b.img").exists(), "what cannot be formatted is not left behind");
    desk.succeed("heap create heap.img --engine tinystore");
    desk.fail("log mean heap.img", &["heap.img: no log can be mounted: not formatted"]);
    desk.write("text.img", "some text");
    desk.fail("log check text.img", &["text.img", "NORNSIM"]);
}

#[test]
fn damage_gives_findings_or_an_error_and_never_a_panic() {
    let desk = desk_with_log(&minutes(0, 400), SMALL);
    desk.succeed("log append a.img a.csv");
    let (mut random, mut noticed) = (fastrand::Rng::with_seed(7), 0);
    for round in 0..40 {
        std::fs::copy(desk.path("a.img"), desk.path("b.img")).unwrap();
        let mut device = NorSim::open_image(&desk.path("b.img")).unwrap();
        for _ in 0..64 {
            let at = norn_flash::Address(random.u32(0..16 * 4096));
            device.poke(at, &[random.u8(..)]);
        }
        drop(device);
        let answer = desk.run("log check b.img");
        assert!([0, 1, 2].contains(&answer.code), "round {round}: {answer:?}");
        assert!(!answer.errors.contains("panicked"), "round {round}: {answer:?}");
        noticed += u32::from(answer.code != 0);
    }
    assert!(noticed > 30, "64 bytes changed at random are noticed: {noticed} of 40");
}

#[test]
fn a_query_never_leaves_a_reading_out_without_a_word() {
    let desk = desk_with_log(&minutes(0, 150), SMALL);
    desk.succeed("log append a.img a.csv");
    let whole = desk.succeed("log range a.img");
    let (mut random, mut short, mut refused) = (fastrand::Rng::with_seed(9), 0, 0);
    for round in 0..400 {
        std::fs::copy(desk.path("a.img"), desk.path("b.img")).unwrap();
        let mut device = NorSim::open_image(&desk.path("b.img")).unwrap();
        let cells = device.peek(norn_flash::Address(0), 16 * 4096);
        let written: Vec<usize> = (0..cells.len()).filter(|&at| cells[at] != 0xFF).collect();
        let at = random.choice(&written).copied().unwrap();
        device.poke(norn_flash::Address(at as u32), &[cells[at] ^ 1 << random.u8(0..8)]);
        drop(device);
        let answer = desk.run("log range b.img");
        match answer.code {
            0 => assert_eq!(answer.output, whole, "round {round}: a bit of the byte at {at:#x}"),
            1 => {
                assert!(answer.errors.contains("b.img: the log is damaged, and readings may be missing"), "{answer:?}");
                short += u32::from(answer.output.lines().count() < whole.lines().count());
            }
            _ => refused += 1,
        }
    }
    assert!(short > 0 && refused > 0, "{short} answers lack readings, {refused} questions are refused");
}
