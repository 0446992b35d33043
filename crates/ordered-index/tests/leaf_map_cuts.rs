//! Power cuts in all shapes of the contract, at every operation of calls of leaf maps, on words that are programmed
//! once or twice and others; the recovery programs nothing, so that it cannot be cut. A format is cut, too.
//!
//! A call that a cut hits has happened or not, except that a ring may have dropped least keys for a key that is not
//! there. Whatever was cut, no word is programmed more often than its part allows, in what follows either.
//!
//! Erases are also cut in a shape that no contract allows: on parts that program a unit to zeros first, word after
//! word.

use crate::leaves;

use std::time::{Duration, Instant};

use leaves::{Contents, Op, PARTS, Pair, TestMap, apply, contents_of, parts};
use norn_conformance::{Powered, Subject, Sweep, Tally, Trial, one_of_each, seeds};
use norn_flash::{Address, Nor};
use norn_flash_sim::{NorSim, Tear};
use norn_ordered_index::{LeafMap, MountError, OrderedIndex};

/// No further run is begun after this time, so that the test ends on a slow machine, too.
const LIMIT: Duration = Duration::from_secs(60);

/// Whether a call that is cut may leave `found`.
fn is_admitted(found: &Contents, before: &Contents, op: &Op) -> bool {
    let most = if matches!(op, Op::InsertInRing(..)) { before.len() as u32 } else { 0 };
    (0..=most).any(|dropped| {
        let mut without = before.clone();
        (0..dropped).for_each(|_| _ = without.pop_first());
        if *found == without {
            return true;
        }
        let mut after = before.clone();
        apply(&mut after, op, dropped).is_ok() && *found == after
    })
}

fn run(count: u64, steps: usize, cuts: usize) -> Tally {
    let (mut tally, begun) = (Tally::default(), Instant::now());
    for run in seeds(0..count, "-p norn-ordered-index --test suite leaf_map_cuts::") {
        let mut random = run.random();
        let spec = &parts()[run.seed as usize % PARTS];
        let mut pair = Pair::new(spec, [60, 200][random.usize(0..2)]);
        for step in 0..steps {
            let context = || format!("on {} at step {step}, {}", spec.name, run.replay());
            let op = pair.draw(&mut random);
            let mut trial = pair.clone();
            let before = trial.device_mut().operations();
            trial.make(&op).unwrap();
            // All calls that write a leaf, and some that do not.
            let operations = trial.device_mut().operations() - before;
            if random.usize(0..steps) < cuts * if operations > 2 { 8 } else { 1 } {
                let before = pair.model.clone();
                let trial = Trial {
                    subject: &pair,
                    call: &op,
                    shapes: &one_of_each,
                    admitted: &|found| is_admitted(found, &before, &op),
                    go_on: &mut |cut: Pair, found, random, context| go_on(cut, found, random, context),
                    context: &context,
                };
                tally += Sweep { second_cuts: 0, ..Sweep::default() }.cut(trial, &mut random);
            }
            pair.step(&op, &context);
            if random.u8(0..60) == 0 {
                pair.map = TestMap::mount(pair.map.into_device()).unwrap();
            }
        }
        if begun.elapsed() > LIMIT && count < 1000 {
            eprintln!("time is up after seed {}", run.seed);
            break;
        }
    }
    println!("{tally:?} in {:?}", begun.elapsed());
    tally
}

/// Uses a map after a cut: some calls, each of which may be cut again, with a mount after each.
fn go_on(mut cut: Pair, found: Contents, random: &mut fastrand::Rng, context: norn_conformance::Context<'_>) {
    (cut.model, cut.keys) = (found, 60);
    for _ in 0..random.usize(1..12) {
        let op = cut.draw(random);
        if random.bool() {
            cut.step(&op, context);
            continue;
        }
        let mut torn = cut.clone();
        torn.device_mut().cut_power_after(random.u64(0..6), NorSim::draw_tear(random));
        let _ = torn.make(&op);
        let mut device = torn.into_device();
        device.power_on();
        let mut again = Pair::mount(device, context);
        let now = again.contents(context);
        assert!(is_admitted(&now, &cut.model, &op), "{now:?} after {op:?} {}", context());
        cut = Pair { map: again.map, model: now, keys: cut.keys };
    }
    assert_eq!(cut.map.device().refusals(), 0, "the part's contract is broken, {}", context());
    cut.compare(context);
}

#[test]
fn cut_calls_have_happened_or_not() {
    let tally = run(21, 250, 4);
    assert!(tally.cuts > 1_000, "{tally:?}");
}

#[test]
#[ignore = "minutes"]
fn cut_calls_have_happened_or_not_widely() {
    run(1_500, 600, 12);
}

/// Numbers of the operations of a call that are erases, the first operation being 0.
fn erases_of(pair: &Pair, op: &Op) -> Vec<u64> {
    let (mut erases, mut seen) = (Vec::new(), pair.map.device().counters().erases);
    for cut in 0.. {
        let mut torn = pair.clone();
        torn.device_mut().cut_power_after(cut, Tear::Nothing);
        if torn.make(op).is_ok() {
            break;
        }
        let now = torn.map.device().counters().erases;
        if now > seen {
            seen = now;
            erases.push(cut);
        }
    }
    erases
}

#[test]
fn erases_that_program_zeros_in_order_are_survived() {
    let mut cuts = 0;
    for run in seeds(0..2 * PARTS as u64, "-p norn-ordered-index --test suite leaf_map_cuts::") {
        let mut random = run.random();
        let spec = &parts()[run.seed as usize % PARTS];
        let mut pair = Pair::new(spec, [60, 200][random.usize(0..2)]);
        for step in 0..200 {
            let op = pair.draw(&mut random);
            for cut in erases_of(&pair, &op) {
                for _ in 0..4 {
                    let tear = Tear::ZerosInOrder(random.u64(..));
                    let context =
                        || format!("{tear:?} at {cut} of {op:?} on {} at {step}, {}", spec.name, run.replay());
                    let mut torn = pair.clone();
                    torn.device_mut().cut_power_after(cut, tear);
                    torn.make(&op).unwrap_err();
                    let mut device = torn.into_device();
                    device.power_on();
                    let mut again = Pair::mount(device, &context);
                    let found = again.contents(&context);
                    assert!(is_admitted(&found, &pair.model, &op), "{found:?} {}", context());
                    go_on(again, found, &mut random, &context);
                    cuts += 1;
                }
            }
            pair.step(&op, &|| run.replay().to_owned());
        }
    }
    println!("{cuts} cuts");
    assert!(cuts > 500, "{cuts} cuts");
}

#[test]
fn a_cut_format_leaves_the_old_map_or_the_new_one() {
    for run in seeds(0..4 * PARTS as u64, "-p norn-ordered-index --test suite leaf_map_cuts::") {
        let mut random = run.random();
        let mut pair = Pair::new(&parts()[run.seed as usize % PARTS], 60);
        for _ in 0..100 {
            let op = pair.draw(&mut random);
            pair.step(&op, &|| run.replay().to_owned());
        }
        // What is on the part: a map of the same widths, of others, or something else.
        let mut device = pair.map.into_device();
        let kind = random.u8(0..3);
        match kind {
            0 => {}
            1 => device = LeafMap::<_, 4, 2>::format(device).unwrap().into_device(),
            _ => {
                let size = device.part().size_bytes() as usize;
                let bytes: Vec<u8> = (0..size).map(|_| random.u8(..)).collect();
                device.poke(Address(0), &bytes);
            }
        }
        for cut in 0.. {
            let tear = NorSim::draw_tear(&mut random);
            let mut torn = device.clone();
            torn.cut_power_after(cut, tear);
            if LeafMap::<_, 2, 3>::format(&mut torn).is_ok() {
                break;
            }
            torn.power_on();
            let context = || format!("{tear:?} at {cut}, {}", run.replay());
            match TestMap::mount(torn.clone()) {
                Ok(mut map) => {
                    let found = contents_of(&mut map, &context);
                    assert!(found.is_empty() || kind == 0 && found == pair.model, "{found:?} {}", context());
                }
                Err(MountError::NotFormatted) => assert_eq!(kind, 2, "{}", context()),
                Err(MountError::WrongGeometry { .. }) => assert_eq!(kind, 1, "{}", context()),
                Err(error) => panic!("{error} {}", context()),
            }
            let mut again = TestMap::format(torn).unwrap();
            again.insert(&[1, 2], &[3, 4, 5]).unwrap();
            assert_eq!(again.device().refusals(), 0, "{}", context());
            let mut again = TestMap::mount(again.into_device()).unwrap();
            assert_eq!(contents_of(&mut again, &context).len(), 1, "{}", context());
        }
    }
}
