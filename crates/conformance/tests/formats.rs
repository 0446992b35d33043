//! Formats of parts in use, cut at every operation, in every shape that the part's contract allows, and the mount after
//! it cut again: the part holds what it held, or what the format makes, or the mount refuses it; never a mixture.
//!
//! | what lays out a part | cut |
//! |---|---|
//! | object heap, with slots, delta records, error detection; on a `Remap`, too | here |
//! | log heap, µ-tree, `Remap` | here |
//! | fat lists: of fixed and of varying values, typed maps, the ring of the sensor log | here |
//! | one image of the pager's writer in a room | here |
//! | the store below the object heap; the EEPROM heap | `power_cuts` of nor-store; `eeprom_power_cuts` |
//! | the block device | `cut_formats` of nand-ftl |
//! | labels; programs in two rooms | `labels`, `programs` beside this file |
//! | a shelf of images | `shelf` of code-pager |
//! | image files and cards | `creations` of the command |

use std::fmt::Debug;
use std::ops::Bound;

use norn_baselines::MuTree;
use norn_code_pager::policy::Lru;
use norn_code_pager::{CodeAddress, Crc32c, Header, ImageError, ImageWriter, Options, Pager, Room};
use norn_conformance::{Powered, Run, one_of_each, one_of_each_on_nand, seeds};
use norn_flash::{Address, Block, MountError, Nor, Reprogramming, Violation};
use norn_flash_sim::{NandSim, NandSimError, NorSim, SimError, Tear, catalogue, nand_catalogue};
use norn_log_heap::LogHeap;
use norn_nor_remap::{Remap, RemapConfig, RemapError};
use norn_object_heap::{Config, DeltaRecords, ErrorDetection, Heap};
use norn_ordered_index::{FatList, Map, OrderedIndex, Settings, Text, Varying, VaryingList, VaryingMap};
use norn_sensor_log::{Reading, SensorLog};

/// Why there is nothing to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nothing {
    /// Not formatted; or, of a heap whose only log unit a cut has made void in a few bits alone, damaged there.
    Refused,
    PowerLost,
}

/// What a heap says that cannot tell a cut from damage.
const ONLY_LOG_UNIT: &str = "a unit in use, but no whole log unit on the part";

type Found = Result<Vec<Vec<u8>>, Nothing>;

/// What lays out a part and keeps something there.
trait Kind {
    type Device: Powered;

    /// The shapes of a cut.
    fn shapes(cut: u64, random: &mut fastrand::Rng) -> Vec<Tear>;

    /// A part in use.
    fn used(random: &mut fastrand::Rng) -> Self::Device;

    /// Formats it; whether the power lasted.
    fn format(device: &mut Self::Device) -> Result<(), Nothing>;

    /// Whether it has kept its side of the part's contract.
    fn keeps_contract(device: &Self::Device) -> bool;

    /// What a mount finds, all of it.
    fn found(device: &mut Self::Device) -> Found;
}

/// What a cut has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    Old,
    New,
    Nothing,
}

/// What a part holds; nothing else than `old` and `new`.
fn left<K: Kind>(device: &mut K::Device, old: &Found, new: &Found, context: &dyn Fn() -> String) -> Left {
    let found = K::found(device);
    assert!(K::keeps_contract(device), "the contract is broken, {}", context());
    match found {
        Err(Nothing::Refused) => Left::Nothing,
        found if found == *old => Left::Old,
        found if found == *new => Left::New,
        found => panic!("a mixture: {}, of {} and {}, {}", text(&found), text(old), text(new), context()),
    }
}

/// What was found, for a message.
fn text(found: &Found) -> String {
    let lines = |lines: &Vec<Vec<u8>>| lines.iter().map(|line| line.escape_ascii().to_string() + "\n").collect();
    found.as_ref().map_or_else(|nothing| format!("{nothing:?}"), lines)
}

/// Cuts the mount of what a cut format has left, at some of its operations.
fn cut_mounts<K: Kind>(
    device: &K::Device,
    (old, new): (&Found, &Found),
    random: &mut fastrand::Rng,
    context: &dyn Fn() -> String,
) {
    let mut whole = device.clone();
    let _ = K::found(&mut whole);
    let operations = whole.operations() - device.operations();
    for _ in 0..operations.min(3) {
        let (cut, tear) = (random.u64(0..operations), K::Device::draw_tear(random));
        let mut torn = device.clone();
        torn.cut_power_after(cut, tear);
        assert_eq!(K::found(&mut torn), Err(Nothing::PowerLost), "{}", context());
        torn.power_on();
        left::<K>(&mut torn, old, new, &|| format!("the mount cut by {tear:?} at {cut}, {}", context()));
    }
}

/// Cuts a format at every operation. Returns how often which state was found.
fn cut_format<K: Kind>(used: &K::Device, random: &mut fastrand::Rng, run: &Run) -> [u32; 3] {
    let (mut before, mut after) = (used.clone(), used.clone());
    K::format(&mut after).expect("it can be formatted");
    let (old, new) = (K::found(&mut before), K::found(&mut after));
    assert!(old.is_ok() && new.is_ok() && old != new, "{old:?} and {new:?}");
    let mut counts = [0; 3];
    for cut in 0.. {
        for tear in K::shapes(cut, random) {
            let context = || format!("format cut by {tear:?} at {cut}; replay: {}", run.replay());
            let mut torn = used.clone();
            torn.cut_power_after(cut, tear);
            if K::format(&mut torn).is_ok() {
                return counts;
            }
            torn.power_on();
            cut_mounts::<K>(&torn, (&old, &new), random, &context);
            let first = left::<K>(&mut torn, &old, &new, &context);
            counts[first as usize] += 1;
            torn.power_on();
            let second = left::<K>(&mut torn, &old, &new, &context);
            assert!(first == Left::Nothing || first == second, "{first:?}, then {second:?}, {}", context());
            K::format(&mut torn).unwrap_or_else(|nothing| panic!("{nothing:?}, {}", context()));
            assert_eq!(K::found(&mut torn), new, "{}", context());
        }
    }
    unreachable!("the operations of a format end")
}

/// Cuts a kind's format over parts in use.
fn cut_formats<K: Kind>(name: &str) {
    let mut sums = [0; 3];
    for run in seeds(0..2, &format!("-p norn-conformance --test suite formats::{name}")) {
        let mut random = run.random();
        let used = K::used(&mut random);
        let counts = cut_format::<K>(&used, &mut random, &run);
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    let [old, new, nothing] = sums;
    println!("{name}: {old} old, {new} new, {nothing} nothing");
    assert!(new > 0 && old + nothing > 100, "{sums:?}");
}

/// A kind that keeps something on a NOR part.
macro_rules! on_nor {
    ($kind:ident, $used:expr, $format:expr, $found:expr) => {
        struct $kind;

        impl Kind for $kind {
            type Device = NorSim;

            fn shapes(cut: u64, random: &mut fastrand::Rng) -> Vec<Tear> {
                one_of_each(cut, random)
            }

            fn used(random: &mut fastrand::Rng) -> NorSim {
                $used(random)
            }

            fn format(device: &mut NorSim) -> Result<(), Nothing> {
                $format(device)
            }

            /// A cut may use up a word of a limited part without a trace: the part refuses it then.
            fn keeps_contract(device: &NorSim) -> bool {
                device.refusals() == 0 || device.part().reprogramming != Reprogramming::Unlimited
            }

            fn found(device: &mut NorSim) -> Found {
                $found(device)
            }
        }
    };
}

fn nothing<R: Debug>(error: MountError<SimError, R>) -> Nothing {
    match error {
        MountError::NotFormatted => Nothing::Refused,
        MountError::Corrupted(Violation { what: ONLY_LOG_UNIT, .. }) => Nothing::Refused,
        MountError::Device(SimError::PowerLost) => Nothing::PowerLost,
        error => panic!("neither mounted nor refused as unformatted: {error:?}"),
    }
}

fn nothing_on_remap<R: Debug>(error: MountError<RemapError<SimError>, R>) -> Nothing {
    match error {
        MountError::NotFormatted => Nothing::Refused,
        MountError::Corrupted(Violation { what: ONLY_LOG_UNIT, .. }) => Nothing::Refused,
        MountError::Device(RemapError::Device(SimError::PowerLost)) => Nothing::PowerLost,
        error => panic!("neither mounted nor refused as unformatted: {error:?}"),
    }
}

fn nor() -> NorSim {
    NorSim::new(catalogue::test_part(12, 1024))
}

/// Arrays of bytes: some are made, named, changed and deleted, in a heap of either kind.
macro_rules! use_heap {
    ($heap:expr, $random:expr) => {{
        let (heap, random) = (&mut $heap, $random);
        let mut arrays = Vec::new();
        for number in 0..120u8 {
            let array = heap.create_array(random.usize(1..40), 1, &[number]).unwrap();
            heap.set_root(&[number % 4], Some(array)).unwrap();
            arrays.push(array);
            heap.array_store(arrays[random.usize(0..arrays.len())], 0, &[random.u8(..)]).unwrap();
            if arrays.len() > 12 {
                heap.delete(arrays.remove(random.usize(0..8))).unwrap();
            }
        }
    }};
}

/// Every array of a heap, with its number and header.
macro_rules! read_heap {
    ($heap:expr) => {{
        let (heap, mut all, mut after) = (&mut $heap, Vec::new(), None);
        while let Some(array) = heap.next_object(after).unwrap() {
            let mut bytes = vec![0; heap.info(array).unwrap().count + 1];
            let last = bytes.len() - 1;
            heap.array_read(array, 0, &mut bytes[..last]).unwrap();
            heap.read_header(array, &mut bytes[last..]).unwrap();
            all.push(format!("{array:?} {}", bytes.escape_ascii()).into_bytes());
            after = Some(array);
        }
        for name in 0..4 {
            all.push(format!("{:?}", heap.root(&[name]).unwrap()).into_bytes());
        }
        all
    }};
}

fn plain() -> Config {
    Config { delta_records: DeltaRecords::Off, ..Config::default() }
}

fn with_deltas() -> Config {
    Config { delta_records: DeltaRecords::On, ..Config::default() }
}

fn detecting() -> Config {
    Config { error_detection: ErrorDetection::On, ..Config::default() }
}

macro_rules! heap_kind {
    ($kind:ident, $config:ident) => {
        on_nor!(
            $kind,
            |random: &mut fastrand::Rng| {
                let mut heap: Heap<_, 12> = Heap::format(nor(), $config()).unwrap();
                use_heap!(heap, random);
                heap.into_device()
            },
            |device| Heap::<_, 12>::format(device, $config()).map(drop).map_err(nothing),
            |device| {
                let mut heap: Heap<_, 12> = Heap::mount(device).map_err(nothing)?;
                Ok(read_heap!(heap))
            }
        );
    };
}

heap_kind!(PlainHeap, plain);
heap_kind!(DeltaHeap, with_deltas);
heap_kind!(DetectingHeap, detecting);

on_nor!(
    LogStructuredHeap,
    |random: &mut fastrand::Rng| {
        let mut heap: LogHeap<_, 12> = LogHeap::format(nor()).unwrap();
        use_heap!(heap, random);
        heap.into_device()
    },
    |device| LogHeap::<_, 12>::format(device).map(drop).map_err(nothing),
    |device| {
        let mut heap: LogHeap<_, 12> = LogHeap::mount(device).map_err(nothing)?;
        Ok(read_heap!(heap))
    }
);

fn limited() -> NorSim {
    NorSim::new(catalogue::limited_test_part(9, 2048, 4, Reprogramming::Times(2)))
}

const SPARES: RemapConfig = RemapConfig { spare_units: 2 };

// A part whose words may be programmed twice, and a heap on it: two formats, one after the other.
on_nor!(
    RemappedHeap,
    |random: &mut fastrand::Rng| {
        let remap: Remap<_, 9> = Remap::format(limited(), SPARES).unwrap();
        let mut heap: Heap<_, 7> = Heap::format(remap, plain()).unwrap();
        use_heap!(heap, random);
        heap.into_device().into_device()
    },
    |device: &mut NorSim| {
        let remap: Remap<_, 9> = Remap::format(device, SPARES).map_err(nothing)?;
        Heap::<_, 7>::format(remap, plain()).map(drop).map_err(nothing_on_remap)
    },
    |device: &mut NorSim| {
        let remap: Remap<_, 9> = Remap::mount(device).map_err(nothing)?;
        let mut heap: Heap<_, 7> = Heap::mount(remap).map_err(nothing_on_remap)?;
        Ok(read_heap!(heap))
    }
);

on_nor!(
    BareRemap,
    |random: &mut fastrand::Rng| {
        let mut remap: Remap<_, 9> = Remap::format(limited(), SPARES).unwrap();
        let words = remap.part().size_bytes() / 4;
        for _ in 0..600 {
            let at = Address(4 * random.u32(0..words));
            let mut bytes = [0; 4];
            remap.read(at, &mut bytes).unwrap();
            remap.program(at, &bytes.map(|byte| byte & random.u8(..))).unwrap();
        }
        remap.into_device()
    },
    |device| Remap::<_, 9>::format(device, SPARES).map(drop).map_err(nothing),
    |device| {
        let mut remap: Remap<_, 9> = Remap::mount(device).map_err(nothing)?;
        let mut bytes = vec![0; remap.part().size_bytes() as usize];
        remap.read(Address(0), &mut bytes).unwrap();
        Ok(vec![bytes])
    }
);

const SETTINGS: Settings = Settings { turnstile_blocks: 4, levels: 3, slots: 10, keys: 7, pool: 6 };

on_nor!(
    FixedList,
    |random: &mut fastrand::Rng| {
        let mut list: FatList<_, 2, 4> = FatList::format(nor(), SETTINGS).unwrap();
        for _ in 0..300 {
            let (key, value) = (random.u16(0..60).to_be_bytes(), random.u32(..).to_le_bytes());
            if list.update(&key, &value).is_err() && list.insert(&key, &value).is_err() {
                let (first, _) = list.first().unwrap().unwrap();
                list.remove(&first).unwrap();
            }
        }
        list.into_device()
    },
    |device| FatList::<_, 2, 4>::format(device, SETTINGS).map(drop).map_err(nothing),
    |device| {
        let mut list: FatList<_, 2, 4> = FatList::mount(device).map_err(nothing)?;
        let (mut all, mut range) = (Vec::new(), list.range(Bound::Unbounded, Bound::Unbounded));
        while let Some((key, value)) = range.next_entry().unwrap() {
            all.push([&key[..], &value].concat());
        }
        Ok(all)
    }
);

const WIDTHS: Varying<2, 40> = Varying { key_bytes: 2, value_bytes: 40, log_bytes: 0 };

on_nor!(
    List,
    |random: &mut fastrand::Rng| {
        let mut list = VaryingList::format(nor(), WIDTHS, Settings::paper_2011()).unwrap();
        for _ in 0..200 {
            let (key, value) = (random.u16(0..40).to_be_bytes(), vec![random.u8(..); random.usize(0..40)]);
            list.put(&key, &value).unwrap();
        }
        list.into_device()
    },
    |device| VaryingList::format(device, WIDTHS, Settings::paper_2011()).map(drop).map_err(nothing),
    |device| {
        let mut list = VaryingList::mount(device, WIDTHS).map_err(nothing)?;
        let (mut all, mut value) = (Vec::new(), [0; 40]);
        for key in (0..40).map(u16::to_be_bytes) {
            if let Some(length) = list.get(&key, &mut value).unwrap() {
                all.push([&key[..], &value[..length]].concat());
            }
        }
        Ok(all)
    }
);

on_nor!(
    TypedMap,
    |random: &mut fastrand::Rng| {
        let mut map: Map<NorSim, u16, i64> = Map::format(nor(), Settings::paper_2011()).unwrap();
        (0..200).for_each(|_| map.put(&random.u16(0..40), &random.i64(..)).unwrap());
        map.into_device()
    },
    |device| Map::<_, u16, i64>::format(device, Settings::paper_2011()).map(drop).map_err(nothing),
    |device: &mut NorSim| {
        let mut map: Map<_, u16, i64> = Map::mount(device).map_err(nothing)?;
        let get = |key| map.get(&key).unwrap();
        Ok((0..40).map(get).map(|value| format!("{value:?}").into_bytes()).collect())
    }
);

on_nor!(
    TextMap,
    |random: &mut fastrand::Rng| {
        let mut map: VaryingMap<NorSim, u16, Text<30>, 16, 60> = Map::format(nor(), Settings::paper_2011()).unwrap();
        for _ in 0..200 {
            let text = Text::new(&"abcdefghijklmnopqrstuvwxyz"[random.usize(0..26)..]).unwrap();
            map.put(&random.u16(0..30), &text).unwrap();
        }
        map.into_device()
    },
    |device| VaryingMap::<_, u16, Text<30>, 16, 60>::format(device, Settings::paper_2011()).map(drop).map_err(nothing),
    |device: &mut NorSim| {
        let mut map: VaryingMap<_, u16, Text<30>, 16, 60> = Map::mount(device).map_err(nothing)?;
        let get = |key| map.get(&key).unwrap();
        Ok((0..30).map(get).map(|text| format!("{text:?}").into_bytes()).collect())
    }
);

on_nor!(
    Sensor,
    |random: &mut fastrand::Rng| {
        let mut part = nor();
        let mut log = SensorLog::format(&mut part).unwrap();
        for at in 0..900 {
            log.append(Reading { at, milli: random.i32(..) }).unwrap();
        }
        part
    },
    |device| SensorLog::format(device).map(drop).map_err(nothing),
    |device| {
        let (mut log, mut all) = (SensorLog::mount(device).map_err(nothing)?, Vec::new());
        log.each(0..u32::MAX, |reading| all.push(format!("{reading:?}").into_bytes())).unwrap();
        Ok(all)
    }
);

macro_rules! mu_tree_kind {
    ($kind:ident, $log:expr) => {
        on_nor!(
            $kind,
            |random: &mut fastrand::Rng| {
                let part = catalogue::limited_test_part(6, 2048, 2, Reprogramming::Unlimited);
                let mut tree: MuTree<_, 2, 3, 128, $log> = MuTree::format(NorSim::new(part)).unwrap();
                for _ in 0..200 {
                    let key = random.u16(0..20).to_be_bytes();
                    tree.put(&key, &[random.u8(..); 3]).unwrap();
                }
                tree.into_device()
            },
            |device| MuTree::<_, 2, 3, 128, $log>::format(device).map(drop).map_err(nothing),
            |device| {
                let mut tree: MuTree<_, 2, 3, 128, $log> = MuTree::mount(device).map_err(nothing)?;
                let mut range = tree.range(Bound::Unbounded, Bound::Unbounded);
                let mut all = Vec::new();
                while let Some((key, value)) = range.next_entry().unwrap() {
                    all.push([&key[..], &value].concat());
                }
                Ok(all)
            }
        );
    };
}

mu_tree_kind!(Tree, 0);
mu_tree_kind!(LoggedTree, 24);

/// The writer of one image, over a room with another.
struct Program;

const ROOM: Room = Room { start: Block(2), blocks: 12 };

impl Program {
    fn write(device: &mut NandSim, code: &[u8]) -> Result<(), ImageError<NandSimError>> {
        ImageWriter::<64, 512, Crc32c>::new().write(device, ROOM, code.len() as u32, &mut &*code).map(drop)
    }
}

fn image_error(error: ImageError<NandSimError>) -> Nothing {
    match error {
        ImageError::NoImage { .. } => Nothing::Refused,
        ImageError::Device(NandSimError::PowerLost) => Nothing::PowerLost,
        error => panic!("neither mounted nor refused as unformatted: {error:?}"),
    }
}

impl Kind for Program {
    type Device = NandSim;

    fn shapes(cut: u64, random: &mut fastrand::Rng) -> Vec<Tear> {
        one_of_each_on_nand(cut, random)
    }

    fn used(random: &mut fastrand::Rng) -> NandSim {
        let mut part = NandSim::new(nand_catalogue::test_part(16, 4, 512));
        part.mark_bad(&[Block(4)]);
        for _ in 0..3 {
            let code: Vec<u8> = (0..random.usize(4_000..9_000)).map(|_| random.u8(..)).collect();
            Program::write(&mut part, &code).unwrap();
        }
        part
    }

    fn format(device: &mut NandSim) -> Result<(), Nothing> {
        Program::write(device, &[7; 5_000]).map_err(image_error)
    }

    fn keeps_contract(device: &NandSim) -> bool {
        device.refusals() == 0
    }

    fn found(device: &mut NandSim) -> Found {
        let header = Header::find::<_, Crc32c>(device, ROOM.start, 64).map_err(image_error)?;
        let mut pager: Pager<_, Lru<4>, 4, 64, Crc32c> =
            Pager::over(device.clone(), header.image, Lru::default(), Options::default(), ());
        let mut bytes = vec![0; header.image.size_bytes() as usize];
        pager.read(CodeAddress(0), &mut bytes).expect("an image with a header is whole");
        Ok(vec![bytes])
    }
}

#[test]
fn heaps() {
    cut_formats::<PlainHeap>("heaps");
    cut_formats::<DeltaHeap>("heaps");
    cut_formats::<DetectingHeap>("heaps");
    cut_formats::<LogStructuredHeap>("heaps");
}

#[test]
fn remaps() {
    cut_formats::<BareRemap>("remaps");
    cut_formats::<RemappedHeap>("remaps");
}

#[test]
fn sorted_maps() {
    cut_formats::<FixedList>("sorted_maps");
    cut_formats::<List>("sorted_maps");
    cut_formats::<TypedMap>("sorted_maps");
    cut_formats::<TextMap>("sorted_maps");
    cut_formats::<Sensor>("sorted_maps");
    cut_formats::<Tree>("sorted_maps");
    cut_formats::<LoggedTree>("sorted_maps");
}

#[test]
fn images_of_code() {
    cut_formats::<Program>("images_of_code");
}
