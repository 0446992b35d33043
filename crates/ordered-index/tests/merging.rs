//! Objects with few keys become fewer: two are merged when the slots of one are full, and when a block is reclaimed its
//! objects with few keys are shifted into those before them. What the list holds stays as it is.

use crate::model;

use model::{Op, Pair, objects, setups};
use norn_ordered_index::{OrderedIndex, Reclaimed};

/// A list of objects with one to two keys each, except the one that has `rich`, which has four. The keys come from the
/// greatest to the least: ascending ones would fill the objects.
fn thinned(rich: u8) -> Pair {
    let mut pair = Pair::new(&setups()[0], 1);
    for number in (0..60_u8).rev() {
        pair.step(&Op::Insert([number, 0], [number; 3]), &String::new);
    }
    let kept = |number: u8| number.is_multiple_of(4) || (rich..rich + 4).contains(&number);
    for number in (0..60_u8).filter(|&number| !kept(number)) {
        pair.step(&Op::Remove([number, 0]), &String::new);
    }
    pair.check(&String::new);
    pair
}

#[test]
fn two_objects_with_few_keys_are_merged() {
    let mut pair = thinned(40);
    let before = objects(&mut pair.list);
    // The first object has none before it that could take its keys.
    for round in 0..20 {
        pair.step(&Op::Update([0, 0], [round; 3]), &String::new);
    }
    pair.check(&String::new);
    let after = objects(&mut pair.list);
    assert!(after < before, "{before} objects before, {after} after");
}

#[test]
fn objects_with_few_keys_are_shifted_when_their_block_is_reclaimed() {
    let mut pair = thinned(40);
    let (before, erases) = (objects(&mut pair.list), pair.list.device().counters().erases);
    // Keys beyond the others come and go, and leave dead cells in every block. The objects before them are not changed
    // by that.
    for round in 0..30_u8 {
        for number in 100..150_u8 {
            pair.step(&Op::Insert([number, 0], [round; 3]), &String::new);
        }
        for number in 100..150_u8 {
            pair.step(&Op::Remove([number, 0]), &String::new);
        }
    }
    assert!(pair.list.device().counters().erases > erases, "blocks were reclaimed");
    pair.check(&String::new);
    let after = objects(&mut pair.list);
    assert!(after < before, "{before} objects before, {after} after");
}

#[test]
fn so_they_are_when_a_block_is_reclaimed_ahead_of_need() {
    let mut pair = thinned(40);
    // Objects with many keys are rewritten until half of a block is dead.
    for round in 0..60_u8 {
        for number in 40..44 {
            pair.step(&Op::Update([number, 0], [round; 3]), &String::new);
        }
    }
    let before = objects(&mut pair.list);
    let mut blocks = 0;
    while pair.list.reclaim_step().unwrap() == Reclaimed::Block {
        blocks += 1;
    }
    pair.check(&String::new);
    let after = objects(&mut pair.list);
    assert!(blocks > 0 && after < before, "{blocks} blocks reclaimed; {before} objects before, {after} after");
}
