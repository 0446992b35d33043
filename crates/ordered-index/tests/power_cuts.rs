//! Power is cut at every device operation of random calls, in every torn shape, again during recovery, and at every
//! operation of a format and of stops and mounts.
//!
//! After each cut the list is mounted. It holds what it held before the call or what it holds after it; every invariant
//! holds; the call can be made again.

use crate::model;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use model::{
    Context, Cut, Key, Op, Pair, SETUPS, Setup, TestList, Value, answer, audit, check, contents, perform, replay,
    setups,
};
use norn_conformance::{Subject, Survey, Sweep, Tally, Trial, from_environment, one_of_each};
use norn_flash::Address;
use norn_flash_sim::{NorSim, Tear};
use norn_ordered_index::{IndexError, MountError, OrderedIndex};

type Map = BTreeMap<Key, Value>;

/// Of a thousand cuts in a shape beyond the contract, how many are not survived at most: somewhat more than measured.
const MARGINAL_MAX: u64 = 220;
const LATE_MAX: u64 = 15;
/// None was lost of 7,724 cuts.
const ZEROS_MAX: u64 = 1;

fn mount(device: NorSim, context: Context<'_>) -> TestList {
    TestList::mount(device).unwrap_or_else(|error| panic!("{error} {}", context()))
}

/// The device after a mount of it was cut after `cut` operations; `None` if mounting takes no more.
fn cut_mount(device: &NorSim, cut: u64, tear: Tear) -> Option<NorSim> {
    let mut device = device.clone();
    device.cut_power_after(cut, tear);
    if TestList::mount(device.clone()).is_ok() {
        return None;
    }
    let _ = model::list::EitherList::<_, 2>::mount(&mut device);
    device.power_on();
    Some(device)
}

/// Mounts, and asserts that the list holds one of the two maps and every invariant. Says whether it is the second one.
fn admit(device: NorSim, before: &Map, after: &Map, context: Context<'_>) -> (TestList, bool) {
    let mut cut = Cut::mount(device, context);
    let found = cut.contents(context);
    assert!(found == *before || found == *after, "neither before nor after: {found:?} {}", context());
    assert_eq!(cut.0.device().refusals(), 0, "{}", context());
    (cut.0, found == *after)
}

/// Cuts `op` at every operation, or every `stride`th; says also after how many cuts the call had taken effect.
fn cut_everywhere(
    pair: &Pair,
    op: &Op,
    sweep: Sweep,
    shapes: &dyn Fn(u64, &mut fastrand::Rng) -> Vec<Tear>,
    random: &mut fastrand::Rng,
    context: Context<'_>,
) -> (Tally, u64) {
    let (after, _) = pair.after(op);
    let mut taken = 0;
    let trial = Trial {
        subject: &Cut(pair.list.clone()),
        call: op,
        shapes,
        admitted: &|found| *found == pair.map || *found == after,
        go_on: &mut |Cut(mut list), found, _, context| {
            taken += u64::from(found == after);
            let again = answer(perform(&mut list, op), context);
            let now = if again == model::Answer::Full { &pair.map } else { &after };
            check(&mut list, now, context);
        },
        context,
    };
    (sweep.cut(trial, random), taken)
}

fn run(seed: u64, steps: usize, share: u8) -> (Tally, u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut pair = Pair::new(&setups()[seed as usize % SETUPS], random.u16(4..90));
    let mut sums = (Tally::default(), 0);
    for step in 0..steps {
        let op = pair.draw(&mut random);
        let context = || format!("at step {step} {}", replay("power_cuts", "cut", seed));
        // Long calls are those that move blocks.
        let before = pair.list.device().operations();
        let mut trial = pair.clone();
        trial.step(&op, &context);
        let operations = trial.list.device().operations() - before;
        if random.u8(0..100) < if operations > 12 { 4 * share } else { share } {
            let sweep = Sweep { stride: 1 + operations / 60, second_period: 3, ..Sweep::default() };
            let (tally, taken) = cut_everywhere(&pair, &op, sweep, &one_of_each, &mut random, &context);
            sums.0 += tally;
            sums.1 += taken;
        }
        pair = trial;
        if random.u8(0..50) == 0 {
            pair.list = mount(pair.list.into_device(), &context);
        }
    }
    sums
}

/// Runs the seeds one after the other. After `limit` no further one is begun, so that a sweep ends on a slow machine,
/// too.
fn sweep(seeds: std::ops::Range<u64>, steps: usize, share: u8, limit: Duration) {
    let (mut sums, mut taken, begun) = (Tally::default(), 0, Instant::now());
    for seed in from_environment("NORN_SEED").map_or(seeds.clone(), |seed| seed..seed + 1) {
        if begun.elapsed() > limit {
            eprintln!("time is up: seeds {seed} to {} were not run", seeds.end - 1);
            break;
        }
        let counts = run(seed, steps, share);
        sums += counts.0;
        taken += counts.1;
    }
    println!("{sums:?}; after {taken} of the cuts the call had taken effect");
    assert!(sums.cuts > 100 && sums.second_cuts > 100 && taken > 100);
}

#[test]
fn cut_calls_happen_wholly_or_not_at_all() {
    sweep(0..10, 400, 5, Duration::MAX);
}

#[test]
#[ignore = "up to a quarter of an hour"]
fn cut_calls_happen_wholly_or_not_at_all_widely() {
    sweep(100..130, 800, 12, Duration::from_secs(12 * 60));
}

/// Keys of an object with few are copied into the object before it, which is then beyond its range until the former is
/// taken out.
#[test]
fn a_cut_shift_leaves_no_key_twice() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut pair = Pair::new(&setups()[0], 40);
    // The greatest key comes first, so that the others do not ascend beyond it, and their object is split.
    for number in [13].into_iter().chain(0..9_u8) {
        pair.step(&Op::Insert([number, 0], [number; 3]), &String::new);
    }
    for number in 6..14_u8 {
        pair.step(&Op::Remove([number, 0]), &String::new);
    }
    // Two keys are left after the first object's; updates fill the slots of theirs.
    let mut shifts = 0;
    for round in 0..40 {
        let op = Op::Update([5, 0], [round; 3]);
        let mut trial = pair.clone();
        let before = trial.list.stats().unwrap().live;
        trial.step(&op, &String::new);
        if trial.list.stats().unwrap().live < before {
            let context = || format!("round {round}");
            let (tally, _) = cut_everywhere(&pair, &op, Sweep::default(), &one_of_each, &mut random, &context);
            assert!(tally.cuts > 50, "{tally:?}");
            shifts += 1;
        }
        pair = trial;
    }
    assert!(shifts > 0);
}

/// Where cells are short, an object is divided: its upper keys are cleared after they were written to a new one.
#[test]
fn cut_insertions_into_nearly_full_lists_happen_wholly_or_not_at_all() {
    let (mut sums, mut divisions) = (Tally::default(), 0);
    for seed in from_environment("NORN_SEED").map_or(0..10, |seed| seed..seed + 1) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pair = Pair::new(&setups()[seed as usize % SETUPS], u16::MAX / 7);
        let context = || replay("power_cuts", "nearly_full", seed);
        let new_key = |pair: &Pair, random: &mut fastrand::Rng| {
            let key = std::iter::repeat_with(|| random.u16(..).to_be_bytes());
            let mut fresh = key.filter(|key| !pair.map.contains_key(key));
            Op::Insert(fresh.next().unwrap(), [7; 3])
        };
        for _ in 0..500 {
            let op = new_key(&pair, &mut random);
            pair.step(&op, &context);
        }
        for _ in 0..150 {
            if random.u8(0..4) == 0 {
                let at = random.usize(..pair.map.len());
                let key = *pair.map.keys().nth(at).unwrap();
                pair.step(&Op::Remove(key), &context);
            }
            let (op, mut trial) = (new_key(&pair, &mut random), pair.clone());
            let before = trial.list.stats().unwrap();
            trial.step(&op, &context);
            let after = trial.list.stats().unwrap();
            // A split takes two cells.
            if before.free + before.dead == 1 && after.live == before.live + 1 {
                let sweep = Sweep { stride: 9, second_period: 5, ..Sweep::default() };
                sums += cut_everywhere(&pair, &op, sweep, &one_of_each, &mut random, &context).0;
                divisions += 1;
            }
            pair = trial;
            pair.check(&context);
        }
    }
    println!("{sums:?} in {divisions} divisions");
    assert!(divisions > 20 && sums.second_cuts > 500, "{sums:?} in {divisions} divisions");
}

/// A list with some keys, on a part that was in use.
fn used(setup: &Setup, random: &mut fastrand::Rng) -> Pair {
    let mut pair = Pair::new(setup, 40);
    for _ in 0..200 {
        let op = pair.draw(random);
        pair.step(&op, &String::new);
    }
    pair
}

#[test]
fn cut_formats_leave_the_old_list_or_none_or_the_new_one() {
    let mut outcomes = [0; 3];
    for (seed, setup) in (0..).zip(setups()) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pair = used(&setup, &mut random);
        if random.bool() {
            pair.list.stop().unwrap();
        }
        'cuts: for cut in 0.. {
            let zeros = zeros_of_erase(&mut random);
            for tear in one_of_each(cut, &mut random).into_iter().chain([zeros]) {
                let mut device = pair.list.device().clone();
                device.cut_power_after(cut, tear);
                if setup.format(&mut device).is_ok() {
                    break 'cuts;
                }
                device.power_on();
                let context = || format!("format cut by {tear:?} at {cut}, setup {seed}");
                match TestList::mount(device) {
                    Err(MountError::NotFormatted) => outcomes[1] += 1,
                    Err(error) => panic!("{error} {}", context()),
                    Ok(mut list) => {
                        audit(&mut list, &context);
                        let found = contents(&mut list, &context);
                        let is_old = found == pair.map && !pair.map.is_empty();
                        assert!(is_old || found.is_empty(), "{}", context());
                        outcomes[if is_old { 0 } else { 2 }] += 1;
                    }
                }
            }
        }
    }
    println!("old, none, new: {outcomes:?}");
    assert!(outcomes.iter().all(|&count| count > 0), "{outcomes:?}");
}

/// Numbers of the operations of `op` that are erases.
fn erases_of(pair: &Pair, op: &Op) -> Vec<u64> {
    let before = pair.list.device().counters().erases;
    let (mut erases, mut seen) = (Vec::new(), before);
    for cut in 0.. {
        let mut torn = pair.list.clone();
        torn.device_mut().cut_power_after(cut, Tear::Nothing);
        if !matches!(perform(&mut torn, op), Err(IndexError::Device(_))) {
            return erases;
        }
        if torn.device().counters().erases > seen {
            seen = torn.device().counters().erases;
            erases.push(cut);
        }
    }
    unreachable!("the operations of a call end")
}

/// A shape in which an erase that programs zeros first is cut.
fn zeros_of_erase(random: &mut fastrand::Rng) -> Tear {
    let seed = random.u64(..);
    if random.u8(0..4) == 0 { Tear::ZerosFirst(seed) } else { Tear::ZerosInOrder(seed) }
}

/// Cuts an erase that programs zeros first, then the mount after it, wherever that erases, and once more; says how many
/// cuts that were.
fn cut_erase_to_zeros(pair: &Pair, op: &Op, cut: u64, random: &mut fastrand::Rng) -> u64 {
    let (after, _) = pair.after(op);
    let tear = zeros_of_erase(random);
    let mut torn = pair.list.clone();
    torn.device_mut().cut_power_after(cut, tear);
    perform(&mut torn, op).unwrap_err();
    let (mut device, mut cuts, mut story) = (torn.into_device(), 1, format!("{tear:?} at {cut} of {op:?}"));
    device.power_on();
    for _ in 0..3 {
        admit(device.clone(), &pair.map, &after, &|| story.clone());
        let (at, tear) = (random.u64(0..3), zeros_of_erase(random));
        let Some(further) = cut_mount(&device, at, tear) else { break };
        story += &format!(", then {tear:?} at {at} of the mount");
        (device, cuts) = (further, cuts + 1);
    }
    admit(device, &pair.map, &after, &|| story.clone());
    cuts
}

/// Parts that program a unit before they erase it leave zeros in it where that is cut, in its head, too: they are no
/// format that was cut.
#[test]
fn cut_erases_that_program_zeros_first_lose_nothing() {
    let (mut erases, mut cuts) = (0, 0);
    for seed in from_environment("NORN_SEED").map_or(0..SETUPS as u64, |seed| seed..seed + 1) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pair = used(&setups()[seed as usize % SETUPS], &mut random);
        let context = || replay("power_cuts", "zeros_first", seed);
        let end = erases + 12;
        while erases < end {
            let op = pair.draw(&mut random);
            for cut in erases_of(&pair, &op) {
                erases += 1;
                for _ in 0..12 {
                    cuts += cut_erase_to_zeros(&pair, &op, cut, &mut random);
                }
            }
            pair.step(&op, &context);
        }
    }
    println!("{erases} erases, {cuts} cuts");
    assert!(cuts > 16 * erases, "mounts were cut, too: {cuts} cuts of {erases} erases");
}

/// Where a stop changes something: the marks in the head.
fn marks_of_head(pair: &Pair) -> usize {
    let size = pair.list.device().spec().part.size_bytes() as usize;
    let mut list = pair.list.clone();
    list.stop().unwrap();
    let (before, after) = (pair.list.device().peek(Address(0), size), list.device().peek(Address(0), size));
    before.iter().zip(after).position(|(old, new)| *old != new).unwrap()
}

/// A cut erase of the block from which the head was moved may set again just the bit that says that the list was
/// opened: a mount that believed it would continue in a block that no longer counts.
#[test]
fn no_single_bit_that_a_cut_erase_sets_hides_the_cut() {
    let (mut random, mut cuts, mut moves) = (fastrand::Rng::with_seed(7), 0, 0);
    let setup = &setups()[0];
    let unit_bytes = setup.spec.part.unit_size_bytes;
    let mut pair = used(setup, &mut random);
    let key = *pair.map.keys().next().unwrap();
    pair.step(&Op::Update(key, [0; 3]), &String::new);
    while moves < 60 {
        let op = pair.draw(&mut random);
        if op == Op::Stop {
            continue;
        }
        let mut trial = pair.clone();
        let before = (trial.list.device().operations(), trial.list.device().counters().erases);
        trial.step(&op, &String::new);
        if trial.list.device().counters().erases > before.1 {
            let marks = marks_of_head(&pair) as u32;
            let start = marks / unit_bytes * unit_bytes;
            pair.list.stop().unwrap();
            let operations = trial.list.device().operations() - before.0 + 1;
            for cut in 0..operations {
                let torn = |tear| {
                    let mut list = pair.list.clone();
                    list.device_mut().cut_power_after(cut, tear);
                    perform(&mut list, &op).is_err().then(|| list.into_device())
                };
                let Some(device) = torn(Tear::Nothing) else { break };
                let is_erase = device.counters().erases > before.1;
                if !is_erase || device.last_torn().unwrap().0 != Address(start) {
                    continue;
                }
                // The bits of the marks, counted among those that the erase sets.
                let zeros_before = |at: u32| {
                    let bytes = device.peek(Address(start), (at - start) as usize);
                    bytes.iter().map(|byte| byte.count_zeros()).sum::<u32>()
                };
                for bit in zeros_before(marks - 2)..zeros_before(marks + 2) {
                    let mut device = torn(Tear::OneBit(bit)).unwrap();
                    device.power_on();
                    let context = || format!("bit {bit} of the erase at {cut} of {op:?}");
                    admit(device, &pair.map, &trial.map, &context);
                    cuts += 1;
                }
                moves += 1;
                break;
            }
        }
        pair = trial;
    }
    println!("{cuts} cuts");
    assert!(cuts > 100);
}

#[test]
fn a_supply_that_fails_at_every_boot_loses_nothing() {
    for seed in from_environment("NORN_SEED").map_or(0..25, |seed| seed..seed + 1) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pair = used(&setups()[seed as usize % SETUPS], &mut random);
        let context = || replay("power_cuts", "supply", seed);
        for _ in 0..150 {
            let op = pair.draw(&mut random);
            let (after, _) = pair.after(&op);
            pair.list.device_mut().cut_power_after(random.u64(0..60), Tear::draw(&mut random));
            let outcome = perform(&mut pair.list, &op);
            let mut device = pair.list.clone().into_device();
            device.power_on();
            if !matches!(outcome, Err(IndexError::Device(_))) {
                pair.list = mount(device, &context);
                if !matches!(outcome, Err(IndexError::Full)) {
                    pair.map = after;
                }
                continue;
            }
            for _ in 0..random.u8(0..6) {
                device = cut_mount(&device, random.u64(0..4), Tear::draw(&mut random)).unwrap_or(device);
            }
            let (list, is_after) = admit(device, &pair.map, &after, &context);
            pair.list = list;
            pair.map = if is_after { after } else { pair.map };
        }
    }
}

/// Cuts every call of twenty seeds' sequences in a shape that parts have been seen to leave and the contract of NOR
/// parts does not allow, and counts the cuts that are not survived. The rates are recorded in docs/results.
fn count_cuts_beyond_the_contract(name: &str, shape: fn(u64) -> Tear, most: u64) {
    let mut sums = Tally::default();
    for seed in from_environment("NORN_SEED").map_or(0..20, |seed| seed..seed + 1) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pair = used(&setups()[seed as usize % SETUPS], &mut random);
        let context = || replay("power_cuts", "beyond", seed);
        for _ in 0..60 {
            let op = pair.draw(&mut random);
            let sweep = Sweep { second_cuts: 0, survey: Survey::Count, ..Sweep::default() };
            let shapes = |_, random: &mut fastrand::Rng| vec![shape(random.u64(..))];
            sums += cut_everywhere(&pair, &op, sweep, &shapes, &mut random, &context).0;
            pair.step(&op, &context);
        }
    }
    println!("{name}: {} of {} cuts are not survived", sums.lost, sums.cuts);
    assert!(sums.cuts > 500, "{sums:?}");
    let (lost, cuts) = (sums.lost, sums.cuts);
    assert!(lost * 1000 <= most * cuts, "{name}: {lost} of {cuts} cuts, more than recorded");
}

#[test]
#[ignore = "long; the index does not survive all cuts beyond the contract, and this counts how many"]
fn beyond_the_contract_marginal_bits_are_counted() {
    count_cuts_beyond_the_contract("marginal", Tear::Marginal, MARGINAL_MAX);
}

#[test]
#[ignore = "long; the index does not survive all cuts beyond the contract, and this counts how many"]
fn beyond_the_contract_late_bits_are_counted() {
    count_cuts_beyond_the_contract("late", Tear::Late, LATE_MAX);
}

#[test]
#[ignore = "long; the index does not survive all cuts beyond the contract, and this counts how many"]
fn beyond_the_contract_zeros_first_are_counted() {
    count_cuts_beyond_the_contract("zeros first", Tear::ZerosFirst, ZEROS_MAX);
}
