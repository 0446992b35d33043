//! A list whose widths are known at run time does on flash what a list of the same widths in its type does, operation
//! by operation. Keys and values of other lengths are refused, and so are widths for which there is no room.

use std::ops::Bound;

use norn_conformance::seeds;
use norn_flash::{Address, Nor, Reprogramming};
use norn_flash_sim::{NorSim, catalogue};
use norn_ordered_index::{
    AtMost, ByteFatList, ByteIndexError, Direction, Entry, FatList, Hint, IndexError, MountError, OrderedIndex,
    Settings, UpTo,
};

type Typed = FatList<NorSim, 2, 3>;
type ByBytes = ByteFatList<NorSim, 8, 5>;

const WIDTHS: AtMost<8, 5> = AtMost { key_bytes: 2, value_bytes: 3 };

/// Parts with program units of 1, 2 and 4 bytes, and lists with many keys an object, with few, and with one.
fn setups() -> [(NorSim, Settings); 4] {
    let part = |units, unit_bytes, program_unit| {
        NorSim::new(catalogue::limited_test_part(units, unit_bytes, program_unit, Reprogramming::Unlimited))
    };
    let fat =
        |turnstile_blocks, levels, slots, keys| Settings { turnstile_blocks, levels, slots, keys, pool: 2 * levels };
    [
        (part(8, 1024, 2), fat(4, 3, 10, 7)),
        (part(6, 768, 1), fat(3, 2, 8, 5)),
        (part(16, 2048, 4), fat(8, 4, 12, 6)),
        (part(8, 512, 2), fat(3, 3, 2, 1)),
    ]
}

fn cells(device: &NorSim) -> Vec<u8> {
    let part = device.part();
    device.peek(Address(0), part.unit_count as usize * part.unit_size_bytes as usize)
}

/// What a change of a list of either kind came to.
fn plain<T>(
    outcome: Result<T, ByteIndexError<norn_flash_sim::SimError>>,
) -> Result<T, IndexError<norn_flash_sim::SimError>> {
    outcome.map_err(|error| match error {
        ByteIndexError::Index(error) => error,
        ByteIndexError::Width { .. } => panic!("{error}"),
    })
}

/// The same random change of both.
fn change(typed: &mut Typed, by_bytes: &mut ByBytes, random: &mut fastrand::Rng, context: &str) {
    let (key, value) = (random.u16(..60).to_be_bytes(), [random.u8(..), random.u8(..), random.u8(..)]);
    if random.u8(..64) == 0 {
        return assert_eq!(plain(by_bytes.remove_below(&key)), typed.remove_below(&key), "{context}");
    }
    let (expected, found) = match random.u8(..8) {
        0..3 => (typed.insert(&key, &value), by_bytes.insert(&key, &value)),
        3..5 => (typed.update(&key, &value), by_bytes.update(&key, &value)),
        5 => (typed.put(&key, &value), by_bytes.put(&key, &value)),
        6 => (typed.remove(&key), by_bytes.remove(&key)),
        _ => (typed.reclaim_step().map(|_| ()), by_bytes.reclaim_step().map(|_| ())),
    };
    assert_eq!(plain(found), expected, "{context}");
}

/// The same ends, and the same range from both of its ends, passing over what is below a key.
fn compare_range(typed: &mut Typed, by_bytes: &mut ByBytes, ends: [Bound<[u8; 2]>; 2], sought: [u8; 2], context: &str) {
    let plain_entry = |(key, value): (UpTo<8>, UpTo<5>)| -> Entry<2, 3> {
        (key.as_ref().try_into().unwrap(), value.as_ref().try_into().unwrap())
    };
    assert_eq!(plain(by_bytes.first()).map(|found| found.map(plain_entry)), typed.first(), "{context}");
    assert_eq!(plain(by_bytes.last()).map(|found| found.map(plain_entry)), typed.last(), "{context}");
    assert_eq!(plain(by_bytes.is_empty()), typed.is_empty(), "{context}");
    let [from, to] = &ends;
    let mut found = by_bytes.range(from.as_ref().map(|key| &key[..]), to.as_ref().map(|key| &key[..])).unwrap();
    let mut expected = typed.range(*from, *to);
    for step in 0.. {
        if step == 5 {
            found.seek(&sought).unwrap();
            expected.seek(&sought);
        }
        let (next, wanted) = match step % 3 {
            0 => (found.next_back(), expected.next_back()),
            _ => (found.next(), expected.next()),
        };
        assert_eq!(next.map(|entry| entry.map(plain_entry)), wanted, "{context}");
        if wanted.is_none() {
            return;
        }
    }
}

/// Everything in both, forwards and backwards, and key by key.
fn compare(typed: &mut Typed, by_bytes: &mut ByBytes, context: &str) {
    assert_eq!(by_bytes.len().unwrap(), typed.len().unwrap(), "{context}");
    assert_eq!(by_bytes.stats().unwrap(), typed.stats().unwrap(), "{context}");
    for (from, to, sought) in [(0, 60, 3), (7, 41, 20), (41, 50, 0)] {
        let [from, to, sought] = [from, to, sought].map(u16::to_be_bytes);
        let ends = [Bound::Unbounded, Bound::Included(from), Bound::Excluded(from)];
        for (from, to) in ends.into_iter().zip([Bound::Excluded(to), Bound::Included(to), Bound::Unbounded]) {
            compare_range(typed, by_bytes, [from, to], sought, context);
        }
    }
    for direction in [Direction::Forwards, Direction::Backwards] {
        let (mut typed_hint, mut hint) = (Hint::default(), Hint::default());
        let (mut key, mut value) = ([0; 2], [0; 3]);
        let mut last: Option<[u8; 2]> = None;
        loop {
            let bound = last.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
            let expected = typed.neighbour(bound, direction, &mut typed_hint).unwrap();
            let bound = last.as_ref().map_or(Bound::Unbounded, |key| Bound::Excluded(&key[..]));
            let is_there = by_bytes.neighbour(bound, direction, &mut hint, (&mut key, &mut value)).unwrap();
            assert_eq!(is_there.then_some((key, value)), expected, "{context}");
            let Some((key, value)) = expected else { break };
            let mut found = [0; 3];
            assert!(by_bytes.get(&key, &mut found).unwrap() && found == value, "{context}");
            assert_eq!(typed.get(&key), Ok(Some(value)), "{context}");
            last = Some(key);
        }
    }
}

#[test]
fn widths_at_run_time_change_nothing_on_flash() {
    for run in seeds(0..2, "-p norn-ordered-index --test suite run_time_widths::") {
        for (number, (device, settings)) in setups().into_iter().enumerate() {
            let context = format!("setup {number}, replay: {}", run.replay());
            let mut random = run.random();
            let mut typed: Typed = FatList::format(device.clone(), settings).unwrap();
            let mut by_bytes: ByBytes = ByteFatList::format(device, WIDTHS, settings).unwrap();
            let unit_count = u64::from(typed.device().part().unit_count);
            while typed.device().counters().erases < 6 * unit_count {
                change(&mut typed, &mut by_bytes, &mut random, &context);
            }
            compare(&mut typed, &mut by_bytes, &context);
            assert_eq!(by_bytes.get(&[0xFF, 0xFF], &mut [0; 3]), Ok(false), "{context}");
            assert_eq!(typed.get(&[0xFF, 0xFF]), Ok(None), "{context}");
            typed.stop().unwrap();
            by_bytes.stop().unwrap();
            assert_eq!(by_bytes.device().counters(), typed.device().counters(), "{context}");
            assert!(cells(by_bytes.device()) == cells(typed.device()), "{context}");

            // Each mounts what the other one wrote.
            let (typed_device, bytes_device) = (typed.into_device(), by_bytes.into_device());
            let mut typed: Typed = FatList::mount(bytes_device).unwrap();
            let mut by_bytes: ByBytes = ByteFatList::mount(typed_device, WIDTHS).unwrap();
            compare(&mut typed, &mut by_bytes, &context);
            assert_eq!(by_bytes.device().counters(), typed.device().counters(), "{context}");
        }
    }
}

#[test]
fn other_lengths_are_refused_with_both_numbers() {
    for (device, settings) in setups() {
        let mut list: ByBytes = ByteFatList::format(device, WIDTHS, settings).unwrap();
        let operations = list.device().operations();
        let key = |given| Err(ByteIndexError::Width { what: "key", needed: 2, given });
        let value = |given| Err(ByteIndexError::Width { what: "value", needed: 3, given });
        assert_eq!(list.insert(b"abc", b"123"), key(3));
        assert_eq!(list.insert(b"ab", b"12"), value(2));
        assert_eq!(list.update(b"", b"123"), key(0));
        assert_eq!(list.put(b"ab", b""), value(0));
        assert_eq!(list.remove(b"a"), key(1));
        assert_eq!(list.remove_below(b"a"), key(1).map(|()| 0));
        assert_eq!(list.range(Bound::Included(b"a"), Bound::Unbounded).map(|_| ()), key(1));
        assert_eq!(list.range(Bound::Unbounded, Bound::Excluded(b"abc")).map(|_| ()), key(3));
        assert_eq!(list.range(Bound::Unbounded, Bound::Unbounded).unwrap().seek(b"abc"), key(3));
        assert_eq!(list.get(b"abc", &mut [0; 3]), key(3).map(|()| true));
        assert_eq!(list.get(b"ab", &mut [0; 4]), value(4).map(|()| true));
        let mut next = |bound: Bound<&'static [u8]>, to: (&mut [u8], &mut [u8])| {
            list.neighbour(bound, Direction::Forwards, &mut Hint::default(), to).map(|_| ())
        };
        assert_eq!(next(Bound::Unbounded, (&mut [0; 1], &mut [0; 3])), key(1));
        assert_eq!(next(Bound::Unbounded, (&mut [0; 2], &mut [0; 5])), value(5));
        assert_eq!(next(Bound::Included(b"abc"), (&mut [0; 2], &mut [0; 3])), key(3));
        assert_eq!(list.device().operations(), operations, "a refused call reached the device");
        assert_eq!(list.insert(b"abc", b"123").unwrap_err().to_string(), "a key of 2 bytes needed, one of 3 given");
    }
}

#[test]
fn widths_without_room_are_refused_with_both_numbers() {
    for (device, settings) in setups() {
        let wide_key = AtMost { key_bytes: 9, value_bytes: 5 };
        let wide_value = AtMost { key_bytes: 8, value_bytes: 6 };
        for (widths, what, needed, given) in
            [(wide_key, "bytes for a key", 9, 8), (wide_value, "bytes for a value", 6, 5)]
        {
            let refusal = Some(MountError::TooSmall { what, needed, given });
            let mut device = device.clone();
            let list: Result<ByteFatList<_, 8, 5>, _> = ByteFatList::format(&mut device, widths, settings);
            assert_eq!(list.err(), refusal);
            let list: Result<ByteFatList<_, 8, 5>, _> = ByteFatList::mount(&mut device, widths);
            assert_eq!(list.err(), refusal);
            assert_eq!(device.operations(), 0, "a part was used for which there is no room");
        }
        let list: ByBytes = ByteFatList::format(device, WIDTHS, settings).unwrap();
        let other = AtMost::<8, 5> { key_bytes: 4, ..WIDTHS };
        let refusal = MountError::WrongGeometry { what: "bytes in a key", image: 2, expected: 4 };
        assert_eq!(ByteFatList::mount(list.into_device(), other).err(), Some(refusal));
    }
}
