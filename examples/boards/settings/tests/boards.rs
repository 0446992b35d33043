//! What the example boards keep on their flash survives, on the parts that they have: each board's range is the part that
//! its profile says, no program lies there, and the power is cut at every operation of a first start, of later ones, and
//! of changes to the settings.

use std::fs;
use std::ops::Range;
use std::path::Path;

use embedded_storage::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
};
use norn_board_settings::{Settings, Store, StoreError, places, start};
use norn_conformance::{Context, Defences, PowerLost, Run, Subject, Sweep, Trial, check_nor, one_of_each, seeds};
use norn_embedded::flash::{Address, EraseUnit, MountError, Nor, NorPart, Reprogramming};
use norn_flash_sim::{NorSim, PartSpec, SimError, Tear, catalogue};

const REPLAY: &str = "-p norn-board-settings --test boards";

/// A HAL's driver: the chip's flash, with the sizes that the HAL states.
struct Driver<const WRITE: usize, const ERASE: usize>(NorSim);

#[derive(Clone, Debug)]
struct DriverError(#[expect(dead_code, reason = "shown where a test fails")] SimError);

impl NorFlashError for DriverError {
    fn kind(&self) -> NorFlashErrorKind {
        NorFlashErrorKind::Other
    }
}

impl<const WRITE: usize, const ERASE: usize> ErrorType for Driver<WRITE, ERASE> {
    type Error = DriverError;
}

impl<const WRITE: usize, const ERASE: usize> ReadNorFlash for Driver<WRITE, ERASE> {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), DriverError> {
        self.0.read(Address(offset), bytes).map_err(DriverError)
    }

    fn capacity(&self) -> usize {
        self.0.part().size_bytes() as usize
    }
}

impl<const WRITE: usize, const ERASE: usize> NorFlash for Driver<WRITE, ERASE> {
    const WRITE_SIZE: usize = WRITE;
    const ERASE_SIZE: usize = ERASE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), DriverError> {
        let part = self.0.part();
        let mut units = part.unit_of(Address(from)).0..part.unit_of(Address(to)).0;
        units.try_for_each(|unit| self.0.erase(EraseUnit(unit)).map_err(DriverError))
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), DriverError> {
        self.0.program(Address(offset), bytes).map_err(DriverError)
    }
}

impl MultiwriteNorFlash for Driver<4, 4096> {}
impl MultiwriteNorFlash for Driver<1, 4096> {}

/// A board: its chip, and what it has of it.
struct Board {
    name: &'static str,
    chip: PartSpec,
    region: Range<u32>,
    /// Where the flash is in the processor's memory.
    base: u32,
}

/// A chip like one of the catalogue, with another number of units.
fn chip(spec: PartSpec, unit_count: u16) -> PartSpec {
    PartSpec { part: NorPart { unit_count, ..spec.part }, ..spec }
}

fn boards() -> [Board; 3] {
    let (nrf52840, stm32l4, w25q) = (catalogue::nrf52840(), catalogue::stm32l4(), catalogue::w25q());
    [
        Board { name: "nrf52840", chip: chip(nrf52840, 256), region: places::NRF52840, base: 0 },
        Board { name: "stm32l476", chip: chip(stm32l4, 512), region: places::STM32L476, base: 0x0800_0000 },
        Board { name: "pico", chip: chip(w25q, 512), region: places::PICO, base: 0x1000_0000 },
    ]
}

impl Board {
    /// Its part alone: as many units of the chip as the region has.
    fn part(&self) -> PartSpec {
        let bytes = self.region.end - self.region.start;
        chip(self.chip.clone(), (bytes / self.chip.part.unit_size_bytes) as u16)
    }
}

/// Calls for the part of each board, through the adapter and a driver.
fn with_adapter(board: &Board, sim: NorSim) -> Box<dyn ErasedNor> {
    match board.name {
        "nrf52840" => Box::new(places::nrf52840(Driver::<4, 4096>(sim)).unwrap()),
        "stm32l476" => Box::new(places::stm32l476(Driver::<8, 2048>(sim)).unwrap()),
        _ => Box::new(places::pico(Driver::<1, 4096>(sim)).unwrap()),
    }
}

/// What the tests do with a part, whatever its adapter.
trait ErasedNor {
    fn profile(&self) -> NorPart;
    /// What breaks a rule of the contract, in words.
    fn breaches(&mut self) -> Vec<String>;
    fn start_ten_times(&mut self) -> [u32; 10];
}

impl<D: Nor<Error: std::fmt::Debug>> ErasedNor for D {
    fn profile(&self) -> NorPart {
        self.part()
    }

    fn breaches(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        let counts = check_nor(self, &mut [0; 512], Defences::Try, |finding| lines.push(finding.to_string())).unwrap();
        if counts.all_kept() { Vec::new() } else { lines }
    }

    fn start_ten_times(&mut self) -> [u32; 10] {
        [(); 10].map(|()| start(&mut *self).unwrap().boots)
    }
}

#[test]
fn each_board_has_the_part_that_its_profile_says() {
    for board in boards() {
        let part = with_adapter(&board, NorSim::new(board.chip.clone())).profile();
        assert_eq!(part, board.part().part, "{}", board.name);
        assert_eq!(board.region.end, board.chip.part.size_bytes(), "{}: the end of the flash", board.name);
        assert!(usize::from(part.unit_count) <= places::UNITS_MAX, "{}", board.name);
    }
    let by_maker = boards().map(|board| (board.part().part.program_unit_bytes, board.part().part.reprogramming));
    assert_eq!(by_maker, [(4, Reprogramming::Times(2)), (8, Reprogramming::Once), (1, Reprogramming::Unlimited)]);
}

#[test]
fn each_adapter_keeps_the_contract_and_the_store_works_on_it() {
    for board in boards() {
        let mut part = with_adapter(&board, NorSim::new(board.chip.clone()));
        assert_eq!(part.breaches(), [""; 0], "{}", board.name);
        assert_eq!(part.start_ten_times(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "{}", board.name);
    }
}

/// The number of bytes that a linker's script states.
fn bytes(text: &str) -> u32 {
    let sum = text.split('-').map(|term| {
        let term = term.trim();
        let (digits, factor) = term.strip_suffix('K').map_or((term, 1), |digits| (digits, 1024));
        let number = digits.strip_prefix("0x").map_or_else(|| digits.parse(), |digits| u32::from_str_radix(digits, 16));
        number.unwrap_or_else(|_| panic!("{text}")) * factor
    });
    sum.reduce(|all, term| all - term).unwrap()
}

#[test]
fn no_program_lies_where_the_data_are() {
    for board in boards() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(board.name).join("memory.x");
        let text = fs::read_to_string(path).unwrap();
        let line = text.lines().find_map(|line| line.trim().strip_prefix("FLASH : ORIGIN = ")).unwrap();
        let (origin, length) = line.split_once(", LENGTH = ").unwrap();
        let end = bytes(origin) + bytes(length) - board.base;
        assert_eq!(end, board.region.start, "{}: the flash of programs ends where the data begin", board.name);
    }
}

/// A change that is cut.
#[derive(Clone, Copy, Debug)]
enum Call {
    CountBoot,
    Set(Settings),
}

/// A store that is cut.
#[derive(Clone)]
struct Cut(Store<NorSim>);

/// What a store says.
type Contents = (u32, Settings);

fn lost<T>(result: Result<T, StoreError<SimError>>) -> Result<T, PowerLost> {
    result.map_err(|_| PowerLost)
}

impl Subject for Cut {
    type Device = NorSim;
    type Call = Call;
    type Contents = Contents;

    fn device_mut(&mut self) -> &mut NorSim {
        self.0.device_mut()
    }

    fn into_device(self) -> NorSim {
        self.0.into_device()
    }

    fn mount(device: NorSim, context: Context<'_>) -> Self {
        Cut(Store::open(device).unwrap_or_else(|error| panic!("{error:?}, {}", context())))
    }

    fn try_mount(device: &mut NorSim) -> Result<(), PowerLost> {
        lost(Store::open(device).map(drop))
    }

    fn make(&mut self, call: &Call) -> Result<(), PowerLost> {
        lost(match call {
            Call::CountBoot => self.0.count_boot().map(drop),
            Call::Set(settings) => self.0.set(settings),
        })
    }

    fn contents(&mut self, _: Context<'_>) -> Contents {
        (self.0.boots().unwrap(), self.0.settings().unwrap())
    }
}

fn draw(random: &mut fastrand::Rng) -> Call {
    if random.bool() {
        return Call::CountBoot;
    }
    let name = [random.u8(..); 16];
    Call::Set(Settings { interval_ms: random.u32(..), brightness_percent: random.u8(0..=100), name })
}

fn changed((boots, settings): Contents, call: &Call) -> Contents {
    match call {
        Call::CountBoot => (boots + 1, settings),
        Call::Set(settings) => (boots, *settings),
    }
}

#[test]
fn changes_are_whole_or_absent_wherever_they_are_cut() {
    for run in seeds(0..3, REPLAY) {
        cut_changes(&run, &boards()[run.seed as usize % 3]);
    }
}

/// Some changes after many others, so that units are full and reclaimed.
fn cut_changes(run: &Run, board: &Board) {
    let mut random = run.random();
    let mut store = Cut(Store::open(NorSim::new(board.part())).unwrap());
    let context = || format!("{}, replay: {}", board.name, run.replay());
    let sweep = Sweep { second_period: 7, second_cuts: 2, ..Sweep::default() };
    let mut cuts = 0;
    for number in 0..600 {
        let call = draw(&mut random);
        let before = store.contents(&context);
        let after = changed(before, &call);
        if number % 20 == 19 {
            let trial = Trial {
                subject: &store,
                call: &call,
                shapes: &one_of_each,
                admitted: &|found| *found == before || *found == after,
                go_on: &mut |mut store: Cut, found, random, context| {
                    let next = draw(random);
                    store.make(&next).unwrap();
                    assert_eq!(store.contents(context), changed(found, &next), "{}", context());
                },
                context: &context,
            };
            cuts += sweep.cut(trial, &mut random).cuts;
        }
        store.make(&call).unwrap();
        assert_eq!(store.contents(&context), after, "{}", context());
    }
    assert!(cuts > 300, "{cuts} cuts");
}

#[test]
fn a_first_start_that_is_cut_starts_anew() {
    for run in seeds(0..3, REPLAY) {
        let (board, mut random) = (&boards()[run.seed as usize % 3], run.random());
        let mut used = NorSim::new(board.part());
        // A part that was used for something else: no unit is erased.
        let bytes: Vec<u8> = (0..used.part().size_bytes()).map(|_| random.u8(..)).collect();
        used.poke(Address(0), &bytes);
        let context = || format!("{}, replay: {}", board.name, run.replay());
        let cuts = [NorSim::new(board.part()), used].map(|device| cut_first_start(&device, &mut random, &context));
        assert!(cuts.iter().all(|&cuts| cuts > 20), "{cuts:?} cuts, {}", context());
    }
}

/// Cuts a first start at every operation; returns at how many.
fn cut_first_start(device: &NorSim, random: &mut fastrand::Rng, context: Context<'_>) -> u64 {
    for cut in 0.. {
        let mut torn = device.clone();
        torn.cut_power_after(cut, Tear::draw(random));
        if start(&mut torn).is_ok() {
            return cut;
        }
        torn.power_on();
        let first = start(&mut torn).unwrap_or_else(|error| panic!("cut at {cut}: {error:?}, {}", context()));
        assert!((1..=2).contains(&first.boots), "cut at {cut}: {first:?}, {}", context());
        assert_eq!(first.settings, Settings::DEFAULT, "{}", context());
        torn.power_on();
        assert_eq!(start(&mut torn).unwrap().boots, first.boots + 1, "{}", context());
        assert_eq!(torn.refusals(), 0);
    }
    unreachable!("the operations of a start end");
}

#[test]
fn a_heap_of_another_geometry_is_left_as_it_is() {
    for board in boards() {
        let mut device = NorSim::new(board.part());
        start(&mut device).unwrap();
        // A heap of another geometry: that of a program which had another range.
        let half = chip(board.part(), board.part().part.unit_count - 2);
        let cells = device.peek(Address(0), half.part.size_bytes() as usize);
        let mut other = NorSim::from_cells(half, &cells);
        let found = start(&mut other);
        assert!(matches!(found, Err(StoreError::Mount(MountError::WrongGeometry { .. }))), "{found:?}");
        assert_eq!(other.peek(Address(0), cells.len()), cells, "nothing was changed");
    }
}
