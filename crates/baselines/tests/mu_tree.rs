//! The µ-tree, with and without logged leaves, answers as a map in memory does, and a power cut at every operation of a
//! call, or of the mount after it, leaves what was before the call or what is after it.

use std::collections::BTreeMap;
use std::ops::Bound;

use norn_baselines::MuTree;
use norn_flash::Reprogramming;
use norn_flash_sim::{NorSim, PartSpec, Tear, catalogue};
use norn_ordered_index::{IndexError, MountError, OrderedIndex};

/// Without a log, as the paper has it, and with one.
type Tree<const LOG: usize> = MuTree<NorSim, 2, 3, 128, LOG>;
type Map = BTreeMap<[u8; 2], [u8; 3]>;

// It takes a constant amount of RAM, with a reference to the device, which is the caller's.
const _: () = assert!(size_of::<MuTree<&mut NorSim, 4, 4, 512>>() <= 88);

#[derive(Clone, Copy, Debug)]
enum Op {
    Put([u8; 2], [u8; 3]),
    Remove([u8; 2]),
}

fn parts() -> [PartSpec; 2] {
    let part = |units, bytes, unit| catalogue::limited_test_part(units, bytes, unit, Reprogramming::Unlimited);
    [part(6, 2048, 2), part(4, 4096, 4)]
}

fn draw(random: &mut fastrand::Rng, keys: u16) -> Op {
    let key = (random.u16(0..keys) * 9).to_be_bytes();
    match random.u8(0..4) {
        0 => Op::Remove(key),
        _ => Op::Put(key, std::array::from_fn(|_| random.u8(..))),
    }
}

fn perform<D: norn_flash::Nor, const LOG: usize>(
    tree: &mut MuTree<D, 2, 3, 128, LOG>,
    op: Op,
) -> Result<(), IndexError<D::Error>> {
    match op {
        Op::Put(key, value) => tree.put(&key, &value),
        Op::Remove(key) => match tree.remove(&key) {
            Err(IndexError::KeyAbsent) => Ok(()),
            outcome => outcome,
        },
    }
}

fn apply(map: &mut Map, op: Op) {
    match op {
        Op::Put(key, value) => drop(map.insert(key, value)),
        Op::Remove(key) => drop(map.remove(&key)),
    }
}

fn contents<const LOG: usize>(tree: &mut Tree<LOG>) -> Map {
    let (mut map, mut range) = (Map::new(), tree.range(Bound::Unbounded, Bound::Unbounded));
    while let Some((key, value)) = range.next_entry().unwrap() {
        assert!(map.last_key_value().is_none_or(|(last, _)| *last < key));
        map.insert(key, value);
    }
    map
}

/// Runs a call that only reads, and asserts that it reads no more than `bound`.
fn read_within<const LOG: usize, T>(tree: &mut Tree<LOG>, bound: u64, call: impl FnOnce(&mut Tree<LOG>) -> T) -> T {
    let before = tree.device().counters();
    let answer = call(tree);
    let cost = tree.device().counters() - before;
    assert!(cost.read_bytes() <= bound && cost.programs() + cost.erases == 0, "{cost} of at most {bound}");
    answer
}

fn check<const LOG: usize>(tree: &mut Tree<LOG>, map: &Map) {
    assert_eq!(contents(tree), *map);
    // Each leaf is in a page of its own.
    let leaves = tree.stats().unwrap().live;
    let (len, stats, step) = (tree.len_bound(leaves), tree.stats_bound(leaves), tree.step_bound());
    assert_eq!(read_within(tree, len, |tree| tree.len().unwrap()) as usize, map.len());
    assert_eq!(read_within(tree, stats, |tree| tree.stats().unwrap()).keys as usize, map.len());
    let first = read_within(tree, step, |tree| tree.first().unwrap());
    assert_eq!(first, map.first_key_value().map(|(k, v)| (*k, *v)));
    assert_eq!(tree.last().unwrap(), map.last_key_value().map(|(k, v)| (*k, *v)));
    assert_eq!(tree.device().refusals(), 0);
}

fn seeds(count: u64) -> std::ops::Range<u64> {
    match std::env::var("NORN_SEED") {
        Ok(seed) => seed.parse().map(|seed: u64| seed..seed + 1).unwrap(),
        Err(_) => 0..count,
    }
}

#[test]
fn random_calls_answer_as_a_map() {
    answer_as_a_map::<0>();
    answer_as_a_map::<24>();
}

fn answer_as_a_map<const LOG: usize>() {
    let mut full = 0;
    for seed in seeds(12) {
        println!("(NORN_SEED={seed} cargo test -p norn-baselines --test suite mu_tree::random)");
        let mut random = fastrand::Rng::with_seed(seed);
        let mut tree = Tree::<LOG>::format(NorSim::new(parts()[seed as usize % 2].clone())).unwrap();
        let (mut map, keys) = (Map::new(), [40, 200, 2000][seed as usize % 3]);
        for step in 0..3000 {
            let op = draw(&mut random, keys);
            match perform(&mut tree, op) {
                Err(IndexError::Full) => full += 1,
                outcome => {
                    outcome.unwrap();
                    apply(&mut map, op);
                }
            }
            let key = (random.u16(0..keys) * 9 + random.u16(0..2)).to_be_bytes();
            let bound = tree.get_bound();
            assert_eq!(read_within(&mut tree, bound, |tree| tree.get(&key).unwrap()), map.get(&key).copied());
            let below = map.range(..=key).next_back().map(|(k, v)| (*k, *v));
            let bound = tree.step_bound();
            let found = read_within(&mut tree, bound, |tree| {
                tree.range(Bound::Unbounded, Bound::Included(key)).next_entry_back().unwrap()
            });
            assert_eq!(found, below);
            if step % 50 == 0 {
                check(&mut tree, &map);
                tree = Tree::<LOG>::mount(tree.into_device()).unwrap();
                check(&mut tree, &map);
            }
        }
    }
    println!("{full} calls found no room");
}

fn admit<const LOG: usize>(device: NorSim, before: &Map, after: &Map, context: &str) -> Tree<LOG> {
    let mut tree = Tree::<LOG>::mount(device).unwrap_or_else(|error| panic!("{error} {context}"));
    let found = contents(&mut tree);
    assert!(found == *before || found == *after, "neither before nor after {context}");
    assert_eq!(tree.device().refusals(), 0, "{context}");
    tree
}

#[test]
fn cut_calls_happen_wholly_or_not_at_all() {
    cut_calls::<0>();
    cut_calls::<24>();
}

fn cut_calls<const LOG: usize>() {
    let mut cuts = 0;
    for seed in seeds(6) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut tree = Tree::<LOG>::format(NorSim::new(parts()[seed as usize % 2].clone())).unwrap();
        let mut map = Map::new();
        for step in 0..400 {
            let op = draw(&mut random, if LOG == 0 { 60 } else { 20 });
            let mut after = map.clone();
            apply(&mut after, op);
            let before_operations = tree.device().operations();
            let mut trial = tree.clone();
            perform(&mut trial, op).unwrap();
            let operations = trial.device().operations() - before_operations;
            if random.u8(0..10) == 0 || operations > 100 {
                for cut in (0..operations).step_by(1 + operations as usize / 40) {
                    let tear = Tear::draw(&mut random);
                    let context = format!("{tear:?} at {cut} of {op:?}, step {step} (NORN_SEED={seed})");
                    let mut device = tree.device().clone();
                    device.cut_power_after(cut, tear);
                    let mut victim = Tree::<LOG>::mount(device).unwrap();
                    perform(&mut victim, op).unwrap_err();
                    let mut device = victim.into_device();
                    device.power_on();
                    let mut again = device.clone();
                    again.cut_power_after(random.u64(0..20), Tear::draw(&mut random));
                    let _ = MuTree::<_, 2, 3, 128, LOG>::mount(&mut again);
                    again.power_on();
                    admit::<LOG>(again, &map, &after, &context);
                    let mut tree = admit::<LOG>(device, &map, &after, &context);
                    perform(&mut tree, op).unwrap();
                    assert_eq!(contents(&mut tree), after, "{context}");
                    cuts += 1;
                }
            }
            (tree, map) = (trial, after);
        }
    }
    println!("{cuts} cuts");
    assert!(cuts > 300 || std::env::var("NORN_SEED").is_ok());
}

#[test]
fn cut_formats_and_damage_give_errors_or_answers() {
    cut_formats_and_damage::<0>();
    cut_formats_and_damage::<24>();
}

fn cut_formats_and_damage<const LOG: usize>() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut tree = Tree::<LOG>::format(NorSim::new(parts()[0].clone())).unwrap();
    let mut map = Map::new();
    for _ in 0..300 {
        let op = draw(&mut random, if LOG == 0 { 60 } else { 20 });
        perform(&mut tree, op).unwrap();
        apply(&mut map, op);
    }
    for cut in 0..200 {
        let mut device = tree.device().clone();
        device.cut_power_after(cut, Tear::draw(&mut random));
        if MuTree::<_, 2, 3, 128, LOG>::format(&mut device).is_ok() {
            break;
        }
        device.power_on();
        match Tree::<LOG>::mount(device) {
            Err(error) => assert_eq!(error, MountError::NotFormatted),
            Ok(mut tree) => assert!([Map::new(), map.clone()].contains(&contents(&mut tree))),
        }
    }
    for _ in 0..2000 {
        let mut device = tree.device().clone();
        for _ in 0..random.u8(1..4) {
            let at = norn_flash::Address(random.u32(0..device.spec().part.size_bytes()));
            let byte = device.peek(at, 1)[0] ^ 1 << random.u8(0..8);
            device.poke(at, &[byte]);
        }
        if let Ok(mut damaged) = Tree::<LOG>::mount(device) {
            for _ in 0..20 {
                let op = draw(&mut random, if LOG == 0 { 60 } else { 20 });
                let _ = perform(&mut damaged, op);
            }
            let _ = (damaged.len(), damaged.stats(), damaged.last());
        }
    }
}
