//! A pager, a block device and a stranger on one NAND part, which a label lists; each of them has a bad block first.
//!
//! The stranger loads, fetches, programs, copies and erases in its blocks, between any two calls of the others, and
//! holds nothing but one byte: whatever it fetches is that, and bytes of another would not be. Around every call the
//! cells of all other blocks are compared.

use std::cell::RefCell;
use std::ops::Range;

use norn_code_pager::policy::Lru;
use norn_code_pager::{CodeAddress, Crc32c, ImageWriter, Options, Pager, Passing, ReadAhead, Room};
use norn_conformance::{PowerLost, one_of_each, seeds};
use norn_flash::{
    Block, Column, Label, LabelDevice, Nand, NandLabel, NandPart, NandPartition, NandRangeError, NandTenant,
    PageAddress, Piece, Tenancy, TenantKind,
};
use norn_flash_sim::{NandSim, NandSimError, Noise, Tear, nand_catalogue};
use norn_nand_ftl::{Ftl, FtlConfig, FtlError, Lba};

const BLOCKS: u16 = 40;
const PAGES: u16 = 8;
const PAGE_BYTES: u16 = 256;
const LOGICAL_PAGES: u32 = 24;
const IMAGE_BYTES: usize = 6000;
/// Calls from one mount to the next.
const SESSION: usize = 8;
/// What the stranger's blocks hold.
const STRANGE: u8 = 0xA5;

type Cell = RefCell<Tenancy<NandSim, 3>>;
type Tenant<'a> = NandTenant<'a, Cell>;
type Reader<'a> = Pager<Tenant<'a>, Lru<3>, 3, 64, Crc32c>;

const OPTIONS: Options = Options {
    read_ahead: ReadAhead::Always(1),
    passing: Passing::FillRemembered,
    bypass: norn_code_pager::Bypass::Never,
};

/// The bytes of the code image.
fn image() -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(7);
    (0..IMAGE_BYTES).map(|_| random.u8(..)).collect()
}

/// What the block device holds: the number of the write of each page, 0 for zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Disk {
    pages: Vec<u32>,
    next: u32,
}

fn disk_page(lba: usize, write: u32) -> Vec<u8> {
    let word = if write == 0 { 0 } else { u64::from(write) << 20 | lba as u64 };
    word.to_le_bytes().into_iter().cycle().take(usize::from(PAGE_BYTES)).collect()
}

/// One call of a tenant.
#[derive(Clone, Copy, Debug)]
enum Call {
    Write {
        lba: u32,
        count: u32,
    },
    Trim {
        lba: u32,
        count: u32,
    },
    Level,
    Checkpoint,
    ReadDisk {
        lba: u32,
    },
    ReadCode {
        at: usize,
        len: usize,
    },
    Load {
        block: usize,
        page: u16,
    },
    Fetch {
        skip: u16,
        len: u16,
    },
    Program {
        block: usize,
    },
    /// Loads a page and programs it elsewhere, in two calls; between them `other` may make one.
    ProgramLoaded {
        block: usize,
    },
    Erase {
        block: usize,
    },
    /// Loads, fetches, programs, copies and erases outside its range.
    Trespass {
        tenant: usize,
        block: u16,
    },
}

impl Call {
    fn draw(random: &mut fastrand::Rng) -> Call {
        let lba = random.u32(..LOGICAL_PAGES - 3);
        let block = random.usize(..8);
        match random.u8(..24) {
            0..5 => Call::Write { lba, count: random.u32(1..4) },
            5 => Call::Trim { lba, count: random.u32(1..4) },
            6 => Call::Level,
            7 => Call::Checkpoint,
            8 | 9 => Call::ReadDisk { lba },
            10..15 => Call::ReadCode { at: random.usize(..IMAGE_BYTES - 200), len: random.usize(1..200) },
            15 | 16 => Call::Load { block, page: random.u16(..PAGES) },
            17..20 => Call::Fetch { skip: random.u16(..40), len: random.u16(16..80) },
            20 => Call::Program { block },
            21 => Call::ProgramLoaded { block },
            22 => Call::Erase { block },
            _ => Call::Trespass { tenant: random.usize(..3), block: random.u16(..) },
        }
    }

    fn tenant(&self) -> usize {
        match *self {
            Call::Write { .. } | Call::Trim { .. } | Call::Level | Call::Checkpoint | Call::ReadDisk { .. } => 0,
            Call::ReadCode { .. } => 1,
            Call::Trespass { tenant, .. } => tenant,
            _ => 2,
        }
    }

    /// Pages that it changes, and to the number of which write.
    fn change(&self, disk: &Disk) -> (Range<usize>, u32) {
        match *self {
            Call::Write { lba, count } => (lba as usize..(lba + count) as usize, disk.next),
            Call::Trim { lba, count } => (lba as usize..(lba + count) as usize, 0),
            _ => (0..0, 0),
        }
    }

    fn apply(&self, disk: &mut Disk) {
        let (pages, write) = self.change(disk);
        disk.pages[pages].fill(write);
        disk.next += 1;
    }
}

/// A client that keeps the contract, and holds nothing but [`STRANGE`].
struct Stranger<'a> {
    device: Tenant<'a>,
    part: NandPart,
    /// Good blocks, and how many of their pages are taken; all of them before they are erased.
    blocks: Vec<(Block, u16)>,
    /// Where the register's position is, if a page was loaded.
    position: Option<u16>,
}

type Failure = NandRangeError<NandSimError>;

impl<'a> Stranger<'a> {
    fn new(mut device: Tenant<'a>) -> Result<Self, Failure> {
        let part = device.part();
        let mut blocks = Vec::new();
        for block in part.blocks() {
            if !device.is_marked_bad(block)? {
                blocks.push((block, PAGES));
            }
        }
        Ok(Stranger { device, part, blocks, position: None })
    }

    /// A place that may be programmed, in the block of number `number`.
    fn place(&mut self, number: usize) -> Option<PageAddress> {
        let count = self.blocks.len();
        let (block, taken) = &mut self.blocks[number % count];
        let page = block.page(*taken);
        let has_room = *taken < PAGES;
        *taken += u16::from(has_room);
        has_room.then_some(page)
    }

    fn load(&mut self, page: PageAddress) -> Result<(), Failure> {
        self.position = None;
        self.device.load(page)?;
        self.position = Some(0);
        Ok(())
    }

    fn fetch(&mut self, skip: u16, len: u16, errors_max: u32) -> Result<(), Failure> {
        let mut bytes = vec![0; usize::from(len)];
        let end = self.position.map(|position| position + skip + len);
        if end.is_none_or(|end| end > self.part.register_bytes()) {
            self.position = None;
            return Ok(());
        }
        let start = end.unwrap() - len;
        self.device.seek(Column(start))?;
        self.device.fetch(&mut bytes)?;
        self.position = end;
        let foreign: u32 = bytes.iter().map(|byte| (!byte & STRANGE).count_ones()).sum();
        assert!(foreign <= errors_max, "the stranger sees {bytes:x?}, of which it programmed nothing");
        Ok(())
    }

    fn make(&mut self, call: Call, errors_max: u32) -> Result<(), Failure> {
        let bytes = [STRANGE; 100];
        let pieces = [Piece::new(Column(0), &bytes), Piece::new(Column(120), &bytes)];
        match call {
            Call::Load { block, page } => {
                let block = self.blocks[block % self.blocks.len()].0;
                self.load(block.page(page))
            }
            Call::Fetch { skip, len } => self.fetch(skip, len, errors_max),
            Call::Program { block } => match self.place(block) {
                Some(page) => {
                    self.position = None;
                    self.device.program(page, &pieces)
                }
                None => Ok(()),
            },
            Call::ProgramLoaded { block } => match (self.place(block), self.position.take()) {
                (Some(page), Some(_)) => self.device.program_loaded(page, &pieces[..1]),
                _ => Ok(()),
            },
            Call::Erase { block } => {
                let number = block % self.blocks.len();
                self.position = None;
                self.blocks[number].1 = PAGES;
                self.device.erase(self.blocks[number].0)?;
                self.blocks[number].1 = 0;
                Ok(())
            }
            other => unreachable!("{other:?} is no call of the stranger"),
        }
    }
}

struct Tenants<'a> {
    disk: Ftl<Tenant<'a>, Vec<u8>>,
    code: Reader<'a>,
    stranger: Stranger<'a>,
    image: Vec<u8>,
    errors_max: u32,
}

/// The result of a call, or that the power was lost in it.
fn unless_lost<T, E: std::fmt::Debug>(result: Result<T, E>) -> Result<T, PowerLost> {
    match result {
        Err(error) if format!("{error:?}").contains("PowerLost") => Err(PowerLost),
        result => Ok(result.unwrap_or_else(|error| panic!("{error:?}"))),
    }
}

/// A step of the disk, which is refused where writes have left no more than the reserve.
fn step<E: std::fmt::Debug>(result: Result<(), FtlError<E>>) -> Result<(), PowerLost> {
    match result {
        Err(FtlError::NoSpace) => Ok(()),
        result => unless_lost(result),
    }
}

impl<'a> Tenants<'a> {
    fn mount(cell: &'a Cell, ranges: &[Range<u16>; 3], errors_max: u32) -> Result<Self, PowerLost> {
        let tenant = |number: usize| NandTenant::new(cell, ranges[number].clone()).unwrap();
        let device = tenant(0);
        let memory = vec![0x5A; Ftl::<NandSim, Vec<u8>>::memory_bytes(&device.part(), LOGICAL_PAGES)];
        Ok(Tenants {
            disk: unless_lost(Ftl::mount(device, memory))?,
            code: unless_lost(Pager::open(tenant(1), Block(0), OPTIONS))?,
            stranger: unless_lost(Stranger::new(tenant(2)))?,
            image: image(),
            errors_max,
        })
    }

    fn make(&mut self, call: Call, disk: &Disk) -> Result<(), PowerLost> {
        match call {
            Call::Write { lba, count } => {
                let pages = lba as usize..(lba + count) as usize;
                let bytes: Vec<u8> = pages.flat_map(|page| disk_page(page, disk.next)).collect();
                unless_lost(self.disk.write(Lba(lba), &bytes))
            }
            Call::Trim { lba, count } => {
                // Without the flush, a loss of power could undo it later.
                unless_lost(self.disk.trim(Lba(lba), count).and_then(|()| self.disk.flush()))
            }
            Call::Level => step(self.disk.level_step().map(drop)),
            Call::Checkpoint => step(self.disk.checkpoint_step()),
            Call::ReadDisk { lba } => {
                assert_eq!(self.disk_write(lba as usize), disk.pages[lba as usize], "page {lba} of the disk");
                Ok(())
            }
            Call::ReadCode { at, len } => {
                let mut bytes = vec![0; len];
                unless_lost(self.code.read(CodeAddress(at as u32), &mut bytes))?;
                assert_eq!(bytes, self.image[at..at + len], "the code from {at} on");
                Ok(())
            }
            Call::Trespass { tenant: 0, block } => {
                trespass(self.disk.device_mut(), block);
                Ok(())
            }
            Call::Trespass { tenant: 1, block } => {
                self.code.with_device(|device| trespass(device, block));
                Ok(())
            }
            Call::Trespass { block, .. } => {
                trespass(&mut self.stranger.device, block);
                Ok(())
            }
            call => unless_lost(self.stranger.make(call, self.errors_max)),
        }
    }

    /// Which write a page of the disk holds.
    fn disk_write(&mut self, lba: usize) -> u32 {
        let mut bytes = vec![0; usize::from(PAGE_BYTES)];
        self.disk.read(Lba(lba as u32), &mut bytes).unwrap();
        let write = (u64::from_le_bytes(bytes[..8].try_into().unwrap()) >> 20) as u32;
        assert_eq!(bytes, disk_page(lba, write), "page {lba} of the disk holds something else");
        write
    }

    fn disk_writes(&mut self) -> Vec<u32> {
        (0..LOGICAL_PAGES as usize).map(|lba| self.disk_write(lba)).collect()
    }
}

/// Calls the device outside its range: it is refused, and what was in the register stays there.
fn trespass(device: &mut Tenant<'_>, block: u16) {
    let block = Block(block.max(device.part().block_count));
    let outside = Err(Failure::Outside { block });
    let page = block.page(0);
    assert_eq!(device.load(page), outside);
    assert_eq!(device.program(page, &[]), outside);
    assert_eq!(device.program_loaded(page, &[]), outside);
    assert_eq!(device.copy(page, Block(0).page(0), &[]), outside);
    assert_eq!(device.copy(Block(0).page(0), page, &[]), outside);
    assert_eq!(device.erase(block), outside);
    assert_eq!(device.is_marked_bad(block), Err(Failure::Outside { block }));
}

/// A part with bad blocks, the label, an empty disk and the image.
fn settled(seed: u64, noise: Noise) -> NandSim {
    let mut spec = nand_catalogue::test_part(BLOCKS, PAGES, PAGE_BYTES);
    spec.part.good_blocks_min = BLOCKS - 6;
    let mut part = NandSim::new(spec);
    part.reseed(seed);
    part.mark_bad(&[4, 20, 22, 27, 35].map(Block));
    part.set_noise(noise);
    let mut label = Label::default();
    label.add(b"firmware", TenantKind::CODE, 20..27).unwrap();
    label.add(b"card", TenantKind::DISK, 4..20).unwrap();
    label.add(b"stranger", TenantKind(*b"none"), 27..34).unwrap();
    NandLabel(&mut part).store(&label).unwrap();
    let [disk, code, _] = ranges(&mut part);
    let mut partition = NandPartition::new(&mut part, code).unwrap();
    let room = Room { start: Block(0), blocks: partition.part().block_count };
    let mut writer = ImageWriter::<64, { PAGE_BYTES as usize }, Crc32c>::new();
    writer.write(&mut partition, room, IMAGE_BYTES as u32, &mut &*image()).unwrap();
    let partition = NandPartition::new(&mut part, disk).unwrap();
    let memory = vec![0; Ftl::<NandSim, Vec<u8>>::memory_bytes(&partition.part(), LOGICAL_PAGES)];
    Ftl::format(partition, memory, FtlConfig { logical_pages: LOGICAL_PAGES }).unwrap();
    part
}

/// The ranges of the disk, the code and the stranger, as the label says.
fn ranges(part: &mut NandSim) -> [Range<u16>; 3] {
    let label = NandLabel(part).load().unwrap();
    [&b"card"[..], b"firmware", b"stranger"].map(|name| label.find(name).expect("the tenant is listed").range())
}

/// The cells of all blocks but those of `range`.
fn others(part: &NandSim, range: &Range<u16>) -> Vec<u8> {
    let blocks = (0..BLOCKS).filter(|block| !range.contains(block) && part.holds_pages(Block(*block)));
    blocks.flat_map(|block| (0..PAGES).flat_map(move |page| part.peek(Block(block).page(page)))).collect()
}

/// How a session ended.
struct End {
    part: NandSim,
    disk: Disk,
    /// The call that was cut.
    in_flight: Option<Call>,
    is_cut: bool,
}

/// Mounts the tenants and makes the calls, until the power is lost.
fn session(mut part: NandSim, mut disk: Disk, calls: &[Call], errors_max: u32, context: &dyn Fn() -> String) -> End {
    let ranges = ranges(&mut part);
    let cell = RefCell::new(Tenancy::new(part));
    let (mut in_flight, mut is_cut) = (None, false);
    match Tenants::mount(&cell, &ranges, errors_max) {
        Err(PowerLost) => is_cut = true,
        Ok(mut tenants) => {
            for call in calls {
                let range = &ranges[call.tenant()];
                let before = others(cell.borrow().device(), range);
                let made = tenants.make(*call, &disk);
                let after = others(cell.borrow().device(), range);
                assert!(before == after, "{call:?} changes foreign blocks, {}", context());
                if made.is_err() {
                    (in_flight, is_cut) = (Some(*call), true);
                    break;
                }
                call.apply(&mut disk);
            }
            if !is_cut {
                assert_eq!(tenants.disk_writes(), disk.pages, "at the end, {}", context());
            }
        }
    }
    End { part: cell.into_inner().into_device(), disk, in_flight, is_cut }
}

/// Mounts after a cut: the code is whole, and each page of the disk is what it was, or what the call in flight was to
/// make it.
fn recover(end: End, errors_max: u32, context: &dyn Fn() -> String) -> (NandSim, Disk) {
    let End { mut part, mut disk, in_flight, .. } = end;
    part.power_on();
    let ranges = ranges(&mut part);
    let cell = RefCell::new(Tenancy::new(part));
    let mut tenants = Tenants::mount(&cell, &ranges, errors_max).unwrap();
    let mut bytes = vec![0; IMAGE_BYTES];
    tenants.code.read(CodeAddress(0), &mut bytes).unwrap();
    assert!(bytes == image(), "the code is not what it was, {}", context());
    let found = tenants.disk_writes();
    let (changed, write) = in_flight.map_or((0..0, 0), |call| call.change(&disk));
    for (lba, (&found, &old)) in found.iter().zip(&disk.pages).enumerate() {
        let is_new = changed.contains(&lba) && found == write;
        assert!(found == old || is_new, "page {lba} holds write {found}, not {old}, {}", context());
    }
    assert_eq!(tenants.disk.audit(&[]).unwrap(), None, "{}", context());
    drop(tenants);
    let part = cell.into_inner().into_device();
    assert_eq!(part.refusals(), 0, "{}", context());
    disk.pages = found;
    disk.next += 1;
    (part, disk)
}

/// Cuts a session at every operation, that of mounting too, each in some shapes, and continues with the next one.
fn sweep(seeds_of: Range<u64>, sessions: usize, shapes: usize) {
    let (mut cuts, mut reloads) = (0, 0);
    for run in seeds(seeds_of, "-p norn-conformance --test tenants nand") {
        let mut random = run.random();
        let noise = Noise { bits_max: (run.seed % 2) as u8, beyond_per_million: 0 };
        // An error in each code word of a page, and of those from which it was copied.
        let errors_max = 8 * u32::from(noise.bits_max);
        let mut part = settled(run.seed, noise);
        let mut disk = Disk { pages: vec![0; LOGICAL_PAGES as usize], next: 1 };
        for number in 0..sessions {
            let calls: Vec<Call> = (0..SESSION).map(|_| Call::draw(&mut random)).collect();
            let next: Vec<Call> = (0..3).map(|_| Call::draw(&mut random)).collect();
            let tries = |cut: u64, tear: Tear| {
                let context =
                    || format!("cut by {tear:?} at operation {cut} of session {number}; replay: {}", run.replay());
                let mut torn = part.clone();
                torn.cut_power_after(cut, tear);
                let end = session(torn, disk.clone(), &calls, errors_max, &context);
                let is_cut = end.is_cut;
                if is_cut {
                    let (part, disk) = recover(end, errors_max, &context);
                    assert!(!session(part, disk, &next, errors_max, &context).is_cut);
                }
                is_cut
            };
            'cuts: for cut in 0.. {
                let mut all = one_of_each(cut, &mut random);
                all.push(Tear::Marginal(random.u64(..)));
                random.shuffle(&mut all);
                for tear in all.into_iter().take(shapes) {
                    if !tries(cut, tear) {
                        break 'cuts;
                    }
                    cuts += 1;
                }
            }
            let context = || format!("in session {number}; replay: {}", run.replay());
            let loads = part.counters().loads;
            let end = session(part.clone(), disk.clone(), &calls, errors_max, &context);
            reloads += end.part.counters().loads - loads;
            (part, disk) = recover(end, errors_max, &context);
        }
    }
    println!("{cuts} cuts, {reloads} loads");
    assert!(cuts > 300, "{cuts} cuts");
}

#[test]
fn a_pager_and_a_block_device_on_one_part_keep_what_they_hold() {
    sweep(0..2, 30, 1);
}

#[test]
#[ignore = "long: every shape, long rows of sessions"]
fn a_pager_and_a_block_device_through_long_rows_of_sessions() {
    sweep(10..20, 150, 12);
}
