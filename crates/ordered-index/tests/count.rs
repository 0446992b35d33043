//! The number of keys is known after a format, after a stop, after a cut and once it was counted, and is right after
//! any cut. Where a stop finds no room for it, it is estimated for a small part of the cost.

use crate::model;

use model::{Cut, Op, Pair, SETUPS, TestList, audit, check, replay, setups};
use norn_conformance::{Sweep, Tally, Trial, from_environment, one_of_each};
use norn_flash::NorPart;
use norn_flash_sim::{NorSim, catalogue};
use norn_ordered_index::{FatList, OrderedIndex, Settings};

type List = FatList<NorSim, 4, 4>;

/// What `count` returns, and how many words it reads.
fn counted(list: &mut List, count: impl FnOnce(&mut List) -> u32) -> (u32, u64) {
    let before = list.device().counters();
    let keys = count(list);
    (keys, (list.device().counters() - before).reads())
}

#[test]
fn a_count_costs_nothing_once_it_is_known_and_little_else() {
    let mut spec = catalogue::k8c1215etm();
    spec.part = NorPart { unit_count: 16, ..spec.part };
    let mut list: List = FatList::format(NorSim::new(spec), Settings::paper_2011()).unwrap();
    let mut keys: Vec<u32> = (0..20_000).collect();
    fastrand::Rng::with_seed(5).shuffle(&mut keys);
    for key in &keys {
        list.insert(&key.to_be_bytes(), &[0; 4]).unwrap();
    }
    assert_eq!(counted(&mut list, |list| list.len().unwrap()), (20_000, 0), "counted from the format on");
    for key in &keys[..5_000] {
        list.remove(&key.to_be_bytes()).unwrap();
    }
    let mut cut: List = FatList::mount(list.clone().into_device()).unwrap();
    list.stop().unwrap();
    let mut list: List = FatList::mount(list.into_device()).unwrap();
    let (count, words) = counted(&mut list, |list| list.len().unwrap());
    assert!(count == 15_000 && words <= 16, "{count} keys, {words} words after a stop");
    list.insert(&keys[0].to_be_bytes(), &[1; 4]).unwrap();
    assert_eq!(counted(&mut list, |list| list.len().unwrap()), (15_001, 0), "counted from the mount on");

    assert_eq!(counted(&mut cut, |list| list.len().unwrap()), (15_000, 0), "counted by the mount after a cut");
}

#[test]
fn an_estimate_costs_little() {
    let mut spec = catalogue::k8c1215etm();
    spec.part = NorPart { unit_count: 16, ..spec.part };
    // Few slots, many levels: the head has no room for a count.
    let settings = Settings { levels: 8, slots: 6, keys: 4, pool: 16, ..Settings::paper_2011() };
    let mut list: List = FatList::format(NorSim::new(spec), settings).unwrap();
    let mut keys: Vec<u32> = (0..8_000).collect();
    fastrand::Rng::with_seed(5).shuffle(&mut keys);
    for key in &keys {
        list.insert(&key.to_be_bytes(), &[0; 4]).unwrap();
    }
    list.stop().unwrap();
    let mut list: List = FatList::mount(list.into_device()).unwrap();
    let (estimate, cheap) = counted(&mut list, |list| list.len_estimate().unwrap());
    let (count, dear) = counted(&mut list, |list| list.len().unwrap());
    println!("8,000 keys: estimated {estimate} with {cheap} words, counted with {dear}");
    assert!(count == 8_000 && (6_000..10_000).contains(&estimate) && cheap * 3 < dear, "{estimate}, {cheap}, {dear}");
    assert_eq!(counted(&mut list, |list| list.len().unwrap()), (8_000, 0));
    assert_eq!(counted(&mut list, |list| list.len_estimate().unwrap()), (8_000, 0));
}

#[test]
fn a_cut_stop_leaves_no_wrong_count() {
    let mut sums = Tally::default();
    for seed in from_environment("NORN_SEED").map_or(0..40, |seed| seed..seed + 1) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pair = Pair::new(&setups()[seed as usize % SETUPS], 40);
        for _ in 0..random.u32(1..300) {
            let op = pair.draw(&mut random);
            pair.step(&op, &|| replay("count", "a_cut_stop", seed));
        }
        pair.step(&Op::Remove([0, 0]), &|| replay("count", "a_cut_stop", seed));
        let context = || replay("count", "a_cut_stop", seed);
        let map = pair.map.clone();
        let trial = Trial {
            subject: &Cut(pair.list),
            call: &Op::Stop,
            shapes: &one_of_each,
            admitted: &|found| *found == map,
            go_on: &mut |Cut(mut list), mut map, _, context| {
                // A list that does not know the number stops twice with another number of keys.
                for value in 0..2 {
                    let key = [0xFF, 0xF0 + value];
                    match map.insert(key, [value; 3]) {
                        None if list.insert(&key, &[value; 3]).is_err() => _ = map.remove(&key),
                        _ => {}
                    }
                    list.stop().unwrap();
                    let mut device = list.into_device();
                    device.power_on();
                    list = TestList::mount(device).unwrap();
                    assert_eq!(list.clone().len().unwrap() as usize, map.len(), "{}", context());
                    audit(&mut list, context);
                }
                check(&mut list, &map, context);
            },
            context: &context,
        };
        sums += Sweep { second_period: 2, ..Sweep::default() }.cut(trial, &mut random);
    }
    println!("{sums:?}");
    assert!(sums.cuts > 200 && sums.second_cuts > 100, "{sums:?}");
}
