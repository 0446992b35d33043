//! Calls are as short as they are said to be: over long random histories on lists of every fill, on units of 64 KB and
//! of 4 KB, a change after steps ahead of need moves one block at most, and without them no more than its bound.

use crate::model;

use std::collections::BTreeSet;

use model::list::EitherList;
use norn_conformance::from_environment;
use norn_flash::NorPart;
use norn_flash_sim::{Counters, NorSim, catalogue};
use norn_ordered_index::fat_list::CallBound;
use norn_ordered_index::{IndexError, OrderedIndex, Reclaimed, Settings};

/// Makes, of several of which values vary.
const MAKES: usize = 8;

type List = EitherList<NorSim, 4>;

/// Whether steps ahead of need are taken between the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    Ahead,
    OnDemand,
}

/// Parts: units of 64 KB and of 4 KB, and small pools in small units, where room in pools is short all the time;
/// program units of 2 bytes, and such as have several fields.
fn makes() -> [(u16, u32, u8, Settings, Option<u16>); MAKES] {
    let small = Settings { turnstile_blocks: 4, levels: 4, slots: 8, keys: 5, pool: 8 };
    [
        (8, 64 << 10, 2, Settings { turnstile_blocks: 4, ..Settings::paper_2011() }, None),
        (32, 4 << 10, 2, Settings::paper_2011(), None),
        (16, 2 << 10, 2, small, None),
        (12, 1 << 10, 2, Settings { turnstile_blocks: 4, levels: 3, pool: 6, ..Settings::soft_list() }, None),
        (32, 4 << 10, 2, Settings::paper_2011(), Some(0)),
        (16, 2 << 10, 2, small, Some(200)),
        (16, 2 << 10, 8, small, None),
        (16, 2 << 10, 32, small, Some(200)),
    ]
}

struct History {
    list: List,
    keys: Vec<u32>,
    known: BTreeSet<u32>,
    random: fastrand::Rng,
    next: u32,
}

impl History {
    fn new(seed: u64) -> History {
        let (unit_count, unit_size_bytes, program_unit_bytes, settings, log_bytes) = makes()[seed as usize % MAKES];
        let mut spec = catalogue::k8c1215etm();
        spec.part = NorPart { unit_count, unit_size_bytes, program_unit_bytes, ..spec.part };
        spec.word_bytes = program_unit_bytes.max(spec.word_bytes);
        let device = NorSim::new(spec);
        let list = match log_bytes {
            None => List::format(device, settings).unwrap(),
            Some(log_bytes) => List::format_varied(device, settings, log_bytes).unwrap(),
        };
        let random = fastrand::Rng::with_seed(seed);
        History { list, keys: Vec::new(), known: BTreeSet::new(), random, next: 1 << 20 }
    }

    fn insert(&mut self, key: u32) -> bool {
        if self.known.contains(&key) {
            return true;
        }
        match self.list.insert(&key.to_be_bytes(), &[20, 1, 2]) {
            Ok(()) => {
                self.keys.push(key);
                self.known.insert(key);
                true
            }
            Err(IndexError::Full) => false,
            Err(error) => panic!("{error}"),
        }
    }

    fn remove(&mut self, at: usize) {
        let key = self.keys.swap_remove(at);
        self.known.remove(&key);
        self.list.remove(&key.to_be_bytes()).unwrap();
    }

    /// Fills the list to some per cent of what is guaranteed, or altogether.
    fn fill(&mut self, percent: u32) {
        let wanted = self.list.guaranteed_keys() * percent / 100;
        while percent > 100 || (self.keys.len() as u32) < wanted {
            let key = self.random.u32(0..1 << 20);
            if !self.insert(key) {
                break;
            }
        }
    }

    /// A call that keeps the fill about as it is: an update, or a removal and an insertion in turn.
    fn step(&mut self) {
        let at = self.random.usize(..self.keys.len());
        match self.random.u8(0..4) {
            0 => self.remove(at),
            1 => {
                let key = match self.random.u8(0..3) {
                    0 => self.random.u32(0..1 << 20),
                    1 => self.keys[at] + self.random.u32(1..4),
                    _ => self.next,
                };
                self.next += u32::from(key == self.next);
                self.insert(key);
            }
            // Some keys are hot.
            _ => {
                let at = if self.random.bool() { at } else { at % 8 };
                let outcome = self.list.update(&self.keys[at].to_be_bytes(), &[self.random.u8(..), 3, 4]);
                // A value that becomes longer may find no room.
                let may_be_full = matches!(self.list, List::Varied(_));
                assert!(outcome == Ok(()) || may_be_full && outcome == Err(IndexError::Full), "{outcome:?}");
            }
        }
        if self.keys.is_empty() {
            self.insert(7);
        }
    }

    fn get_ready(&mut self) -> u32 {
        let mut steps = 0;
        while self.list.reclaim_step().unwrap() == Reclaimed::Block {
            steps += 1;
            assert!(steps < 1_000, "steps ahead of need that never end");
        }
        steps
    }
}

fn assert_within(cost: Counters, bound: CallBound, context: impl FnOnce() -> String) {
    let is_within = cost.erases <= bound.erases.into()
        && cost.programmed_bytes() <= bound.programmed_bytes
        && cost.read_bytes() <= bound.read_bytes;
    assert!(is_within, "{cost} of at most {bound:?} {}", context());
}

/// The most blocks that a call erased, and how many calls erased any.
fn run(seed: u64, percent: u32, pace: Pace, calls: u32) -> (u64, u32) {
    let mut history = History::new(seed);
    history.fill(percent);
    let (mut most, mut long, mut steps) = (0, 0, 0);
    for call in 0..calls {
        if pace == Pace::Ahead {
            steps += history.get_ready();
        }
        let objects = history.keys.len() as u32 + 3;
        let bound = match pace {
            Pace::Ahead => history.list.paced_bound(objects),
            Pace::OnDemand => history.list.call_bound(objects),
        };
        let before = history.list.device().counters();
        history.step();
        let cost = history.list.device().counters() - before;
        assert_within(cost, bound, || {
            format!(
                "call {call}, {percent}%, {pace:?} (NORN_SEED={seed} cargo test -p norn-ordered-index --test \
                 bounded_calls)"
            )
        });
        most = most.max(cost.erases);
        long += u32::from(cost.erases > 0);
    }
    println!(
        "seed {seed}, {percent}% full, {pace:?}: at most {most} erases, {long} of {calls} calls erase, {steps} steps"
    );
    (most, long)
}

fn sweep(pace: Pace, calls: u32) -> u64 {
    let mut most = 0;
    for seed in from_environment("NORN_SEED").map_or(0..MAKES as u64, |seed| seed..seed + 1) {
        for percent in [30, 70, 100, 101] {
            most = most.max(run(seed, percent, pace, calls).0);
        }
    }
    most
}

#[test]
fn a_change_after_steps_ahead_of_need_moves_one_block_at_most() {
    assert!(sweep(Pace::Ahead, 1_200) <= 1);
}

#[test]
fn a_change_on_demand_keeps_its_bound() {
    assert!(sweep(Pace::OnDemand, 4_000) > 1, "no call came near its bound");
}
