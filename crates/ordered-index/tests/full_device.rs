//! A full list says `Full` and keeps what it holds, updates continue, and removing keys makes room again.

use crate::model;

use model::{Answer, Op, Pair, setups};
use norn_ordered_index::{IndexError, OrderedIndex};

#[test]
fn a_full_list_keeps_its_keys_takes_updates_and_has_room_again_after_removals() {
    for (number, setup) in setups().iter().enumerate() {
        let mut random = fastrand::Rng::with_seed(number as u64);
        let mut pair = Pair::new(setup, u16::MAX / 7);
        let context = || format!("setup {number}");
        let mut capacities = Vec::new();
        for round in 0..4 {
            let mut refused = 0;
            while refused < 30 {
                let key = random.u16(..).to_be_bytes();
                let op = if pair.map.contains_key(&key) { Op::Update(key, [1; 3]) } else { Op::Insert(key, [2; 3]) };
                refused += u32::from(pair.step(&op, &context) == Answer::Full);
            }
            pair.check(&context);
            capacities.push(pair.map.len());
            // Every key can be updated, again and again.
            let keys: Vec<_> = pair.map.keys().copied().collect();
            for step in 0..300 {
                let key = random.choice(&keys).copied().unwrap();
                // As long as before, where values vary.
                let op = Op::Update(key, [pair.map[&key][0], step as u8, 1]);
                assert_eq!(pair.step(&op, &context), Answer::Done);
            }
            pair.check(&context);
            // All of them, half of them, or a run of them go.
            for (at, &key) in keys.iter().enumerate() {
                let goes = match round {
                    0 => true,
                    1 => random.bool(),
                    _ => at < keys.len() / 3,
                };
                if goes {
                    assert_eq!(pair.step(&Op::Remove(key), &context), Answer::Done);
                }
            }
            pair.check(&context);
        }
        println!("setup {number}: full at {capacities:?} keys");
        let least = *capacities.iter().min().unwrap();
        assert!(least * 2 > capacities[0], "room comes back: {capacities:?}");
    }
}

#[test]
fn calls_that_make_no_sense_are_refused_and_change_nothing() {
    let mut pair = Pair::new(&setups()[0], 10);
    pair.step(&Op::Insert([1, 1], [1; 3]), &String::new);
    assert_eq!(pair.list.insert(&[1, 1], &[2; 3]), Err(IndexError::KeyExists));
    assert_eq!(pair.list.update(&[1, 2], &[2; 3]), Err(IndexError::KeyAbsent));
    assert_eq!(pair.list.remove(&[0, 2]), Err(IndexError::KeyAbsent));
    pair.check(&String::new);
}
