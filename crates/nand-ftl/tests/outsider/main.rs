//! The block device as an outsider sees it: by its public documents, on a part of the outsider's own making, in
//! sessions that end anywhere. What was written or trimmed and flushed reads as that or as something later, nothing
//! else appears, no mount and no call is refused while no more blocks fail than the device was formatted for, and each
//! call ends.

mod device;

use device::{Device, Fault};
use norn_flash::Nand;
use norn_nand_ftl::{Ftl, FtlConfig, FtlError, Lba, MountError, longest_write, max_logical_pages};

type Disk<'a> = Ftl<&'a mut Device, Vec<u8>>;
type Error = FtlError<Fault>;

/// What a page may hold: now, and again after a loss of power. 0 is for zeros.
#[derive(Clone, Debug)]
struct Page {
    now: Vec<u32>,
    undone: Vec<u32>,
}

struct Expected {
    pages: Vec<Page>,
    next: u32,
    page_bytes: usize,
}

impl Expected {
    fn bytes(&self, lba: usize, value: u32) -> Vec<u8> {
        let mut random = fastrand::Rng::with_seed(u64::from(value) << 20 | lba as u64);
        let fill = if value.is_multiple_of(7) { 0xFF } else { random.u8(..) };
        let mut bytes = vec![if value == 0 { 0 } else { fill }; self.page_bytes];
        bytes[..4].copy_from_slice(&value.to_le_bytes());
        bytes
    }

    fn lose_power(&mut self) {
        for page in &mut self.pages {
            let undone = std::mem::take(&mut page.undone);
            page.now.extend(undone);
        }
    }

    /// Reads all pages. What they hold now, they hold until they are written.
    fn check(&mut self, disk: &mut Disk, context: &str) {
        for lba in 0..self.pages.len() {
            let mut bytes = vec![0xA5; self.page_bytes];
            disk.read(Lba(lba as u32), &mut bytes).unwrap_or_else(|error| panic!("{context}: page {lba}: {error}"));
            let value = u32::from_le_bytes(bytes[..4].try_into().unwrap());
            let now = &mut self.pages[lba].now;
            assert!(now.contains(&value), "{context}: page {lba} holds {value}, not one of {now:?}");
            *now = vec![value];
            assert!(bytes == self.bytes(lba, value), "{context}: page {lba} holds {value} in part");
        }
    }

    /// A call on the device.
    fn call(&mut self, disk: &mut Disk, random: &mut fastrand::Rng) -> Result<(), Error> {
        let pages = self.pages.len();
        let lba = if random.bool() { random.usize(0..pages.div_ceil(6)) } else { random.usize(0..pages) };
        let count = random.usize(1..=3).min(pages - lba);
        let at = Lba(lba as u32);
        match random.u8(0..20) {
            0..2 => {
                for page in &mut self.pages[lba..lba + count] {
                    let was = std::mem::replace(&mut page.now, vec![0]);
                    page.undone.extend(was);
                }
                // Until it returns, both are possible; the power is gone else.
                disk.trim(at, count as u32)
            }
            2 => disk.flush().map(|()| self.flushed()),
            3 => match disk.checkpoint_step() {
                Ok(()) => {
                    self.flushed();
                    Ok(())
                }
                Err(FtlError::NoSpace) => Ok(()),
                error => error,
            },
            4 => match disk.level_step() {
                Ok(_) | Err(FtlError::NoSpace) => Ok(()),
                Err(error) => Err(error),
            },
            5 => {
                let Some(mut recycling) = disk.start_recycling(random.u16(1..4)) else { return Ok(()) };
                for _ in 0..random.u8(1..6) {
                    match disk.recycle_step(&mut recycling) {
                        Ok(norn_nand_ftl::RecycleStep::Copied) => {}
                        Ok(_) => return Ok(()),
                        Err(FtlError::NoSpace) => break,
                        Err(error) => return Err(error),
                    }
                }
                disk.stop_recycling(recycling);
                Ok(())
            }
            _ => {
                self.next += 1;
                let value = self.next;
                let data: Vec<u8> = (lba..lba + count).flat_map(|lba| self.bytes(lba, value)).collect();
                let before = self.pages.clone();
                for page in &mut self.pages[lba..lba + count] {
                    *page = Page { now: vec![value], undone: Vec::new() };
                }
                let written = disk.write(at, &data);
                if written.is_err() {
                    for (page, before) in self.pages.iter_mut().zip(before) {
                        if page.now == [value] {
                            page.now.extend(before.now);
                            page.undone = before.undone;
                        }
                    }
                }
                written
            }
        }
    }

    fn flushed(&mut self) {
        self.pages.iter_mut().for_each(|page| page.undone.clear());
    }
}

/// A part with a device, in `sessions` sessions. Most are short, and many are cut while mounting, several times in a
/// row.
fn live(seed: u64, sessions: u32) {
    let mut random = fastrand::Rng::with_seed(seed);
    let (blocks, pages) = [(24, 8), (30, 4), (26, 16), (40, 8), (24, 32), (20, 4)][random.usize(0..6)];
    let page_bytes = [128, 128, 256, 512][random.usize(0..4)];
    let (bad, budget) = [(0, 0), (1, 1), (1, 3)][random.usize(0..3)];
    let mut device = Device::new(blocks, pages, page_bytes, bad, budget, seed);
    let part = device.part();
    let most = max_logical_pages(&part, budget);
    let logical_pages = [most, most, most * 3 / 4][random.usize(0..3)];
    if logical_pages == 0 {
        return;
    }
    let memory = || vec![0x5A; Disk::memory_bytes(&part, logical_pages)];
    let mut expected = Expected {
        pages: vec![Page { now: vec![0], undone: Vec::new() }; logical_pages as usize],
        next: 0,
        page_bytes: usize::from(page_bytes),
    };
    let mut disk =
        Ftl::format(&mut device, memory(), FtlConfig { logical_pages }).expect("a new part can be formatted");
    for lba in 0..logical_pages {
        let value = lba + 1;
        disk.write(Lba(lba), &expected.bytes(lba as usize, value)).expect("a new part has room");
        expected.pages[lba as usize].now = vec![value];
    }
    expected.next = logical_pages + 1;
    drop(disk);
    let short = random.bool();
    for session in 0..sessions {
        let context = format!("seed {seed}, {blocks} blocks of {pages} pages of {page_bytes}, session {session}");
        device.boot();
        expected.lose_power();
        device.cut_after = match random.u8(0..8) {
            0 => None,
            1 | 2 if !short => Some(random.u64(0..120)),
            3 => Some(random.u64(0..40)),
            _ => Some(random.u64(0..14)),
        };
        device.begin_call();
        let mut disk = match Ftl::mount(&mut device, memory()) {
            Ok(disk) => disk,
            Err(MountError::Device(_)) => continue,
            Err(error) => panic!("{context}: the part is refused: {error}"),
        };
        let operations = disk.device().operations;
        assert!(operations < 300, "{context}: {operations} operations to mount");
        if random.u8(0..4) > 0 {
            expected.check(&mut disk, &context);
        }
        for call in 0..random.u32(0..if short { 12 } else { 200 }) {
            disk.device_mut().begin_call();
            match expected.call(&mut disk, &mut random) {
                Ok(()) => {}
                Err(FtlError::Device(_)) => break,
                Err(error) => panic!("{context}, call {call}: {error}"),
            }
            let operations = disk.device().operations;
            let bound = 3 * longest_write(&part, u32::from(budget));
            assert!(operations <= bound, "{context}, call {call}: {operations} operations");
        }
    }
    device.boot();
    expected.lose_power();
    device.begin_call();
    let mut disk = Ftl::mount(&mut device, memory()).expect("the part is mounted at the end");
    expected.check(&mut disk, &format!("seed {seed}, the end"));
}

#[test]
fn an_outsider_finds_what_was_flushed() {
    (0..80).for_each(|seed| live(seed, 150));
    // The page that ends a mount fades when no block was free beside the mount's own.
    live(10_873, 400);
}

#[test]
#[ignore = "a quarter of an hour"]
fn an_outsider_finds_it_after_thousands_of_sessions() {
    (10_000..16_000).for_each(|seed| live(seed, 400));
}
