//! What is changed outside a transaction stays, whatever becomes of the transaction and of the power; and what is
//! changed in it is whole or undone.

use std::cell::RefCell;
use std::rc::Rc;

use norn_card_vm::{Failure, JournalError, Journaled, PersistentHeap};
use norn_conformance::seeds;
use norn_flash::{Address, EraseUnit, Nor, NorPart, NorPartition};
use norn_flash_sim::{NorSim, Tear, catalogue};
use norn_object_heap::{Config, Heap, Ref};

/// A part that heap and journal share, so that one cut is both's.
#[derive(Clone)]
struct Device(Rc<RefCell<NorSim>>);

impl Nor for Device {
    type Error = <NorSim as Nor>::Error;

    fn part(&self) -> NorPart {
        self.0.borrow().part()
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), Self::Error> {
        self.0.borrow_mut().read(address, buffer)
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), Self::Error> {
        self.0.borrow_mut().program(address, bytes)
    }

    fn erase(&mut self, unit: EraseUnit) -> Result<(), Self::Error> {
        self.0.borrow_mut().erase(unit)
    }
}

type Flash = Heap<NorPartition<Device>, 16>;
type Outside = Journaled<Flash, NorPartition<Device>>;

const UNITS: u16 = 8;
const BYTES: usize = 40;

fn parts(device: &Device) -> [NorPartition<Device>; 2] {
    [0..UNITS, UNITS..UNITS + 1].map(|units| NorPartition::new(device.clone(), units).unwrap())
}

fn mount(device: &Device) -> Result<Outside, ()> {
    let [heap, journal] = parts(device);
    Journaled::mount(Flash::mount(heap).map_err(|_| ())?, journal).map_err(|_| ())
}

/// A heap with two arrays: one is changed within transactions, the other outside.
fn formatted() -> (NorSim, [Ref; 2]) {
    let device = Device(Rc::new(RefCell::new(NorSim::new(catalogue::test_part(UNITS + 1, 1024)))));
    let [heap, journal] = parts(&device);
    let mut heap = Journaled::mount(Flash::format(heap, Config::default()).unwrap(), journal).unwrap();
    let arrays = [b'a', b'b'].map(|name| {
        let array = heap.create_array(BYTES as u16, 1, [1, 0, 0, 0]).unwrap();
        heap.set_root([name, 0], Some(array)).unwrap();
        array
    });
    drop(heap);
    let sim = device.0.borrow().clone();
    (sim, arrays)
}

fn contents(heap: &mut Outside, array: Ref) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    heap.read_elements(array, 0, &mut bytes).unwrap();
    bytes
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Begin,
    Inside(u16, u8),
    Outside(u16, u8),
    Commit,
    Abort,
}

fn steps(random: &mut fastrand::Rng) -> Vec<Step> {
    let mut steps = Vec::new();
    for _ in 0..12 {
        if random.bool() {
            steps.push(Step::Outside(random.u16(0..20), random.u8(..)));
        }
        steps.push(Step::Begin);
        for _ in 0..random.usize(0..5) {
            let (at, value) = (random.u16(0..20), random.u8(..));
            steps.push(if random.bool() { Step::Inside(at, value) } else { Step::Outside(at, value) });
        }
        steps.push(if random.bool() { Step::Commit } else { Step::Abort });
    }
    steps
}

/// What the arrays may be: the one that is changed inside, and the one that is changed outside.
#[derive(Clone, Copy)]
struct Model {
    committed: [u8; BYTES],
    open: [u8; BYTES],
    outside: [u8; BYTES],
}

/// Bytes of a change.
const COUNT: usize = 17;

fn apply(step: Step, model: &mut Model) {
    match step {
        Step::Begin => model.open = model.committed,
        Step::Inside(at, value) => model.open[usize::from(at)..][..COUNT].fill(value),
        Step::Outside(at, value) => model.outside[usize::from(at)..][..COUNT].fill(value),
        Step::Commit => model.committed = model.open,
        Step::Abort => model.open = model.committed,
    }
}

fn take(heap: &mut Outside, step: Step, [inside, outside]: [Ref; 2]) -> Result<(), ()> {
    match step {
        Step::Begin => heap.begin().map_err(|_| ()),
        Step::Inside(at, value) => heap.write_elements(inside, at, &[value; COUNT]).map_err(|_| ()),
        Step::Outside(at, value) => heap.write_outside(outside, at, &[value; COUNT]).map_err(|_| ()),
        Step::Commit => heap.commit().map_err(|_| ()),
        Step::Abort => heap.abort().map_err(|_| ()),
    }
}

#[test]
fn a_power_cut_takes_back_nothing_that_was_changed_outside() {
    let (mut cuts, mut seconds) = (0, 0);
    for run in seeds(0..4, "-p norn-card-vm --test suite outside::a_power_cut") {
        let mut random = run.random();
        let (start, arrays) = formatted();
        let steps = steps(&mut random);
        let empty = [0; BYTES];
        for operation in 0.. {
            let device = Device(Rc::new(RefCell::new(start.clone())));
            let mut heap = mount(&device).unwrap();
            device.0.borrow_mut().cut_power_after(operation, Tear::draw(&mut random));
            let mut model = Model { committed: empty, open: empty, outside: empty };
            let mut after = model;
            let mut is_cut = false;
            for step in &steps {
                after = model;
                apply(*step, &mut after);
                if take(&mut heap, *step, arrays).is_err() {
                    is_cut = true;
                    break;
                }
                model = after;
            }
            assert_eq!(device.0.borrow().refusals(), 0);
            if !is_cut {
                assert!(operation > 100, "{operation} operations");
                break;
            }
            cuts += 1;
            device.0.borrow_mut().power_on();
            // A second cut, anywhere in the recovery.
            if random.bool() {
                let second = random.u64(0..20);
                device.0.borrow_mut().cut_power_after(second, Tear::draw(&mut random));
                seconds += u32::from(mount(&device).is_err());
                device.0.borrow_mut().power_on();
            }
            let mut found = mount(&device).unwrap();
            let inside = contents(&mut found, arrays[0]);
            let outside = contents(&mut found, arrays[1]);
            let context = format!("cut {operation}, {}", run.replay());
            assert!(inside == model.committed || inside == after.committed, "{context}");
            assert!(outside == model.outside || outside == after.outside, "{context}: {outside:?}");
            // It goes on.
            for step in [Step::Begin, Step::Outside(3, 77), Step::Inside(0, 5), Step::Abort] {
                take(&mut found, step, arrays).unwrap();
            }
            assert_eq!(contents(&mut found, arrays[0]), inside, "{context}");
            assert_eq!(contents(&mut found, arrays[1])[3..][..COUNT], [77; COUNT], "{context}");
            assert_eq!(device.0.borrow().refusals(), 0);
        }
    }
    assert!(cuts > 1000 && seconds > 50, "{cuts} cuts, {seconds} second cuts");
}

#[test]
fn a_full_journal_gives_no_room_and_is_renewed_between_transactions() {
    let (start, arrays) = formatted();
    let device = Device(Rc::new(RefCell::new(start)));
    let mut heap = mount(&device).unwrap();
    heap.begin().unwrap();
    let refused = (0..100).find_map(|_| heap.write_outside(arrays[1], 0, &[1; 8]).err());
    assert_eq!(refused, Some(Failure::NoRoom));
    heap.abort().unwrap();
    assert_eq!(contents(&mut heap, arrays[1])[..8], [1; 8]);
    for round in 0..100 {
        heap.begin().unwrap();
        heap.write_outside(arrays[1], 0, &[round; 40]).unwrap();
        heap.abort().unwrap();
        assert_eq!(contents(&mut heap, arrays[1]), [round; 40]);
    }
    // An array that is made and changed in a transaction that is undone is passed over.
    heap.begin().unwrap();
    let made = heap.create_array(4, 1, [1, 0, 0, 0]).unwrap();
    heap.write_outside(made, 0, &[9; 4]).unwrap();
    heap.abort().unwrap();
    assert_eq!(contents(&mut heap, arrays[1]), [99; 40]);
    assert_eq!(device.0.borrow().refusals(), 0);
}

#[test]
fn a_unit_that_is_too_small_is_refused() {
    let device = Device(Rc::new(RefCell::new(NorSim::new(catalogue::test_part(UNITS + 1, 256)))));
    let [_, journal] = parts(&device);
    let heap = Device(Rc::new(RefCell::new(NorSim::new(catalogue::test_part(UNITS + 1, 1024)))));
    let [heap, _] = parts(&heap);
    let refused = Journaled::mount(Flash::format(heap, Config::default()).unwrap(), journal);
    assert!(matches!(refused, Err(JournalError::TooSmall)));
}
