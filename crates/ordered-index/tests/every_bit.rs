//! Every bit of several images changed, and every byte in several ways: what is read is right, or the audit, the mount
//! or a call that reads says that something is damaged, or what is read is what an interrupted call could have left.
//!
//! An image is damaged while its list is mounted, after a stop, and where a list was not stopped, so that the next
//! mount recovers. Only the last of them may be silent after a changed bit, and costs one key or one object then.

use crate::model;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use model::{Key, Op, Pair, Setup, TestList, Value, perform};
use norn_flash::{Address, Collected, Reprogramming};
use norn_flash_sim::catalogue;
use norn_ordered_index::{Direction, IndexError, OrderedIndex, Settings};

/// When an image is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum When {
    /// While the list is mounted.
    Mounted,
    /// After a stop, before a mount.
    Stopped,
    /// Before a mount, without a stop.
    Open,
}

/// What comes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    /// The mount refuses the image.
    Refused,
    /// The audit reports it.
    Audited,
    /// A call that reads says that the list is damaged.
    Queried,
    /// All is read as it was, and further changes are kept.
    Same,
    /// So many keys are lost, have another value, or are new, and nothing says so.
    Silent(usize),
}

type Map = BTreeMap<Key, Value>;

/// What a list holds by a walk in one direction.
fn walk(list: &mut TestList, direction: Direction) -> Option<Map> {
    let (mut found, mut count) = (Map::new(), 0);
    let mut range = list.range(Bound::Unbounded, Bound::Unbounded);
    let mut next = || match direction {
        Direction::Forwards => range.next_entry(),
        Direction::Backwards => range.next_entry_back(),
    };
    while let Some((key, value)) = next().ok()? {
        found.insert(key, value);
        count += 1;
    }
    // A key that is there twice is no answer.
    (count == found.len()).then_some(found)
}

/// The keys of which a list says something else than `map`; `None` where it says that it is damaged.
fn wrong_keys(list: &mut TestList, map: &Map) -> Option<BTreeSet<Key>> {
    let mut wrong = BTreeSet::new();
    let mut compare = |found: &Map| {
        let keys = found.keys().chain(map.keys()).filter(|&key| found.get(key) != map.get(key));
        wrong.extend(keys.copied());
    };
    compare(&walk(list, Direction::Forwards)?);
    compare(&walk(list, Direction::Backwards)?);
    for key in map.keys() {
        if list.get(key).ok()?.as_ref() != map.get(key) {
            wrong.insert(*key);
        }
    }
    Some(wrong)
}

/// Changes made after the damage are there, or something says that the list is damaged.
fn keeps_changes(list: &mut TestList, mut map: Map) -> bool {
    for number in 0..14_u8 {
        let key = [number % 5, 200 + number % 3];
        let (op, value) = match map.contains_key(&key) {
            true => (Op::Update(key, [number; 3]), [number; 3]),
            false => (Op::Insert(key, [number + 50; 3]), [number + 50; 3]),
        };
        match perform(list, &op) {
            Ok(()) => _ = map.insert(key, value),
            Err(IndexError::Full) => {}
            Err(_) => return true,
        }
    }
    wrong_keys(list, &map).is_none_or(|wrong| wrong.is_empty())
}

fn fate_of(list: &mut TestList, map: &Map, when: When) -> Fate {
    let mut found = Collected::<()>::default();
    if list.audit(&mut found).is_err() || !found.violations.is_empty() {
        return Fate::Audited;
    }
    match wrong_keys(list, map) {
        None => Fate::Queried,
        Some(wrong) if !wrong.is_empty() => Fate::Silent(wrong.len()),
        Some(_) if list.len() != Ok(map.len() as u32) => Fate::Silent(0),
        Some(_) if when == When::Mounted && !keeps_changes(list, map.clone()) => Fate::Silent(0),
        Some(_) => Fate::Same,
    }
}

fn fate(pair: &Pair, when: When, at: u32, byte: u8) -> Fate {
    let mut list = pair.list.clone();
    if when == When::Mounted {
        list.device_mut().poke(Address(at), &[byte]);
        return fate_of(&mut list, &pair.map, when);
    }
    let mut device = list.into_device();
    device.poke(Address(at), &[byte]);
    match TestList::mount(device) {
        Ok(mut list) => fate_of(&mut list, &pair.map, when),
        Err(_) => Fate::Refused,
    }
}

/// Bytes of the slots of a cell.
fn slots_bytes(pair: &Pair, program_unit: u32) -> u32 {
    match &pair.list {
        TestList::Varied(list) => list.log_bytes().into(),
        TestList::Fixed(list) => u32::from(list.settings().slots) * 7_u32.next_multiple_of(program_unit),
    }
}

/// The field in which a byte of a block is.
fn field_at(setup: &Setup, slots_bytes: u32, at: u32) -> &'static str {
    let align = |bytes: u32| bytes.next_multiple_of(u32::from(setup.spec.part.program_unit_bytes).max(2));
    let fields = [
        (align(2), "stamp"),
        (align(2), "low key"),
        (align(10), "header"),
        (align(u32::from(setup.settings.slots).div_ceil(8)), "bitmap"),
        (4 * u32::from(setup.settings.pool), "pool"),
        (slots_bytes, "slots"),
    ];
    let cell_bytes: u32 = fields.iter().map(|(bytes, _)| bytes).sum();
    let cells = (setup.spec.part.unit_size_bytes - 48) / cell_bytes;
    match at {
        0..32 => "identity",
        32..48 => "void, filling, active",
        _ if (at - 48) / cell_bytes == cells => "rest",
        _ => {
            let mut end = 0;
            let mut is_within = |bytes: u32| {
                end += bytes;
                (at - 48) % cell_bytes < end
            };
            fields.into_iter().find(|&(bytes, _)| is_within(bytes)).expect("a cell is its fields").1
        }
    }
}

/// Small images: program units of 1, 2 and 4 bytes, a soft list, and two whose values vary.
fn images() -> Vec<(Setup, Pair)> {
    let part =
        |units, bytes, program_unit| catalogue::limited_test_part(units, bytes, program_unit, Reprogramming::Unlimited);
    let fat = |turnstile_blocks, levels, slots, keys| Settings { turnstile_blocks, levels, slots, keys, pool: 6 };
    let setups = [
        (part(4, 512, 2), fat(4, 3, 10, 7), None),
        (part(3, 512, 1), fat(3, 2, 8, 5), None),
        (part(4, 256, 2), Settings { turnstile_blocks: 4, levels: 2, slots: 2, keys: 1, pool: 6 }, None),
        (part(4, 512, 2), fat(4, 2, 8, 4), Some(184)),
        (part(4, 512, 4), fat(2, 2, 12, 8), None),
        (part(3, 768, 1), fat(3, 2, 20, 10), Some(200)),
    ];
    let image = |(number, (spec, settings, log_bytes)): (usize, (_, _, Option<u16>))| {
        let setup = Setup { spec, settings, log_bytes };
        let mut random = fastrand::Rng::with_seed(number as u64);
        let mut pair = Pair::new(&setup, 14);
        for _ in 0..90 {
            let op = pair.draw(&mut random);
            pair.step(&op, &String::new);
        }
        (setup, pair)
    };
    setups.into_iter().enumerate().map(image).collect()
}

/// What came of damage, by when it happened and where.
type Census = BTreeMap<(When, &'static str, Fate), u32>;

/// Changes every byte of the images to each of its `others`.
fn census(images: &[(Setup, Pair)], others: impl Fn(u8, u32) -> Vec<u8>) -> Census {
    let mut census = Census::new();
    for (setup, pair) in images {
        let mut pair = pair.clone();
        let part = setup.spec.part;
        let slots_bytes = slots_bytes(&pair, u32::from(part.program_unit_bytes).max(2));
        for when in [When::Open, When::Mounted, When::Stopped] {
            if when == When::Stopped {
                pair.list.stop().unwrap();
            }
            for at in 0..part.size_bytes() {
                let byte = pair.list.device().peek(Address(at), 1)[0];
                for other in others(byte, at) {
                    let field = field_at(setup, slots_bytes, at % part.unit_size_bytes);
                    *census.entry((when, field, fate(&pair, when, at, other))).or_default() += 1;
                }
            }
        }
    }
    for ((when, field, fate), count) in &census {
        println!("{when:?}, {field}: {fate:?} {count}");
    }
    census
}

/// How often nothing says that what is read differs, by when and where, and the keys that differ at most.
fn silent(census: &Census) -> BTreeMap<(When, &'static str), (u32, usize)> {
    let mut silent = BTreeMap::<_, (u32, usize)>::new();
    for (&(when, field, fate), &count) in census {
        if let Fate::Silent(keys) = fate {
            let entry = silent.entry((when, field)).or_default();
            *entry = (entry.0 + count, entry.1.max(keys));
        }
    }
    silent
}

/// The damage that may be silent: every row is what an interrupted call leaves.
fn assert_told(census: &Census) {
    for (&(when, field), &(count, keys)) in &silent(census) {
        println!("silent: {when:?}, {field}: {count}, {keys} keys at most");
        let is_as_a_cut_leaves = match field {
            // A removal, or the end of an update.
            "bitmap" => keys == 1,
            // The last slot was being written; where values vary, the last ones are one record that is torn.
            "slots" => keys <= 2,
            // The first object was being dropped from a ring.
            "stamp" => keys <= 10,
            _ => false,
        };
        assert!(when == When::Open && is_as_a_cut_leaves, "{when:?}, {field}: {count} silent, {keys} keys");
    }
}

fn bits(byte: u8) -> Vec<u8> {
    (0..8).map(|bit| byte ^ 1 << bit).collect()
}

#[test]
fn every_changed_bit_is_told_or_is_what_a_cut_leaves() {
    assert_told(&census(&images()[..4], |byte, _| bits(byte)));
}

#[test]
#[ignore = "minutes"]
fn every_changed_bit_of_all_images_is_told_or_is_what_a_cut_leaves() {
    assert_told(&census(&images(), |byte, _| bits(byte)));
}

/// Several bits of a byte may change so that nothing tells: one slot gets another one's bit, so that the number of keys
/// stays; or a key or value keeps its zeros, and six bits of its CRC.
#[test]
fn hardly_a_changed_byte_is_silent() {
    let census = census(&images()[2..5], |byte, at| {
        let mut random = fastrand::Rng::with_seed(at.into());
        let others = [!byte, random.u8(..), random.u8(..)];
        others.into_iter().filter(|&other| other != byte).collect()
    });
    for (&(when, field), &(count, keys)) in &silent(&census) {
        let all: u32 = census.iter().filter(|(key, _)| (key.0, key.1) == (when, field)).map(|(_, count)| count).sum();
        println!("silent: {when:?}, {field}: {count} of {all}, {keys} keys at most");
        let share = if field == "bitmap" { 30 } else { 500 };
        assert!(when == When::Open || share * count < all, "{when:?}, {field}: {count} of {all} silent");
    }
}
