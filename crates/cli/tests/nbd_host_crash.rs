//! The host's power fails: of each sector of the image file the disk holds any version since the server last waited for
//! the disk. The device mounts, and what was flushed is there, or what was written over it since.
//!
//! What the server wrote, when it waited and what it answered is taken from its system calls, which strace
//! records; nothing that the server counts is trusted. A sector is lost as the seed says, which every failure prints;
//! how many calls precede a loss does not depend on the machine's speed, because one client asks one request at a time.

use crate::nbd;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use nbd::*;
use norn_desk::Desk;
use norn_flash::Nand;
use norn_flash_sim::NandSim;
use norn_nand_ftl::{Ftl, Lba, max_logical_pages};

/// What the server did, as the system saw it.
#[derive(Debug)]
enum Event {
    /// Bytes of the image.
    Wrote { at: u64, bytes: Vec<u8> },
    /// `fdatasync` of the image returned.
    Synced,
    /// The reply to the request with this cookie was sent.
    Replied(u64),
}

/// The bytes of a text such as `\x41\x42`.
fn bytes_of(hex: &str) -> Vec<u8> {
    hex.split("\\x").skip(1).map(|digits| u8::from_str_radix(digits, 16).unwrap()).collect()
}

/// Lines of a trace in the order in which calls ended, without the number of the process.
fn calls(trace: &str) -> Vec<String> {
    let mut begun = BTreeMap::new();
    let mut calls = Vec::new();
    for line in trace.lines() {
        let (process, call) = line.split_once(' ').unwrap_or_else(|| panic!("not a line of strace: {line}"));
        let call = call.trim_start();
        if let Some(first) = call.strip_suffix(" <unfinished ...>") {
            begun.insert(process, first);
        } else if let Some((_, rest)) = call.split_once(" resumed>").filter(|_| call.starts_with("<... ")) {
            calls.push(format!("{}{rest}", begun.remove(process).unwrap()));
        } else {
            calls.push(call.to_owned());
        }
    }
    calls
}

/// What a trace says of an image and of replies.
fn events(trace: &str, image: &Path) -> Vec<Event> {
    let image: String = image.to_str().unwrap().bytes().map(|byte| format!("\\x{byte:02x}")).collect();
    let mut events = Vec::new();
    let mut at = 0;
    for call in calls(trace) {
        let Some((name, rest)) = call.split_once('(') else { continue };
        let is_image = rest.split_once('<').is_some_and(|(_, path)| path.starts_with(&format!("{image}>")));
        let result = || call.rsplit_once(" = ").unwrap().1.split(' ').next().unwrap().parse::<i64>().unwrap();
        let data = || bytes_of(call.split('"').nth(1).unwrap());
        match name {
            // A call that a kill cut off has done nothing that counts.
            _ if call.ends_with(" = ?") => {}
            "lseek" if is_image => at = u64::try_from(result()).unwrap(),
            "write" if is_image => {
                let bytes = data();
                assert_eq!(result(), bytes.len() as i64, "{name} of the image");
                events.push(Event::Wrote { at, bytes });
                at += result() as u64;
            }
            "fdatasync" if is_image => {
                assert_eq!(result(), 0);
                events.push(Event::Synced);
            }
            "sendto" if data().starts_with(&0x6744_6698_u32.to_be_bytes()) => {
                events.push(Event::Replied(u64::from_be_bytes(data()[8..16].try_into().unwrap())));
            }
            _ => {}
        }
    }
    events
}

/// The image file as a disk holds it after some events and a loss of power: of each sector any version since the last
/// wait, the first with a chance of `kept` in eight.
fn lose(before: &[u8], events: &[Event], sector_bytes: usize, kept: u8, random: &mut fastrand::Rng) -> Vec<u8> {
    let mut file = before.to_vec();
    let mut versions: BTreeMap<usize, Vec<Vec<u8>>> = BTreeMap::new();
    for event in events {
        match event {
            Event::Replied(_) => {}
            Event::Synced => versions.clear(),
            Event::Wrote { at, bytes } => {
                let (at, end) = (*at as usize, *at as usize + bytes.len());
                let sectors = at / sector_bytes..end.div_ceil(sector_bytes);
                let place = |sector: usize| sector * sector_bytes..((sector + 1) * sector_bytes).min(before.len());
                for sector in sectors.clone() {
                    versions.entry(sector).or_insert_with(|| vec![file[place(sector)].to_vec()]);
                }
                file[at..end].copy_from_slice(bytes);
                sectors.for_each(|sector| versions.get_mut(&sector).unwrap().push(file[place(sector)].to_vec()));
            }
        }
    }
    for (sector, versions) in versions {
        let version = if random.u8(0..8) < kept { 0 } else { random.usize(0..versions.len()) };
        file[sector * sector_bytes..][..versions[version].len()].copy_from_slice(&versions[version]);
    }
    file
}

/// A request that was sent.
struct Asked {
    cookie: u64,
    command: u16,
    flags: u16,
    pages: std::ops::Range<usize>,
    value: u64,
}

/// A device under test.
struct Host {
    desk: Desk,
    page_bytes: usize,
    sector_bytes: usize,
    random: fastrand::Rng,
    /// What each page may hold: the value that was flushed, then those since. 0 is zeros.
    may: Vec<Vec<u64>>,
    next_value: u64,
}

fn contents(page: usize, value: u64, page_bytes: usize) -> Vec<u8> {
    let words = if value == 0 { [0; 2] } else { [page as u64, value] };
    words.map(u64::to_le_bytes).concat().repeat(page_bytes / 16)
}

impl Host {
    /// A request by chance, answered.
    fn ask(&mut self, client: &mut Client) -> Asked {
        let random = &mut self.random;
        // Three quarters of the requests go to an eighth of the pages.
        let end = if random.u8(0..4) > 0 { self.may.len() / 8 } else { self.may.len() };
        let first = random.usize(0..end);
        let pages = first..(first + random.usize(1..=4)).min(self.may.len());
        let (command, value) = match random.u8(0..30) {
            0 => (FLUSH, 0),
            1 | 2 => (TRIM, 0),
            3 => (WRITE_ZEROES, 0),
            _ => (WRITE, self.next_value),
        };
        self.next_value += 1;
        let flags = if command != FLUSH && random.u8(0..30) == 0 { FUA } else { 0 };
        let data: Vec<u8> = match command {
            WRITE => pages.clone().flat_map(|page| contents(page, value, self.page_bytes)).collect(),
            _ => Vec::new(),
        };
        let (at, len) = match command {
            FLUSH => (0, 0),
            _ => (first * self.page_bytes, pages.len() * self.page_bytes),
        };
        client.request(command, flags, at as u64, len as u32, &data).unwrap();
        assert_eq!(client.reply().unwrap(), 0);
        Asked { cookie: client.cookie, command, flags, pages, value }
    }

    /// What each page may hold if the power fails after these events.
    fn may_hold(&self, asked: &[Asked], events: &[Event]) -> Vec<Vec<u64>> {
        let mut may = self.may.clone();
        let is_answered = |asked: &Asked| {
            events.iter().any(|event| matches!(event, Event::Replied(cookie) if *cookie == asked.cookie))
        };
        for asked in asked {
            let answered = is_answered(asked);
            if asked.command != FLUSH {
                asked.pages.clone().for_each(|page| may[page].push(asked.value));
            }
            let durable = match asked.command {
                FLUSH => 0..may.len(),
                _ if asked.flags & FUA != 0 => asked.pages.clone(),
                _ => 0..0,
            };
            if !answered {
                break;
            }
            may[durable].iter_mut().for_each(|values| drop(values.drain(..values.len() - 1)));
        }
        may
    }

    /// Mounts the image in a file and compares; what is found counts as written last.
    fn check(&self, path: &Path, may: &mut [Vec<u64>], replay: &str) {
        let sim = NandSim::open_image(path).unwrap();
        let part = Nand::part(&sim);
        let memory = vec![0xA5; Ftl::<NandSim, Vec<u8>>::memory_bytes(&part, max_logical_pages(&part, 0))];
        let mut ftl = Ftl::mount(sim, memory).unwrap_or_else(|error| panic!("{replay}: {error}"));
        assert_eq!(ftl.audit(&[]), Ok(None), "{replay}");
        for (page, values) in may.iter_mut().enumerate() {
            let mut found = vec![1; self.page_bytes];
            ftl.read(Lba(page as u32), &mut found).unwrap_or_else(|error| panic!("{replay}: page {page}: {error}"));
            let value = values.iter().copied().find(|&value| found == contents(page, value, self.page_bytes));
            let value = value.unwrap_or_else(|| panic!("{replay}: page {page}: {:?}…, not {values:?}", &found[..16]));
            values.push(value);
        }
    }

    /// Serves some requests and returns what the server did meanwhile.
    fn serve(&mut self, requests: usize) -> (Vec<Asked>, Vec<Event>) {
        let mut server = Served::traced(&self.desk, "disk.img", "trace");
        let mut client = server.client().greeted().go().0;
        let asked = (0..requests).map(|_| self.ask(&mut client)).collect();
        server.kill();
        let trace = loop {
            let trace = fs::read_to_string(self.desk.path("trace")).unwrap();
            // The last line, after which strace ends.
            if trace.trim_end().ends_with("+++ killed by SIGKILL +++") && trace.ends_with('\n') {
                break trace;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        fs::remove_file(self.desk.path("trace")).unwrap();
        (asked, events(&trace, &self.desk.path("disk.img").canonicalize().unwrap()))
    }

    /// Serves requests and loses the power at instants of that, on copies; the last of them is what it goes on with.
    fn lose_power(&mut self, losses: usize, replay: &str) -> usize {
        let image = self.desk.path("disk.img");
        let before = fs::read(&image).unwrap();
        let requests = self.random.usize(20..150);
        let (asked, events) = self.serve(requests);
        for loss in 0..losses {
            let replay = format!("{replay}, loss {loss}");
            let end = self.random.usize(0..=events.len());
            let kept = self.random.u8(0..8);
            let file = lose(&before, &events[..end], self.sector_bytes, kept, &mut self.random);
            fs::write(&image, &file).unwrap();
            let mut may = self.may_hold(&asked, &events[..end]);
            self.check(&image, &mut may, &replay);
            if loss == losses - 1 {
                // What mounting wrote may be lost, too, and is: the next server mounts the same file.
                fs::write(&image, file).unwrap();
                self.may = may;
            }
        }
        events.iter().filter(|event| matches!(event, Event::Synced)).count()
    }
}

/// Loses the host's power repeatedly on a part of `part` with sectors of a given size.
fn lose_power(part: &str, page_bytes: usize, pages: usize, sector_bytes: usize, seed: u64) {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.succeed(&format!("nbd create disk.img --part {part} --size {}", pages * page_bytes));
    let random = fastrand::Rng::with_seed(seed);
    let mut host = Host { desk, page_bytes, sector_bytes, random, may: vec![vec![0]; pages], next_value: 1 };
    let replay = format!("{part}, sectors of {sector_bytes} bytes, seed {seed}");
    let syncs: usize = (0..4).map(|round| host.lose_power(20, &format!("{replay}, round {round}"))).sum();
    assert!(syncs > 20, "{replay}: the disk was waited for {syncs} times");
}

#[test]
fn what_was_flushed_survives_a_loss_of_the_hosts_power() {
    for seed in 0..2 {
        lose_power("nandtest-40x8x512", 512, 200, 512, seed);
        lose_power("nandtest-40x8x512", 512, 216, 4096, 100 + seed);
        lose_power("nandtest-60x8x128", 128, 256, 512, 200 + seed);
    }
}
