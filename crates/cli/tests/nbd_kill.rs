//! `kill -9` of the server under load, again and again on one image: what was written and answered is there, what was
//! not is there or not, page by page; a trim that was answered, but not flushed, may be undone; and the checker finds
//! every invariant.

use crate::nbd;

use std::collections::HashMap;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use nbd::*;
use norn_desk::Desk;

const SEED: u64 = 2004;
const CLIENTS: u64 = 4;
const PAGE_BYTES: u64 = 512;
/// Pages of each client, which writes no others.
const PAGES: u64 = 1500;

/// What a page may hold: the number of the last write that was answered, 0 for zeros, and those that were under way
/// when the server died; before a zero that was not flushed, what the page held, `BEFORE` for what it held when the
/// server was started.
type Pages = HashMap<u64, Vec<u64>>;
const BEFORE: u64 = u64::MAX;

fn contents(page: u64, number: u64) -> Vec<u8> {
    match number {
        0 => vec![0; PAGE_BYTES as usize],
        _ => [page, number].map(u64::to_be_bytes).concat().repeat(PAGE_BYTES as usize / 16),
    }
}

/// Writes, zeroes and flushes until the server is gone.
fn load(mut client: Client, first: u64, start: u64, (seed, trim): (u64, u16), answers: &Sender<()>) -> Pages {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut pages = Pages::new();
    for number in start.. {
        let page = first + random.u64(0..PAGES - 8);
        let count = random.u64(1..=8);
        let (command, value) = match random.u8(0..10) {
            0 => (WRITE_ZEROES, 0),
            1 => (trim, 0),
            2 => (FLUSH, 0),
            _ => (WRITE, number),
        };
        let flags = if random.u8(0..16) == 0 { FUA } else { 0 };
        let data: Vec<u8> = match command {
            WRITE => (page..page + count).flat_map(|page| contents(page, value)).collect(),
            _ => Vec::new(),
        };
        let (at, len) = if command == FLUSH { (0, 0) } else { (page * PAGE_BYTES, (count * PAGE_BYTES) as u32) };
        let answered = client.request(command, flags, at, len, &data).and_then(|()| client.reply());
        if let Ok(error) = answered {
            assert_eq!(error, 0);
            // Nobody counts any more when the server is being killed.
            let _ = answers.send(());
        }
        for page in (page..page + count).filter(|_| command != FLUSH) {
            let values = pages.entry(page).or_insert_with(|| vec![BEFORE]);
            if answered.is_ok() && (command == WRITE || flags == FUA) {
                values.clear();
            }
            values.push(value);
        }
        if answered.is_ok() && command == FLUSH {
            pages.values_mut().for_each(|values| drop(values.drain(..values.len() - 1)));
        }
        if answered.is_err() {
            break;
        }
    }
    pages
}

/// Kills a server under load `kills` times. `trim` is how pages are given up: on parts with larger pages than these, a
/// trim may leave them as they are.
fn kill_under_load(part: &str, trim: u16, kills: u64) {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.succeed(&format!("nbd create disk.img --part {part} --size 4M --bad-blocks 5"));
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut known: Pages = (0..CLIENTS * PAGES).map(|page| (page, vec![0])).collect();
    let (mut answered, mut lost) = (0, 0);
    for round in 0..kills {
        let replay = format!("seed {SEED}, {part}, kill {round}");
        let mut server = Served::start(&desk, "disk.img");
        let (answers, answered_requests) = channel();
        let loads: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let client = server.client().greeted().go().0;
                let (seed, answers) = (random.u64(..), answers.clone());
                thread::spawn(move || load(client, number * PAGES, round << 32 | 1, (seed, trim), &answers))
            })
            .collect();
        answered_requests.iter().take(random.usize(100..1500)).for_each(drop);
        server.kill();
        for pages in loads.into_iter().map(|load| load.join().unwrap()) {
            for (page, values) in pages {
                // What was under way may also have left what was there before.
                let before = known[&page].clone();
                let may =
                    values.into_iter().flat_map(|value| if value == BEFORE { before.clone() } else { vec![value] });
                known.insert(page, may.collect());
            }
        }
        let checked = desk.succeed("nbd check disk.img");
        assert!(checked.ends_with("sound\n"), "{replay}: {checked}");
        let mut server = Served::start(&desk, "disk.img");
        let (mut client, _) = server.client().greeted().go();
        for (&page, may) in &mut known {
            let found = client.read(page * PAGE_BYTES, PAGE_BYTES as usize);
            let value = *may.iter().find(|&&value| found == contents(page, value)).unwrap_or_else(|| {
                panic!("{replay}: page {page} holds {:?}…, may hold {may:?}", &found[..16]);
            });
            answered += usize::from(may.len() == 1);
            lost += usize::from(may.len() > 1 && value != may[may.len() - 1]);
            *may = vec![value];
        }
        server.kill();
    }
    assert!(answered > 0);
    eprintln!(
        "{part}: {answered} pages compared behind {kills} kills, {lost} pages of unanswered requests not written"
    );
}

#[test]
fn a_trim_that_nobody_flushed_lasts_when_the_server_is_stopped() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.succeed("nbd create disk.img --part nandtest-40x8x512 --size 64K");
    let server = Served::start(&desk, "disk.img");
    let (mut client, _) = server.client().greeted().go();
    assert_eq!(client.write(FUA, 0, &[7; 4096]).unwrap(), 0);
    assert_eq!(client.ask(TRIM, 0, 0, 4096).unwrap(), 0);
    server.stop();
    let server = Served::start(&desk, "disk.img");
    let (mut client, _) = server.client().greeted().go();
    assert_eq!(client.read(0, 4096), [0; 4096]);
}

#[test]
fn what_was_answered_survives_kill_9() {
    kill_under_load("k9f2808", TRIM, 2);
    // One with little room, so that collectors are at work when the server dies.
    kill_under_load("nandtest-360x32x512", TRIM, 3);
    kill_under_load("mt29f2g08", WRITE_ZEROES, 2);
}

#[test]
#[ignore = "minutes: run by make test-long"]
fn what_was_answered_survives_many_kills() {
    kill_under_load("nandtest-360x32x512", TRIM, 60);
}
