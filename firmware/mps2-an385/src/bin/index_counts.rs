//! Counts what calls of the two sorted maps take: 8,000 keys of four bytes with values of four on 512 KB, in steady
//! state.
#![no_std]
#![no_main]

use core::ops::Bound;
use core::panic::PanicInfo;

use cortex_m_rt::entry;
use norn_embedded::flash::Reprogramming;
use norn_embedded::index::{FatList, LeafMap, OrderedIndex, Settings};
use norn_mps2_an385::counts::{self, Meter, Random, Tally};
use norn_mps2_an385::lasting;
use norn_mps2_an385::ram_nor::RamNor;

const PART_BYTES: usize = 512 << 10;
const KEYS: usize = 8_000;
/// Keys that make room for others before anything is counted.
const CHANGES_BEFORE: u32 = 10_000;
const COUNTED: u32 = 1_000;

type List = FatList<RamNor, 4, 4>;
type Leaves = LeafMap<RamNor, 4, 4>;

struct Run<'a, M> {
    map: M,
    keys: &'a mut [[u8; 4]; KEYS],
    keys_made: u32,
    random: Random,
}

impl<M: OrderedIndex<4, 4>> Run<'_, M> {
    /// A key that was never there: multiplication by an odd number takes no two numbers to the same one.
    fn new_key(&mut self) -> [u8; 4] {
        self.keys_made += 1;
        self.keys_made.wrapping_mul(0x9E37_79B1).to_be_bytes()
    }

    fn place(&mut self) -> usize {
        self.random.below(KEYS as u32) as usize
    }

    fn fill(&mut self) {
        for place in 0..KEYS {
            self.keys[place] = self.new_key();
            self.map.insert(&self.keys[place], &[1; 4]).expect("there is room");
        }
        for _ in 0..CHANGES_BEFORE {
            let (place, key) = (self.place(), self.new_key());
            self.map.remove(&self.keys[place]).expect("it is there");
            self.map.insert(&key, &[2; 4]).expect("there is room");
            self.keys[place] = key;
        }
    }

    fn count_changes(&mut self, meter: &mut Meter) {
        let (mut insert, mut remove) = (Tally::new("insert"), Tally::new("remove"));
        let (mut update, mut get) = (Tally::new("update"), Tally::new("get"));
        for _ in 0..COUNTED {
            let (place, key) = (self.place(), self.new_key());
            meter.tally(&mut remove, || self.map.remove(&self.keys[place])).expect("it is there");
            meter.tally(&mut insert, || self.map.insert(&key, &[3; 4])).expect("there is room");
            self.keys[place] = key;
            let place = self.place();
            meter.tally(&mut update, || self.map.update(&self.keys[place], &[4; 4])).expect("it is there");
            let place = self.place();
            let found = meter.tally(&mut get, || self.map.get(&self.keys[place])).expect("the part works");
            assert!(found.is_some(), "it is there");
        }
        [get, insert, update, remove].into_iter().for_each(|tally| meter.say(tally));
    }

    fn count_steps(&mut self, meter: &mut Meter) {
        let mut step = Tally::new("step of a range");
        let mut range = self.map.range(Bound::Included([0x40, 0, 0, 0]), Bound::Unbounded);
        for _ in 0..COUNTED {
            meter.tally(&mut step, || range.next_entry()).expect("the part works").expect("there are more");
        }
        meter.say(step);
    }
}

fn count<M: OrderedIndex<4, 4>>(meter: &mut Meter, map: M, keys: &mut [[u8; 4]; KEYS]) -> M {
    let mut run = Run { map, keys, keys_made: 0, random: Random::new(2011) };
    run.fill();
    run.count_changes(meter);
    run.count_steps(meter);
    run.map
}

#[entry]
fn main() -> ! {
    let mut meter = Meter::start();
    // SAFETY: called once.
    let memory = unsafe { lasting::memory() };
    let (first, second) = memory.split_at_mut(PART_BYTES);
    let mut keys = [[0; 4]; KEYS];

    meter.say("-- fat list, units of 4 KB, bytes programmed repeatedly");
    let part = RamNor::new(first, 4096, 1, Reprogramming::Unlimited);
    let list = List::format(part, Settings::paper_2011()).expect("the part is suitable");
    let list = count(&mut meter, list, &mut keys);
    let mut mount = Tally::new("mount after a cut");
    meter.tally(&mut mount, || List::mount(list.into_device())).expect("there is a list");
    meter.say(mount);

    meter.say("-- leaf map, units of 2 KB, words of 8 bytes programmed once");
    let part = RamNor::new(&mut second[..PART_BYTES], 2048, 8, Reprogramming::Once);
    let map = Leaves::format(part).expect("the part is suitable");
    let map = count(&mut meter, map, &mut keys);
    let mut mount = Tally::new("mount after a cut");
    meter.tally(&mut mount, || Leaves::mount(map.into_device())).expect("there is a map");
    meter.say(mount);
    meter.end()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    counts::fail(info)
}
