//! A list is never full with fewer keys than it guarantees, whatever was removed from it and whatever comes next.

use crate::model;

use model::{Answer, Key, Op, Pair, setups};
use norn_ordered_index::{OrderedIndex, Reclaimed};

/// How keys come.
#[derive(Clone, Copy, Debug)]
enum Order {
    Ascending,
    Random,
    Clustered,
}

const ORDERS: [Order; 3] = [Order::Ascending, Order::Random, Order::Clustered];

/// How keys go.
#[derive(Clone, Copy, Debug)]
enum Removal {
    /// This many of a hundred stay, the least keys if the order ascends.
    Leaving(u8, Order),
    EveryOther,
}

/// Inserts keys until the list is full, and checks that it is not too early.
fn fill(pair: &mut Pair, order: Order, random: &mut fastrand::Rng, context: model::Context<'_>) -> usize {
    let mut next = pair.map.last_key_value().map_or(0, |(&key, _)| u16::from_be_bytes(key));
    loop {
        next = match order {
            Order::Ascending => next.wrapping_add(1),
            Order::Clustered if random.u8(0..20) > 0 => next.wrapping_add(random.u16(1..4)),
            Order::Random | Order::Clustered => random.u16(..),
        };
        let key: Key = next.to_be_bytes();
        if !pair.map.contains_key(&key) && pair.step(&Op::Insert(key, [next as u8; 3]), context) == Answer::Full {
            break;
        }
    }
    let (found, guaranteed) = (pair.map.len(), pair.list.guaranteed_keys() as usize);
    assert!(found >= guaranteed, "full at {found} keys, {guaranteed} guaranteed {}", context());
    pair.check(context);
    found
}

fn thin(pair: &mut Pair, removal: Removal, random: &mut fastrand::Rng, context: model::Context<'_>) {
    let keys: Vec<Key> = pair.map.keys().copied().collect();
    let mut goes = false;
    for (at, key) in keys.iter().enumerate() {
        goes = match removal {
            Removal::EveryOther => !goes,
            Removal::Leaving(left, Order::Ascending) => at * 100 >= keys.len() * usize::from(left),
            Removal::Leaving(_, Order::Clustered) if random.u8(0..10) > 0 => goes,
            Removal::Leaving(left, Order::Random | Order::Clustered) => random.u8(0..100) >= left,
        };
        if goes {
            pair.step(&Op::Remove(*key), context);
        }
    }
    pair.check(context);
}

#[test]
fn a_list_takes_the_keys_that_it_guarantees_after_any_removals() {
    for (number, setup) in setups().iter().enumerate() {
        let mut random = fastrand::Rng::with_seed(number as u64);
        let (mut least, mut most) = (usize::MAX, 0);
        let mut guaranteed = 0;
        for first in ORDERS {
            for removed in [Some(ORDERS[0]), Some(ORDERS[1]), Some(ORDERS[2]), None] {
                for again in ORDERS {
                    let left = [5, 30, 50, 80][random.usize(..4)];
                    let removal = removed.map_or(Removal::EveryOther, |order| Removal::Leaving(left, order));
                    let context = || format!("setup {number}, {first:?}, {removal:?}, {again:?}");
                    let mut pair = Pair::new(setup, u16::MAX / 7);
                    guaranteed = pair.list.guaranteed_keys();
                    let before = fill(&mut pair, first, &mut random, &context);
                    thin(&mut pair, removal, &mut random, &context);
                    let after = fill(&mut pair, again, &mut random, &context);
                    (least, most) = (least.min(before).min(after), most.max(before).max(after));
                }
            }
        }
        println!("setup {number}: full at {least} to {most} keys, {guaranteed} guaranteed");
    }
}

#[test]
fn steps_ahead_of_need_make_room_after_removals() {
    for (number, setup) in setups().iter().enumerate().filter(|(_, setup)| setup.settings.keys > 1) {
        let mut random = fastrand::Rng::with_seed(number as u64);
        let context = || format!("setup {number}");
        let mut pair = Pair::new(setup, u16::MAX / 7);
        fill(&mut pair, Order::Ascending, &mut random, &context);
        thin(&mut pair, Removal::Leaving(30, Order::Random), &mut random, &context);
        let before = pair.list.stats().unwrap();
        let mut steps = 0;
        while pair.list.reclaim_step().unwrap() == Reclaimed::Block {
            steps += 1;
            assert!(steps < 1_000, "steps that never end {}", context());
        }
        pair.check(&context);
        let after = pair.list.stats().unwrap();
        let room = |stats: &norn_ordered_index::IndexStats| stats.free + stats.dead;
        println!("setup {number}: {steps} steps; {before:?} before, {after:?} after");
        let blocks = setup.spec.part.unit_count;
        let in_use = u32::from(blocks - blocks.div_ceil(setup.settings.turnstile_blocks.into()));
        let has_a_block = room(&before) * in_use >= before.live + room(&before);
        assert!(has_a_block || room(&after) > room(&before), "{before:?}, {after:?} {}", context());
    }
}
