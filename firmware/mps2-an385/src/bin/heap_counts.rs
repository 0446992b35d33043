//! Counts what calls of the two heaps take: 1,400 objects of fifty fields of two bytes on 448 KB, in steady state.
#![no_std]
#![no_main]

use core::panic::PanicInfo;

use cortex_m_rt::entry;
use norn_embedded::flash::Reprogramming;
use norn_embedded::tinystore::{Config, Heap, LeastFeatures};
use norn_embedded::heap::{Layout, LogHeap, ObjectHeap, Ref};
use norn_mps2_an385::counts::{self, Meter, Random, Tally};
use norn_mps2_an385::lasting;
use norn_mps2_an385::ram_nor::RamNor;

const UNITS: usize = 56;
const UNIT_BYTES: usize = 8192;
const OBJECTS: usize = 1400;
const FIELDS: u32 = 50;
/// Updates before anything is counted: each unit is erased more than once.
const UPDATES_BEFORE: u32 = 60_000;
const COUNTED: u32 = 2_000;
/// Objects of a transaction.
const TEN: usize = 10;

type Tiny = Heap<RamNor, UNITS, (), LeastFeatures>;
type Logged = LogHeap<RamNor, UNITS>;

struct Run<'a, H> {
    heap: H,
    objects: &'a mut [Option<Ref>; OBJECTS],
    random: Random,
}

impl<H: ObjectHeap> Run<'_, H> {
    fn fill(&mut self) {
        for place in 0..OBJECTS {
            self.objects[place] = self.heap.create(Layout::uniform(FIELDS as usize, 2)).ok();
        }
        (0..UPDATES_BEFORE).for_each(|_| self.put());
    }

    /// An object: in nine of ten cases one of a fifth of them.
    fn object(&mut self) -> Ref {
        let among = if self.random.below(10) == 0 { OBJECTS } else { OBJECTS / 5 };
        self.objects[self.random.below(among as u32) as usize].expect("all were created")
    }

    fn field(&mut self) -> (Ref, usize, [u8; 2]) {
        (self.object(), self.random.below(FIELDS) as usize, (self.random.below(1 << 16) as u16).to_le_bytes())
    }

    fn put(&mut self) {
        let (object, field, value) = self.field();
        self.heap.put_field(object, field, &value).expect("there is room");
    }

    fn count_fields(&mut self, meter: &mut Meter) {
        let (mut put, mut get) = (Tally::new("put_field"), Tally::new("get_field"));
        for _ in 0..COUNTED {
            let (object, field, value) = self.field();
            meter.tally(&mut put, || self.heap.put_field(object, field, &value)).expect("there is room");
            let (object, field, mut value) = self.field();
            meter.tally(&mut get, || self.heap.get_field(object, field, &mut value)).expect("it is there");
        }
        meter.say(get);
        meter.say(put);
    }

    fn count_transactions(&mut self, meter: &mut Meter) {
        let mut tally = Tally::new("transaction of 10 put_field, whole");
        for _ in 0..COUNTED / 10 {
            let changes: [_; TEN] = core::array::from_fn(|_| self.field());
            meter.tally(&mut tally, || {
                self.heap.begin().expect("none is open");
                for (object, field, value) in &changes {
                    self.heap.put_field(*object, *field, value).expect("there is room");
                }
                self.heap.commit().expect("there is room");
            });
        }
        meter.say(tally);
    }

    fn count_objects(&mut self, meter: &mut Meter) {
        let (mut create, mut delete) = (Tally::new("create, 100 bytes"), Tally::new("delete"));
        for _ in 0..COUNTED / 10 {
            let place = self.random.below(OBJECTS as u32) as usize;
            let object = self.objects[place].expect("all were created");
            meter.tally(&mut delete, || self.heap.delete(object)).expect("it is there");
            let new = meter.tally(&mut create, || self.heap.create(Layout::uniform(FIELDS as usize, 2)));
            self.objects[place] = Some(new.expect("there is room"));
        }
        meter.say(create);
        meter.say(delete);
    }

    /// Counts mounts of what was cut between two calls, and of what was at rest.
    fn count_mounts(&mut self, meter: &mut Meter, mount: fn(&mut H), rest: fn(&mut H)) {
        let (mut cut, mut rested) = (Tally::new("mount after a cut"), Tally::new("mount after `rest`"));
        for _ in 0..5 {
            (0..100).for_each(|_| self.put());
            meter.tally(&mut cut, || mount(&mut self.heap));
            (0..100).for_each(|_| self.put());
            rest(&mut self.heap);
            meter.tally(&mut rested, || mount(&mut self.heap));
        }
        meter.say(cut);
        meter.say(rested);
    }
}

fn count<H: ObjectHeap>(
    meter: &mut Meter,
    heap: H,
    objects: &mut [Option<Ref>; OBJECTS],
    mounts: [fn(&mut H); 2],
) -> H {
    let mut run = Run { heap, objects, random: Random::new(2006) };
    run.fill();
    run.count_fields(meter);
    run.count_transactions(meter);
    run.count_objects(meter);
    run.count_mounts(meter, mounts[0], mounts[1]);
    run.heap
}

#[entry]
fn main() -> ! {
    let mut meter = Meter::start();
    // SAFETY: called once.
    let memory = unsafe { lasting::memory() };
    let (tiny, logged) = memory.split_at_mut(UNITS * UNIT_BYTES);
    let mut objects = [None; OBJECTS];

    meter.say("-- log-structured heap, words of 4 bytes programmed once");
    let part = RamNor::new(&mut logged[..UNITS * UNIT_BYTES], UNIT_BYTES as u32, 4, Reprogramming::Once);
    let heap = Logged::format(part).expect("the part is suitable");
    let mounts: [fn(&mut Logged); 2] =
        [|heap| heap.remount().expect("there is a heap"), |heap| heap.rest().expect("the part works")];
    count(&mut meter, heap, &mut objects, mounts);

    meter.say("-- TinyStore's structure, words of 4 bytes programmed repeatedly");
    let part = RamNor::new(tiny, UNIT_BYTES as u32, 4, Reprogramming::Unlimited);
    let heap = Tiny::format_with(part, Config::tinystore_2006(), ()).expect("the part is suitable");
    count(&mut meter, heap, &mut objects, [|heap| heap.remount().expect("there is a heap"), |_| ()]);
    meter.end()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    counts::fail(info)
}
