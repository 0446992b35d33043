//! What the worst call programs, with and without steps ahead of need, at each fill: it stays within what the design
//! document derives.
//!
//! With `--nocapture` it prints the table of `docs/design/log-heap.md`.

use crate::model;

use model::{TestHeap, contents, format};
use norn_flash::Reprogramming;
use norn_flash_sim::catalogue;
use norn_log_heap::{CreateError, Layout, Ref, StoreError};

const FIELDS: usize = 50;
/// Granules of an object without its tail: eight bytes of header, a hundred of fields.
const OBJECT: u64 = 27;
/// Granules that a map node takes, and those of them that are programmed when it is written.
const NODE: u64 = 22;
const NODE_WRITTEN: u64 = 14;
/// Levels of the map.
const LEVELS: u64 = 3;
/// Granules of a unit after its head.
const ROOM: u64 = 2042;

/// A part of 56 units of 2,048 words, as TinyStore's.
fn heap_with(objects: usize) -> (TestHeap, Vec<Ref>) {
    let mut heap = format(catalogue::limited_test_part(56, 8192, 4, Reprogramming::Once));
    let mut references = Vec::new();
    for _ in 0..objects {
        match heap.create(Layout::uniform(FIELDS, 2)) {
            Ok(reference) => references.push(reference),
            Err(CreateError::Store(StoreError::Full)) => break,
            Err(error) => panic!("{error}"),
        }
    }
    (heap, references)
}

/// Words that a call programs by itself: records of the log, an object, nodes up to the root, and the log's head where
/// it turns.
fn own_words(log_turns: u64) -> u64 {
    2 + OBJECT + LEVELS * NODE_WRITTEN + log_turns * 16
}

/// Words that emptying a unit with so many live ones programs at most.
fn emptied(live: u64) -> u64 {
    let moved = live / OBJECT;
    live + moved * (2 + NODE_WRITTEN) + moved.div_ceil(4) * NODE_WRITTEN
}

/// Words that a call programs at most without steps ahead of need, with so many objects.
///
/// A unit that is emptied has at most a unit's words in objects, each with a record, a change and at most a leaf; nodes
/// further up change once for each leaf. One is emptied for the reserve's sake. Then more only while hardly a unit is
/// free: those with the fewest live words, of which as many are needed as free one more than they take.
fn most_words(objects: u64) -> u64 {
    let (room, units) = (ROOM, 56 - 3 - 3);
    // What those units that reclamation may choose have at least.
    let live = (objects * OBJECT + objects.div_ceil(16) * NODE).min(units * room) / units;
    let taken = live + live / OBJECT * NODE / 4;
    let more = if taken < room { room.div_ceil(room - taken) } else { 2 * 56 };
    own_words(2 + more) + emptied(room) + more * emptied(live)
}

struct Worst {
    words: u64,
    erases: u64,
    step_words: u64,
    mean: f64,
}

/// Words of the longest of the steps that are needed.
fn steps(heap: &mut TestHeap) -> u64 {
    let mut most = 0;
    loop {
        let before = heap.device().0.counters();
        if !heap.reclaim_step(if heap.ready_bytes() < 1024 { 1 } else { 8192 }).unwrap() {
            return most;
        }
        most = most.max((heap.device().0.counters() - before).programs());
    }
}

/// Whether steps are taken ahead of need.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    NoSteps,
    /// One before each call that needs it.
    Steps,
}

/// Updates fields of objects, nine of ten in a fifth of them.
fn update(heap: &mut TestHeap, references: &[Ref], pace: Pace) -> Worst {
    let mut random = fastrand::Rng::with_seed(22);
    let mut worst = Worst { words: 0, erases: 0, step_words: 0, mean: 0.0 };
    let (updates, mut all) = (60_000, 0);
    for number in 0..updates {
        let hot = references.len() / 5;
        let index = if random.u8(..10) < 9 { random.usize(..hot) } else { random.usize(hot..references.len()) };
        let start = heap.device().0.counters();
        if pace == Pace::Steps {
            worst.step_words = worst.step_words.max(steps(heap));
        }
        let before = heap.device().0.counters();
        heap.put_field(references[index], random.usize(..FIELDS), &[number as u8, 7]).unwrap();
        let counted = heap.device().0.counters() - before;
        all += (heap.device().0.counters() - start).programs();
        (worst.words, worst.erases) = (worst.words.max(counted.programs()), worst.erases.max(counted.erases));
    }
    worst.mean = all as f64 / f64::from(updates);
    worst
}

#[test]
fn the_worst_call_is_within_its_bound() {
    println!(
        "objects | bound, worst (erases), mean of an update | with steps: bound, worst, mean | a step: bound, worst"
    );
    for objects in [700, 1400, 2100, 2800, 3200] {
        let (mut heap, references) = heap_with(objects);
        assert_eq!(references.len(), objects);
        let mut paced = heap.clone();
        let worst = update(&mut heap, &references, Pace::NoSteps);
        let with_steps = update(&mut paced, &references, Pace::Steps);
        let most = most_words(objects as u64);
        println!(
            "{objects} | {most}, {} ({}), {:.2} | {}, {}, {:.2} | {}, {}",
            worst.words,
            worst.erases,
            worst.mean,
            own_words(0),
            with_steps.words,
            with_steps.mean,
            emptied(ROOM),
            with_steps.step_words,
        );
        assert!(worst.words <= most, "{} words of {most}", worst.words);
        assert!(with_steps.words <= own_words(0), "{} words of {}", with_steps.words, own_words(0));
        assert!(with_steps.step_words <= emptied(ROOM), "{} words in a step", with_steps.step_words);
        assert_eq!(with_steps.erases, 0, "{objects} objects");
        contents(&mut heap, &|| "without steps".to_owned());
        contents(&mut paced, &|| "with steps".to_owned());
    }
}

/// Words that creations read when so many objects at a time are deleted at random and created anew, on average; without
/// those in which units were emptied.
fn words_of_creations(at_a_time: usize) -> u64 {
    let (mut heap, mut references) = heap_with(1400);
    let mut random = fastrand::Rng::with_seed(23);
    let (mut words, mut count) = (0, 0);
    for _ in 0..300 {
        for _ in 0..at_a_time {
            heap.delete(references.swap_remove(random.usize(..references.len()))).unwrap();
        }
        for _ in 0..at_a_time {
            let before = heap.device().0.counters();
            references.push(heap.create(Layout::uniform(FIELDS, 2)).unwrap());
            let counted = heap.device().0.counters() - before;
            if counted.erases == 0 && counted.programs() <= own_words(0) {
                (words, count) = (words + counted.reads(), count + 1);
            }
        }
    }
    assert!(count > 200, "{count} creations emptied no unit");
    words / count
}

/// A heap in which objects come and go does not search its map for free slots.
#[test]
fn creations_do_not_search_the_map() {
    let (one, two) = (words_of_creations(1), words_of_creations(2));
    println!("words read by a creation: one object deleted before {one}, two {two}");
    assert!(one < 60, "{one} words");
    assert!(two < 1000, "{two} words");
}

/// Where nothing can be done ahead of need, steps come to an end.
#[test]
fn steps_end_on_a_full_part() {
    for spec in model::parts(16) {
        let mut heap = format(spec);
        while heap.create(Layout::uniform(9, 3)).is_ok() {}
        let steps = (0..1000).take_while(|_| heap.reclaim_step(1).unwrap()).count();
        assert!(steps < 50, "{steps} steps");
        contents(&mut heap, &|| "full".to_owned());
    }
}
