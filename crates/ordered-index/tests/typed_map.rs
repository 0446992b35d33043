//! Typed maps answer as a map in memory does, of sets, of long keys and of composite ones, and survive power cuts.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::Bound;

use norn_conformance::{Context, PowerLost, Subject, Sweep, Tally, Trial, one_of_each, seeds};
use norn_flash::{Collected, Nor, Reprogramming};
use norn_flash_sim::{NorSim, catalogue};
use norn_ordered_index::{Change, IndexError, Key, Map, MapError, MountError, Settings, Text, TooLong, Value};

/// What is drawn at random.
trait Draw: Clone + PartialEq + Debug {
    fn draw(random: &mut fastrand::Rng) -> Self;
}

impl Draw for (i8, Reverse<u16>) {
    fn draw(random: &mut fastrand::Rng) -> Self {
        (random.i8(-2..2), Reverse(random.u16(0..20) * 100))
    }
}

impl Draw for Text<64> {
    fn draw(random: &mut fastrand::Rng) -> Self {
        let text = "yggdrasil".repeat(7);
        Text::new(&text[..random.usize(0..40)]).unwrap()
    }
}

impl Draw for u32 {
    fn draw(random: &mut fastrand::Rng) -> Self {
        random.u32(0..50)
    }
}

impl Draw for (i32, bool) {
    fn draw(random: &mut fastrand::Rng) -> Self {
        (random.i32(..), random.bool())
    }
}

impl Draw for [u8; 60] {
    fn draw(random: &mut fastrand::Rng) -> Self {
        [random.u8(..); 60]
    }
}

impl Draw for () {
    fn draw(_: &mut fastrand::Rng) -> Self {}
}

#[derive(Clone, Debug)]
enum Call<K, V> {
    Put(K, V),
    Insert(K, V),
    Remove(K),
    RemoveBelow(K),
    Apply(Vec<Change<K, V>>),
    Reclaim,
    Stop,
}

fn draw<K: Draw, V: Draw>(random: &mut fastrand::Rng) -> Call<K, V> {
    let (key, value) = (K::draw(random), V::draw(random));
    let change = |random: &mut fastrand::Rng| match random.u8(0..3) {
        0 => Change::Remove(K::draw(random)),
        _ => Change::Put(K::draw(random), V::draw(random)),
    };
    match random.u8(0..20) {
        0..11 => Call::Put(key, value),
        11..13 => Call::Insert(key, value),
        13..17 => Call::Remove(key),
        17 => Call::Apply((0..3).map(|_| change(random)).collect()),
        18 => Call::Reclaim,
        _ if random.bool() => Call::RemoveBelow(key),
        _ => Call::Stop,
    }
}

/// Makes a call; what is refused because a key is there or not is no error here.
fn make<D: Nor, K: Key + Clone, V: Value + Clone>(
    map: &mut Map<D, K, V, 64, 60>,
    call: &Call<K, V>,
) -> Result<(), MapError<D::Error>> {
    let outcome = match call {
        Call::Put(key, value) => map.put(key, value),
        Call::Insert(key, value) => map.insert(key, value),
        Call::Remove(key) => map.remove(key),
        Call::RemoveBelow(key) => {
            while map.remove_below(key)? > 0 {}
            Ok(())
        }
        Call::Apply(changes) => map.apply(changes),
        Call::Reclaim => map.reclaim_step().map(|_| ()),
        Call::Stop => map.stop(),
    };
    match outcome {
        Err(MapError::Index(IndexError::KeyExists | IndexError::KeyAbsent)) => Ok(()),
        outcome => outcome,
    }
}

fn after<K: Key + Clone, V: Clone>(map: &BTreeMap<K, V>, call: &Call<K, V>) -> BTreeMap<K, V> {
    let mut map = map.clone();
    match call {
        Call::Put(key, value) => drop(map.insert(key.clone(), value.clone())),
        Call::Insert(key, value) => drop(map.entry(key.clone()).or_insert(value.clone())),
        Call::Remove(key) => drop(map.remove(key)),
        Call::RemoveBelow(key) => map = map.split_off(key),
        Call::Apply(changes) => {
            for change in changes {
                match change {
                    Change::Put(key, value) => drop(map.insert(key.clone(), value.clone())),
                    Change::Remove(key) => drop(map.remove(key)),
                }
            }
        }
        Call::Reclaim | Call::Stop => {}
    }
    map
}

/// Whether a cut of `call` may leave `found` of the map `before`.
fn may_leave<K: Key + Clone, V: Clone + PartialEq>(
    found: &BTreeMap<K, V>,
    before: &BTreeMap<K, V>,
    call: &Call<K, V>,
) -> bool {
    let after = after(before, call);
    let is_between = || found.len() >= after.len() && before.iter().rev().take(found.len()).eq(found.iter().rev());
    found == before || *found == after || matches!(call, Call::RemoveBelow(_)) && is_between()
}

/// A map whose power can be cut.
#[derive(Clone)]
struct Cut<K, V>(Map<NorSim, K, V, 64, 60>);

impl<K: Key + Clone + Debug, V: Value + Clone + PartialEq + Debug> Subject for Cut<K, V> {
    type Device = NorSim;
    type Call = Call<K, V>;
    type Contents = BTreeMap<K, V>;

    fn device_mut(&mut self) -> &mut NorSim {
        self.0.list_mut().device_mut()
    }

    fn into_device(self) -> NorSim {
        self.0.into_device()
    }

    fn mount(device: NorSim, context: Context<'_>) -> Self {
        Cut(Map::mount(device).unwrap_or_else(|error| panic!("{error} {}", context())))
    }

    fn try_mount(device: &mut NorSim) -> Result<(), PowerLost> {
        match Map::<_, K, V, 64, 60>::mount(device) {
            Err(MountError::Device(_)) => Err(PowerLost),
            _ => Ok(()),
        }
    }

    fn make(&mut self, call: &Call<K, V>) -> Result<(), PowerLost> {
        match make(&mut self.0, call) {
            Err(MapError::Index(IndexError::Device(_))) => Err(PowerLost),
            _ => Ok(()),
        }
    }

    fn contents(&mut self, context: Context<'_>) -> BTreeMap<K, V> {
        let mut found: Collected = Collected::default();
        self.0.list_mut().audit(&mut found).unwrap_or_else(|error| panic!("{error} {}", context()));
        assert!(found.violations.is_empty(), "{:?} {}", found.violations, context());
        let entries = self.0.range(..).map(|entry| entry.unwrap_or_else(|error| panic!("{error} {}", context())));
        entries.collect()
    }
}

fn format<K: Key, V: Value>(random: &mut fastrand::Rng) -> Map<NorSim, K, V, 64, 60> {
    let program_unit = [1, 2, 4][random.usize(0..3)];
    let part = catalogue::limited_test_part(8, 2048, program_unit, Reprogramming::Unlimited);
    let settings = Settings { turnstile_blocks: 4, levels: 3, slots: 6, keys: 4, pool: 6 };
    Map::format(NorSim::new(part), settings).unwrap()
}

/// Asks about single keys and ranges.
fn ask<K: Key + Draw, V: Value + Draw>(
    map: &mut Map<NorSim, K, V, 64, 60>,
    expected: &BTreeMap<K, V>,
    random: &mut fastrand::Rng,
) {
    let (a, b) = (K::draw(random), K::draw(random));
    assert_eq!(map.get(&a).unwrap(), expected.get(&a).cloned());
    let entry = |(key, value): (&K, &V)| (key.clone(), value.clone());
    assert_eq!(map.first().unwrap(), expected.first_key_value().map(entry));
    assert_eq!(map.last().unwrap(), expected.last_key_value().map(entry));
    assert_eq!((map.len().unwrap() as usize, map.is_empty().unwrap()), (expected.len(), expected.is_empty()));
    let (from, to) = if a < b { (a, b) } else { (b, a) };
    let ends = [
        (Bound::Included(&from), Bound::Included(&to)),
        (Bound::Excluded(&from), Bound::Unbounded),
        (Bound::Unbounded, Bound::Excluded(&to)),
    ];
    for ends in ends {
        let wanted: Vec<_> = expected.range::<K, _>(ends).map(entry).collect();
        let cloned = (ends.0.cloned(), ends.1.cloned());
        assert_eq!(map.range(cloned.clone()).map(Result::unwrap).collect::<Vec<_>>(), wanted);
        let backwards: Vec<_> = map.range(cloned.clone()).rev().map(Result::unwrap).collect();
        assert!(backwards.iter().rev().eq(&wanted));
        let (sought, mut range) = (K::draw(random), map.range(cloned));
        range.seek(&sought).unwrap();
        let (last, next) = (range.next_back().map(Result::unwrap), range.next().map(Result::unwrap));
        let mut rest = wanted.into_iter().filter(|(key, _)| *key >= sought);
        assert_eq!((last, next), (rest.next_back(), rest.next()));
    }
}

fn answers_as_a_map<K: Key + Draw, V: Value + Draw>() {
    let mut full = 0;
    for run in seeds(0..6, "-p norn-ordered-index --test suite answer") {
        let mut random = run.random();
        let (mut map, mut expected) = (format::<K, V>(&mut random), BTreeMap::new());
        for step in 0..800 {
            let call = draw(&mut random);
            match make(&mut map, &call) {
                Err(MapError::Index(IndexError::Full)) => full += 1,
                outcome => {
                    outcome.unwrap_or_else(|error| panic!("{error} at step {step}, {}", run.replay()));
                    expected = after(&expected, &call);
                }
            }
            ask(&mut map, &expected, &mut random);
            if step % 100 == 0 {
                map = Map::mount(map.into_device()).unwrap();
            }
        }
        assert!(!expected.is_empty());
    }
    println!("{full} calls found no room");
}

#[test]
fn random_calls_answer_as_a_map() {
    answers_as_a_map::<(i8, Reverse<u16>), (i32, bool)>();
    answers_as_a_map::<u32, ()>();
    answers_as_a_map::<Text<64>, [u8; 60]>();
}

fn survives<K: Key + Draw, V: Value + Draw>() {
    let mut tally = Tally::default();
    for run in seeds(0..6, "-p norn-ordered-index --test suite typed_map::cut") {
        let mut random = run.random();
        let (mut map, mut expected) = (Cut(format::<K, V>(&mut random)), BTreeMap::new());
        for step in 0..120 {
            let call = draw(&mut random);
            let wanted = after(&expected, &call);
            if step > 60 && random.u8(0..4) == 0 {
                let trial = Trial {
                    subject: &map,
                    call: &call,
                    shapes: &one_of_each,
                    admitted: &|found| may_leave(found, &expected, &call),
                    go_on: &mut |mut cut: Cut<K, V>, found, _, context| {
                        let again = after(&found, &call);
                        if make(&mut cut.0, &call).is_ok() {
                            assert_eq!(cut.contents(context), again, "{}", context());
                        }
                    },
                    context: &|| format!("at step {step}, {}", run.replay()),
                };
                let stride = 1 + random.u64(0..12);
                tally += Sweep { stride, second_period: 4, ..Sweep::default() }.cut(trial, &mut random);
            }
            if make(&mut map.0, &call).is_ok() {
                expected = wanted;
            }
        }
    }
    println!("{tally:?}");
    assert!(tally.cuts > 500 && tally.second_cuts > 50, "{tally:?}");
}

#[test]
fn cut_calls_happen_wholly_or_not_at_all() {
    survives::<(i8, Reverse<u16>), (i32, bool)>();
    survives::<u32, ()>();
    survives::<Text<64>, [u8; 60]>();
}

/// A key that says how long it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Digits(String);

impl Value for Digits {
    const BYTES: usize = 3;

    fn encode(&self, bytes: &mut [u8]) -> Result<(), TooLong> {
        bytes.fill(0);
        bytes.get_mut(..self.0.len()).ok_or(TooLong)?.copy_from_slice(self.0.as_bytes());
        Ok(())
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let text = String::from_utf8(bytes.to_vec()).ok()?;
        text.bytes().all(|byte| byte == 0 || byte.is_ascii_digit()).then(|| Digits(text.replace('\0', "")))
    }
}

impl Key for Digits {}

#[test]
fn what_does_not_fit_changes_nothing_and_what_is_no_value_is_named() {
    let mut map: Map<NorSim, Digits, Digits> = Map::format(
        NorSim::new(catalogue::limited_test_part(8, 2048, 2, Reprogramming::Unlimited)),
        Settings { turnstile_blocks: 4, levels: 3, slots: 6, keys: 4, pool: 6 },
    )
    .unwrap();
    let (short, long) = (Digits("12".into()), Digits("1234".into()));
    map.insert(&short, &short).unwrap();
    let programs = map.list().device().counters().programs();
    assert_eq!(map.insert(&long, &short), Err(MapError::TooLong));
    assert_eq!(map.put(&short, &long), Err(MapError::TooLong));
    assert_eq!(map.get(&long), Err(MapError::TooLong));
    assert_eq!(map.remove(&long), Err(MapError::TooLong));
    let changes = [Change::Put(short.clone(), Digits("7".into())), Change::Remove(long.clone())];
    assert_eq!(map.apply(&changes), Err(MapError::TooLong));
    let found: Vec<_> = map.range(short.clone()..long.clone()).collect();
    assert_eq!(found, [Err(MapError::TooLong)], "and no more");
    assert_eq!(map.range(..).seek(&long), Err(MapError::TooLong));
    assert_eq!(map.list().device().counters().programs(), programs);
    assert_eq!(map.get(&short).unwrap(), Some(short.clone()));

    map.stop().unwrap();
    let mut other: Map<NorSim, [u8; 3], [u8; 3]> = Map::mount(map.into_device()).unwrap();
    other.insert(b"abc", b"123").unwrap();
    other.insert(b"130", b"abc").unwrap();
    let mut map: Map<NorSim, Digits, Digits> = Map::mount(other.into_device()).unwrap();
    assert_eq!(map.get(&Digits("130".into())), Err(MapError::OtherType("value")));
    assert_eq!(map.range(..).rev().collect::<Vec<_>>(), [Err(MapError::OtherType("key"))]);
    assert_eq!(map.first().unwrap(), Some((short.clone(), short)));
    assert_eq!(
        MapError::<()>::OtherType("value").to_string(),
        "a value whose bytes are nothing of its type: another program wrote them"
    );
    let mounted = Map::<NorSim, u32, Digits>::mount(map.into_device());
    assert!(matches!(mounted, Err(MountError::WrongGeometry { .. })), "{mounted:?}");
}
