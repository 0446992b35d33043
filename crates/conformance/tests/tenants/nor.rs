//! A heap and two ordered indexes on one NOR part, which a label lists.
//!
//! Each of them also calls the part at addresses outside its range now and then. Around every call the cells of all
//! other units are compared.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::{Bound, Range};

use norn_conformance::{PowerLost, one_of_each, seeds};
use norn_flash::{
    Address, EraseUnit, Label, LabelDevice, Nor, NorLabel, NorRangeError, NorTenant, Tenancy, TenantKind,
};
use norn_flash_sim::{NorSim, SimError, Tear, catalogue};
use norn_object_heap::{Config, Heap, Layout, Ref};
use norn_ordered_index::{FatList, IndexError, OrderedIndex, Settings};

const UNITS: u16 = 32;
const UNIT_BYTES: u32 = 1024;
const FIELDS: usize = 6;
/// Calls from one mount to the next.
const SESSION: usize = 5;

type Cell = RefCell<Tenancy<NorSim, 3>>;
type Tenant<'a> = NorTenant<'a, Cell>;
type Failure = NorRangeError<SimError>;
type Index<'a> = FatList<Tenant<'a>, 2, 4>;

const INDEX_SETTINGS: Settings = Settings { turnstile_blocks: 4, levels: 3, slots: 10, keys: 7, pool: 6 };

/// What the tenants hold, as plain values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Contents {
    fields: [u32; FIELDS],
    indexes: [BTreeMap<u16, u32>; 2],
}

/// One call of a tenant.
#[derive(Clone, Copy, Debug)]
enum Call {
    Put {
        field: usize,
        value: u32,
    },
    /// Two fields of the heap, in one transaction.
    PutTwo {
        fields: [usize; 2],
        value: u32,
    },
    Insert {
        index: usize,
        key: u16,
        value: u32,
    },
    Remove {
        index: usize,
        key: u16,
    },
    /// Reads, programs and erases outside its range.
    Trespass {
        tenant: usize,
        address: u32,
    },
}

impl Call {
    fn draw(random: &mut fastrand::Rng) -> Call {
        let (value, key, index) = (random.u32(..), random.u16(..40), random.usize(..2));
        match random.u8(..10) {
            0..3 => Call::Put { field: random.usize(..FIELDS), value },
            3 => Call::PutTwo { fields: [random.usize(..3), random.usize(3..FIELDS)], value },
            4..7 => Call::Insert { index, key, value },
            7 | 8 => Call::Remove { index, key },
            _ => {
                let bytes = u32::from(UNITS) * UNIT_BYTES;
                let address = if random.bool() { random.u32(..2 * bytes) } else { random.u32(..) };
                Call::Trespass { tenant: random.usize(..3), address }
            }
        }
    }

    fn tenant(&self) -> usize {
        match *self {
            Call::Put { .. } | Call::PutTwo { .. } => 0,
            Call::Insert { index, .. } | Call::Remove { index, .. } => 1 + index,
            Call::Trespass { tenant, .. } => tenant,
        }
    }

    fn apply(&self, contents: &mut Contents) {
        match *self {
            Call::Put { field, value } => contents.fields[field] = value,
            Call::PutTwo { fields, value } => fields.into_iter().for_each(|field| contents.fields[field] = value),
            Call::Insert { index, key, value } => drop(contents.indexes[index].entry(key).or_insert(value)),
            Call::Remove { index, key } => drop(contents.indexes[index].remove(&key)),
            Call::Trespass { .. } => {}
        }
    }
}

struct Tenants<'a> {
    heap: Heap<Tenant<'a>, 32>,
    object: Ref,
    indexes: [Index<'a>; 2],
}

fn is_lost<T, E: std::fmt::Debug>(result: Result<T, E>, lost: impl Fn(&E) -> bool) -> Result<T, PowerLost> {
    match result {
        Err(error) if lost(&error) => Err(PowerLost),
        result => Ok(result.unwrap_or_else(|error| panic!("{error:?}"))),
    }
}

/// Whether a message of any of the crates' errors is about power: their types differ, their device's error does not.
fn says_lost<E: std::fmt::Debug>(error: &E) -> bool {
    format!("{error:?}").contains("Device(PowerLost)")
}

impl<'a> Tenants<'a> {
    fn format(cell: &'a Cell, ranges: &[Range<u16>; 3]) {
        let tenant = |number: usize| NorTenant::new(cell, ranges[number].clone()).unwrap();
        let mut heap: Heap<_, 32> = Heap::format(tenant(0), Config::default()).unwrap();
        let object = heap.create(Layout::uniform(FIELDS, 4)).unwrap();
        heap.set_root(b"fields", Some(object)).unwrap();
        for number in [1, 2] {
            Index::format(tenant(number), INDEX_SETTINGS).unwrap();
        }
    }

    fn mount(cell: &'a Cell, ranges: &[Range<u16>; 3]) -> Result<Self, PowerLost> {
        let tenant = |number: usize| NorTenant::new(cell, ranges[number].clone()).unwrap();
        let mut heap: Heap<_, 32> = is_lost(Heap::mount(tenant(0)), says_lost)?;
        let object = heap.root(b"fields").unwrap().expect("the root was there from the beginning");
        let first = is_lost(Index::mount(tenant(1)), says_lost)?;
        let second = is_lost(Index::mount(tenant(2)), says_lost)?;
        Ok(Tenants { heap, object, indexes: [first, second] })
    }

    fn device(&mut self, tenant: usize) -> &mut Tenant<'a> {
        match tenant {
            0 => self.heap.device_mut(),
            index => self.indexes[index - 1].device_mut(),
        }
    }

    fn make(&mut self, call: Call) -> Result<(), PowerLost> {
        match call {
            Call::Put { field, value } => {
                is_lost(self.heap.put_field(self.object, field, &value.to_le_bytes()), says_lost)
            }
            Call::PutTwo { fields, value } => {
                is_lost(self.heap.begin(), says_lost)?;
                for field in fields {
                    is_lost(self.heap.put_field(self.object, field, &value.to_le_bytes()), says_lost)?;
                }
                is_lost(self.heap.commit(), says_lost)
            }
            Call::Insert { index, key, value } => {
                match self.indexes[index].insert(&key.to_be_bytes(), &value.to_le_bytes()) {
                    Err(IndexError::KeyExists) => Ok(()),
                    result => is_lost(result, says_lost),
                }
            }
            Call::Remove { index, key } => match self.indexes[index].remove(&key.to_be_bytes()) {
                Err(IndexError::KeyAbsent) => Ok(()),
                result => is_lost(result.map(|_| ()), says_lost),
            },
            Call::Trespass { tenant, address } => {
                trespass(self.device(tenant), address);
                Ok(())
            }
        }
    }

    fn contents(&mut self) -> Contents {
        let mut contents = Contents::default();
        for (number, field) in contents.fields.iter_mut().enumerate() {
            let mut value = [0; 4];
            self.heap.get_field(self.object, number, &mut value).unwrap();
            *field = u32::from_le_bytes(value);
        }
        for (index, map) in self.indexes.iter_mut().zip(&mut contents.indexes) {
            let mut range = index.range(Bound::Unbounded, Bound::Unbounded);
            while let Some((key, value)) = range.next_entry().unwrap() {
                map.insert(u16::from_be_bytes(key), u32::from_le_bytes(value));
            }
        }
        contents
    }
}

/// Calls the device outside its range, or across its end.
fn trespass(device: &mut Tenant<'_>, address: u32) {
    let size = device.part().size_bytes();
    let address = if address < size { address + size - 1 } else { address };
    let outside = Err(NorRangeError::Outside { address: Address(address) });
    let mut bytes = [0xAA; 4];
    assert_eq!(device.read(Address(address), &mut bytes), outside);
    assert_eq!(bytes, [0xAA; 4], "bytes of another are seen at {address}");
    assert_eq!(device.program(Address(address), &[0; 4]), outside);
    let unit =
        EraseUnit((address / UNIT_BYTES).min(u32::from(u16::MAX)) as u16).max(EraseUnit(device.part().unit_count));
    assert!(matches!(device.erase(unit), Err(Failure::Outside { .. })));
}

/// A part with the label, and the empty tenants.
fn settled() -> NorSim {
    let mut part = NorSim::new(catalogue::test_part(UNITS, UNIT_BYTES));
    let mut label = Label::default();
    label.add(b"odd", TenantKind::INDEX, 0..8).unwrap();
    label.add(b"objects", TenantKind::HEAP, 8..22).unwrap();
    label.add(b"even", TenantKind::INDEX, 22..30).unwrap();
    NorLabel(&mut part).store(&label).unwrap();
    let ranges = ranges(&mut part);
    let cell = RefCell::new(Tenancy::new(part));
    Tenants::format(&cell, &ranges);
    cell.into_inner().into_device()
}

/// The ranges of the heap and the indexes, as the label says.
fn ranges(part: &mut NorSim) -> [Range<u16>; 3] {
    let label = NorLabel(part).load().unwrap();
    [&b"objects"[..], b"odd", b"even"].map(|name| label.find(name).expect("the tenant is listed").range())
}

/// The cells of all units but those of `range`.
fn others(part: &NorSim, range: &Range<u16>) -> Vec<u8> {
    let at = |unit: u16| u32::from(unit) * UNIT_BYTES;
    let mut cells = part.peek(Address(0), at(range.start) as usize);
    cells.extend(part.peek(Address(at(range.end)), at(UNITS - range.end) as usize));
    cells
}

/// How a session ended.
struct End {
    part: NorSim,
    contents: Contents,
    /// The call that was cut.
    in_flight: Option<Call>,
    is_cut: bool,
}

/// Mounts the tenants and makes the calls, until the power is lost.
fn session(mut part: NorSim, mut contents: Contents, calls: &[Call], context: &dyn Fn() -> String) -> End {
    let ranges = ranges(&mut part);
    let cell = RefCell::new(Tenancy::new(part));
    let (mut in_flight, mut is_cut) = (None, false);
    match Tenants::mount(&cell, &ranges) {
        Err(PowerLost) => is_cut = true,
        Ok(mut tenants) => {
            assert_eq!(tenants.contents(), contents, "at the beginning, {}", context());
            for call in calls {
                let range = &ranges[call.tenant()];
                let before = others(cell.borrow().device(), range);
                let made = tenants.make(*call);
                assert!(
                    before == others(cell.borrow().device(), range),
                    "{call:?} changes foreign units, {}",
                    context()
                );
                if made.is_err() {
                    (in_flight, is_cut) = (Some(*call), true);
                    break;
                }
                call.apply(&mut contents);
            }
        }
    }
    End { part: cell.into_inner().into_device(), contents, in_flight, is_cut }
}

/// Mounts after a cut: what each of the tenants holds is what it was, or what the call in flight was to make it.
fn recover(end: End, context: &dyn Fn() -> String) -> (NorSim, Contents) {
    let End { mut part, contents, in_flight, .. } = end;
    part.power_on();
    let ranges = ranges(&mut part);
    let cell = RefCell::new(Tenancy::new(part));
    let mut tenants = Tenants::mount(&cell, &ranges).unwrap();
    let found = tenants.contents();
    let mut after = contents.clone();
    in_flight.iter().for_each(|call| call.apply(&mut after));
    assert!(found == contents || found == after, "{found:?}\nis neither {contents:?}\nnor {after:?}, {}", context());
    drop(tenants);
    let part = cell.into_inner().into_device();
    assert_eq!(part.refusals(), 0, "{}", context());
    (part, found)
}

/// Cuts a session at every operation, that of mounting too, each in some shapes, and continues with the next one.
fn sweep(seeds_of: Range<u64>, sessions: usize, shapes: usize) {
    let mut cuts = 0;
    for run in seeds(seeds_of, "-p norn-conformance --test tenants nor") {
        let mut random = run.random();
        let (mut part, mut contents) = (settled(), Contents::default());
        for number in 0..sessions {
            let calls: Vec<Call> = (0..SESSION).map(|_| Call::draw(&mut random)).collect();
            let next: Vec<Call> = (0..2).map(|_| Call::draw(&mut random)).collect();
            let tries = |cut: u64, tear: Tear| {
                let context =
                    || format!("cut by {tear:?} at operation {cut} of session {number}; replay: {}", run.replay());
                let mut torn = part.clone();
                torn.cut_power_after(cut, tear);
                let end = session(torn, contents.clone(), &calls, &context);
                let is_cut = end.is_cut;
                if is_cut {
                    let (part, contents) = recover(end, &context);
                    assert!(!session(part, contents, &next, &context).is_cut);
                }
                is_cut
            };
            'cuts: for cut in 0.. {
                let mut all = one_of_each(cut, &mut random);
                random.shuffle(&mut all);
                for tear in all.into_iter().take(shapes) {
                    if !tries(cut, tear) {
                        break 'cuts;
                    }
                    cuts += 1;
                }
            }
            let context = || format!("in session {number}; replay: {}", run.replay());
            (part, contents) = recover(session(part.clone(), contents.clone(), &calls, &context), &context);
        }
        assert!(contents.indexes.iter().all(|map| map.len() > 2), "the indexes are used: {contents:?}");
    }
    println!("{cuts} cuts");
    assert!(cuts > 400, "{cuts} cuts");
}

#[test]
fn a_heap_and_two_indexes_on_one_part_keep_what_they_hold() {
    sweep(0..2, 40, 1);
}

#[test]
#[ignore = "long: every shape, long rows of sessions"]
fn a_heap_and_two_indexes_through_long_rows_of_sessions() {
    sweep(10..20, 200, 11);
}
