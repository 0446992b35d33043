//! Updates of programs in two rooms: power is cut at every operation of updating, confirming, rolling back and booting,
//! and again at every operation of the boot after that, in every shape, on parts with bad blocks whose bits err. What
//! boots is the whole old program or the whole new one, and what has booted once boots again.
//!
//! `updates_in_one_room_and_in_two` counts what a cut leaves of the same updates in one room, where there may be no
//! program any more.

use norn_code_pager::policy::Lru;
use norn_code_pager::{
    Code, CodeAddress, Crc32c, Header, ImageError, ImageWriter, Options, Pager, ProgramError, Room, Rooms, Standing,
    Version,
};
use norn_conformance::{Context, PowerLost, Subject, Sweep, Tally, Trial, one_of_each_on_nand, seeds};
use norn_flash::Block;
use norn_flash_sim::{NandSim, NandSimError, Noise, nand_catalogue};

const ROOMS: Rooms = Rooms::split(Room { start: Block(1), blocks: 29 });
const CACHE_PAGE: usize = 64;
/// A trial that ends after more boots than a sweep makes.
const LONG_TRIAL: Standing = Standing::Trial { boots_left: 250 };

/// The program of a number: 4 to 4,000 bytes that name it.
fn program(number: u32) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(u64::from(number));
    let bytes = random.usize(4..4000);
    number.to_le_bytes().into_iter().chain((4..bytes).map(|_| random.u8(..))).collect()
}

fn version(number: u32) -> Version {
    Version { major: 1, minor: 0, patch: number }
}

#[derive(Clone, Copy, Debug)]
enum Call {
    Update(u32, Standing),
    Confirm,
    RollBack,
    Boot,
}

#[derive(Clone)]
struct Firmware(NandSim);

/// Whether the power lasted; every other failure is a mistake of the test or of the programs.
fn unless_lost<T>(result: Result<T, ProgramError<NandSimError>>) -> Result<T, PowerLost> {
    match result {
        Ok(value) => Ok(value),
        Err(ProgramError::Image(ImageError::Device(NandSimError::PowerLost))) => Err(PowerLost),
        Err(error) => panic!("{error}"),
    }
}

impl Firmware {
    /// The program that a boot chooses, if one was ever installed.
    fn try_boot(device: &mut NandSim) -> Result<Option<Header>, PowerLost> {
        match ROOMS.boot::<_, Crc32c>(device, &mut [0; CACHE_PAGE]) {
            Err(ProgramError::NothingRuns { .. }) => Ok(None),
            booted => Ok(Some(unless_lost(booted)?.header)),
        }
    }

    /// What a boot runs, if anything was ever written; every byte of it is what was written.
    fn boot(&mut self) -> Result<Option<u32>, PowerLost> {
        let Some(header) = Firmware::try_boot(&mut self.0)? else { return Ok(None) };
        let (lru, options) = (Lru::default(), Options::default());
        let mut pager: Pager<_, Lru<4>, 4, CACHE_PAGE, Crc32c> =
            Pager::over(self.0.clone(), header.image, lru, options, ());
        let mut bytes = vec![0; header.image.size_bytes() as usize];
        pager.read(CodeAddress(0), &mut bytes).expect("a program that was booted is whole");
        let number = header.version.patch;
        assert!(bytes == program(number), "what is called program {number} is not");
        Ok(Some(number))
    }
}

impl Subject for Firmware {
    type Device = NandSim;
    type Call = Call;
    type Contents = Option<u32>;

    fn device_mut(&mut self) -> &mut NandSim {
        &mut self.0
    }

    fn into_device(self) -> NandSim {
        self.0
    }

    fn mount(device: NandSim, context: Context<'_>) -> Self {
        let mut firmware = Firmware(device);
        assert!(firmware.boot().is_ok(), "no power, {}", context());
        firmware
    }

    fn try_mount(device: &mut NandSim) -> Result<(), PowerLost> {
        Firmware::try_boot(device).map(drop)
    }

    fn make(&mut self, call: &Call) -> Result<(), PowerLost> {
        let device = &mut self.0;
        unless_lost(match *call {
            Call::Update(number, standing) => {
                let code = program(number);
                ImageWriter::<CACHE_PAGE, 512, Crc32c>::new()
                    .with_version(version(number))
                    .update(device, &ROOMS, code.len() as u32, &mut &code[..], standing)
                    .map(drop)
            }
            Call::Confirm => ROOMS.confirm(device),
            Call::RollBack => ROOMS.roll_back::<_, Crc32c>(device, &mut [0; CACHE_PAGE]).map(drop),
            Call::Boot => ROOMS.boot::<_, Crc32c>(device, &mut [0; CACHE_PAGE]).map(drop),
        })
    }

    fn contents(&mut self, context: Context<'_>) -> Option<u32> {
        let first = self.boot().unwrap();
        for _ in 0..3 {
            assert_eq!(self.boot().unwrap(), first, "another program, {}", context());
        }
        first
    }
}

fn part(seed: u64) -> NandSim {
    let mut part = NandSim::new(nand_catalogue::test_part(30, 4, 512));
    part.reseed(seed);
    let mut random = fastrand::Rng::with_seed(seed);
    let mut bad: Vec<Block> = Vec::new();
    if !seed.is_multiple_of(3) {
        let ranges = [(1..7, 3), (7..18, 2), (18..29, 2)];
        for (blocks, most) in ranges {
            let mut blocks: Vec<u16> = blocks.collect();
            random.shuffle(&mut blocks);
            bad.extend(blocks[..random.usize(0..=most)].iter().copied().map(Block));
        }
    }
    part.mark_bad(&bad);
    part.set_noise(Noise { bits_max: (seed % 2) as u8, beyond_per_million: 0 });
    part
}

/// Cuts a call; what boots afterwards is one of these.
fn cut(
    firmware: &Firmware,
    call: Call,
    admitted: &[Option<u32>],
    random: &mut fastrand::Rng,
    context: Context<'_>,
) -> Tally {
    let trial = Trial {
        subject: firmware,
        call: &call,
        shapes: &one_of_each_on_nand,
        admitted: &|found| admitted.contains(found),
        go_on: &mut |mut firmware, found, random, context| {
            if found.is_some() {
                firmware.make(&Call::Confirm).unwrap();
            }
            let next = random.u32(1000..2000);
            firmware.make(&Call::Update(next, Standing::Confirmed)).unwrap();
            assert_eq!(firmware.contents(context), Some(next), "{}", context());
        },
        context,
    };
    Sweep { second_cuts: 3, ..Sweep::default() }.cut(trial, random)
}

#[test]
fn a_cut_leaves_the_old_program_or_the_new_one() {
    let tally = cut_rows_of_updates(0..2, "-p norn-conformance --test suite old_program");
    assert!(tally.cuts > 2000 && tally.second_cuts > 200 && tally.third_cuts > 20, "{tally:?}");
}

#[test]
#[ignore = "long: cuts of many rows of updates"]
fn cuts_of_many_updates_leave_the_old_program_or_the_new_one() {
    let tally = cut_rows_of_updates(100..112, "-p norn-conformance --test suite many_updates -- --ignored");
    assert!(tally.cuts > 11_623, "{tally:?}");
}

fn cut_rows_of_updates(range: std::ops::Range<u64>, test: &str) -> Tally {
    let mut tally = Tally::default();
    for run in seeds(range, test) {
        let context = || format!("replay: {}", run.replay());
        let (mut random, mut firmware) = (run.random(), Firmware(part(run.seed)));
        let (mut before, mut other) = (None, None);
        for step in 0..4 {
            let number = random.u32(0..1000);
            let standing = [Standing::Confirmed, LONG_TRIAL][step % 2];
            let update = Call::Update(number, standing);
            tally += cut(&firmware, update, &[before, Some(number)], &mut random, &context);
            firmware.make(&update).unwrap();
            assert_eq!(firmware.contents(&context), Some(number));
            (other, before) = (before, Some(number));
            if standing == LONG_TRIAL {
                tally += cut(&firmware, Call::Confirm, &[before], &mut random, &context);
                firmware.make(&Call::Confirm).unwrap();
            }
        }
        tally += cut(&firmware, Call::RollBack, &[before, other], &mut random, &context);
        firmware.make(&Call::RollBack).unwrap();
        assert_eq!(firmware.contents(&context), other);
    }
    println!("{tally:?}");
    tally
}

#[test]
fn a_cut_of_a_boot_that_rolls_back_leaves_the_old_program() {
    let mut tally = Tally::default();
    for run in seeds(0..6, "-p norn-conformance --test suite rolls_back") {
        let context = || format!("replay: {}", run.replay());
        let (mut random, mut firmware) = (run.random(), Firmware(part(run.seed)));
        firmware.make(&Call::Update(1, Standing::Confirmed)).unwrap();
        firmware.make(&Call::Update(2, Standing::TRIAL)).unwrap();
        // The boot of the trial; one that is cut may have counted.
        tally += cut(&firmware, Call::Boot, &[Some(1)], &mut random, &context);
        assert_eq!(firmware.boot(), Ok(Some(2)), "{}", context());
        tally += cut(&firmware, Call::Boot, &[Some(1)], &mut random, &context);
        assert_eq!(firmware.boot(), Ok(Some(1)), "{}", context());
    }
    println!("{tally:?}");
    assert!(tally.cuts > 500, "{tally:?}");
}

/// What cuts of one update left: the old program, the new one, or none.
#[derive(Debug, Default)]
struct Left {
    old: u32,
    new: u32,
    none: u32,
}

impl Left {
    fn count(&mut self, found: Option<u32>, old: u32, new: u32, context: &str) {
        match found {
            None => self.none += 1,
            Some(found) if found == old => self.old += 1,
            Some(found) if found == new => self.new += 1,
            Some(found) => panic!("program {found}, {context}"),
        }
    }
}

/// The program in one room.
fn only_program<C: Code>(part: &NandSim) -> Option<u32> {
    let mut pager: Pager<_, Lru<4>, 4, CACHE_PAGE, C> =
        Pager::open(part.clone(), ROOMS.a.start, Options::default()).ok()?;
    let mut bytes = vec![0; pager.image().size_bytes() as usize];
    pager.read(CodeAddress(0), &mut bytes).ok()?;
    let number = u32::from_le_bytes(bytes[..4].try_into().unwrap());
    (bytes == program(number)).then_some(number)
}

#[test]
fn updates_in_one_room_and_in_two() {
    let (mut one, mut two) = (Left::default(), Left::default());
    for seed in 0..12 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (old, new) = (random.u32(0..1000), random.u32(1000..2000));
        let (old_code, new_code) = (program(old), program(new));
        let mut writer = ImageWriter::<CACHE_PAGE, 512, Crc32c>::new();
        let mut alone = part(seed);
        writer.write(&mut alone, ROOMS.a, old_code.len() as u32, &mut &old_code[..]).unwrap();
        let mut firmware = Firmware(part(seed));
        firmware.make(&Call::Update(old, Standing::Confirmed)).unwrap();
        for cut in 0.. {
            let mut ended = 0;
            let shapes = one_of_each_on_nand(cut, &mut random);
            for &tear in &shapes {
                let context = format!("cut at {cut} by {tear:?}, seed {seed}");
                let mut torn = alone.clone();
                torn.cut_power_after(cut, tear);
                let written = writer.write(&mut torn, ROOMS.a, new_code.len() as u32, &mut &new_code[..]);
                torn.power_on();
                match written {
                    Ok(_) => ended += 1,
                    Err(_) => one.count(only_program::<Crc32c>(&torn), old, new, &context),
                }
                let mut torn = firmware.clone();
                torn.0.cut_power_after(cut, tear);
                let updated = torn.make(&Call::Update(new, Standing::Confirmed));
                torn.0.power_on();
                match updated {
                    Ok(()) => ended += 1,
                    Err(PowerLost) => two.count(torn.boot().unwrap(), old, new, &context),
                }
            }
            if ended == 2 * shapes.len() {
                break;
            }
        }
    }
    println!("one room: {one:?}; two rooms: {two:?}");
    assert_eq!(two.none, 0, "{two:?}");
    assert!(two.old > 500 && two.new > 0 && one.none > one.old + one.new, "{one:?}, {two:?}");
}
