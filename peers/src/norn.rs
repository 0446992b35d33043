//! Norn's object heaps: an object is an object, a field a field.
//!
//! Another configuration is one line in [`peers`]. After a mount the objects are found by enumeration, which gives them
//! in the order of their creation and is not counted: a client keeps references where others keep keys.

use std::mem::size_of;

use norn_flash::{EraseUnit, Nor};
use norn_log_heap::LogHeap;
use norn_object_heap::{AccessError, Config, CreateError, Heap, Layout, ObjectHeap, Ref, StoreError, TransactionError};

use crate::causes::{Causes, Place, Work};
use crate::device::{Device, DeviceError, Operation};
use crate::store::{Begin, Failure, Kind, Opening, Peer, Record, Shape, Store, Update, Value};

/// Rows that RAM holds of erase units.
const UNITS: usize = 64;

type TinyStore = Heap<Device, UNITS>;
type LogStructured = LogHeap<Device, UNITS>;

/// A heap of one engine on the device.
trait Engine: ObjectHeap<DeviceError = DeviceError> {
    /// The handle that it was given.
    fn handle(&self) -> &Device;

    /// Records of an object's list, where objects have one.
    fn list_records(&mut self, object: Ref) -> Result<Option<usize>, Failure>;

    /// What a unit is used for now.
    fn place(&self, unit: EraseUnit) -> Place;
}

impl Engine for TinyStore {
    fn handle(&self) -> &Device {
        self.device()
    }

    fn list_records(&mut self, object: Ref) -> Result<Option<usize>, Failure> {
        Ok(Some(self.list_info(object)?.records))
    }

    fn place(&self, unit: EraseUnit) -> Place {
        match self.store().role(unit) {
            norn_nor_store::Role::Log => Place::Log,
            _ => Place::Data,
        }
    }
}

impl Engine for LogStructured {
    fn handle(&self) -> &Device {
        self.device()
    }

    fn list_records(&mut self, _: Ref) -> Result<Option<usize>, Failure> {
        Ok(None)
    }

    fn place(&self, _: EraseUnit) -> Place {
        Place::Data
    }
}

struct Norn<H> {
    heap: H,
    objects: Vec<Ref>,
    shape: Shape,
}

impl<H: Engine + 'static> Norn<H> {
    /// A heap that was laid out or mounted, with the objects that there are.
    fn found(mut heap: H, opening: Opening) -> Result<Box<dyn Store>, Failure> {
        let device = heap.handle().clone();
        let objects = device.uncounted(|| enumerate(&mut heap))?;
        Ok(Box::new(Norn { heap, objects, shape: opening.shape }))
    }
}

fn open_tinystore(device: Device, opening: Opening, config: Config) -> Result<Box<dyn Store>, Failure> {
    let heap = match opening.begin {
        Begin::Format => TinyStore::format(device, config).map_err(Failure::of)?,
        Begin::Mount => TinyStore::mount(device).map_err(Failure::of)?,
    };
    Norn::found(heap, opening)
}

fn open_log_structured(device: Device, opening: Opening) -> Result<Box<dyn Store>, Failure> {
    let heap = match opening.begin {
        Begin::Format => LogStructured::format(device).map_err(Failure::of)?,
        Begin::Mount => LogStructured::mount(device).map_err(Failure::of)?,
    };
    Norn::found(heap, opening)
}

fn enumerate(heap: &mut impl Engine) -> Result<Vec<Ref>, Failure> {
    let (mut objects, mut last) = (Vec::new(), None);
    while let Some(object) = heap.next_object(last)? {
        objects.push(object);
        last = Some(object);
    }
    Ok(objects)
}

impl From<StoreError<DeviceError>> for Failure {
    fn from(error: StoreError<DeviceError>) -> Self {
        if error == StoreError::Full { Failure::Full } else { Failure::of(error) }
    }
}

impl From<AccessError<DeviceError>> for Failure {
    fn from(error: AccessError<DeviceError>) -> Self {
        match error {
            AccessError::Store(error) => error.into(),
            other => Failure::of(other),
        }
    }
}

impl From<CreateError<DeviceError>> for Failure {
    fn from(error: CreateError<DeviceError>) -> Self {
        match error {
            CreateError::Store(error) => error.into(),
            other => Failure::of(other),
        }
    }
}

impl From<TransactionError<DeviceError>> for Failure {
    fn from(error: TransactionError<DeviceError>) -> Self {
        match error {
            TransactionError::Store(error) => error.into(),
            other => Failure::of(other),
        }
    }
}

impl<H: Engine> Norn<H> {
    /// Runs `changes` as one transaction.
    fn transaction<T>(&mut self, changes: impl FnOnce(&mut Self) -> Result<T, Failure>) -> Result<T, Failure> {
        self.heap.begin()?;
        match changes(self) {
            Ok(done) => {
                self.heap.commit()?;
                Ok(done)
            }
            Err(failure) => {
                self.heap.abort()?;
                Err(failure)
            }
        }
    }

    fn records(&mut self, object: usize) -> Result<Option<usize>, Failure> {
        let device = self.heap.handle().clone();
        device.uncounted(|| self.heap.list_records(self.objects[object]))
    }

    /// One update, and what it did, where an object is a list of records.
    fn observe(&mut self, update: Update, causes: &mut Causes) -> Result<Option<()>, Failure> {
        let device = self.heap.handle().clone();
        let part = device.part();
        let roles: Vec<Place> = (0..part.unit_count).map(|unit| self.heap.place(EraseUnit(unit))).collect();
        let Some(records) = self.records(update.object)? else { return Ok(None) };
        let before = device.counters();
        device.take_trace();
        self.put_field(update)?;
        let (reads, trace) = ((device.counters() - before).reads(), device.take_trace());
        let words = trace.iter().filter(|operation| matches!(operation, Operation::Word(_))).count();
        let work = match self.records(update.object)?.unwrap_or(records) {
            after if after > records => Work::Linked,
            after if after < records || words > self.shape.fields / 2 && after == 1 => Work::Rewritten,
            _ => Work::InPlace,
        };
        let placed: Vec<(Operation, Place)> = (trace.into_iter())
            .map(|operation| match operation {
                Operation::Word(address) => (operation, self.heap.place(part.unit_of(address))),
                Operation::Erase(unit) => (operation, roles[usize::from(unit.0)]),
            })
            .collect();
        causes.count(work, reads, &placed);
        Ok(Some(()))
    }
}

impl<H: Engine> Store for Norn<H> {
    fn create(&mut self, _: usize, record: &[u8]) -> Result<(), Failure> {
        let object = self.transaction(|norn| {
            let object = norn.heap.create(Layout::uniform(norn.shape.fields, norn.shape.width as u8))?;
            norn.heap.put_fields(object, 0, record)?;
            Ok(object)
        })?;
        self.objects.push(object);
        Ok(())
    }

    fn put_field(&mut self, update: Update) -> Result<(), Failure> {
        Ok(self.heap.put_field(self.objects[update.object], update.field, &update.value)?)
    }

    fn put_object(&mut self, object: usize, record: &[u8]) -> Result<(), Failure> {
        Ok(self.heap.put_fields(self.objects[object], 0, record)?)
    }

    fn put_group(&mut self, updates: &[Update]) -> Result<(), Failure> {
        self.transaction(|norn| updates.iter().try_for_each(|&update| norn.put_field(update)))
    }

    fn get_field(&mut self, object: usize, field: usize) -> Result<Value, Failure> {
        let mut bytes = vec![0; self.shape.width];
        self.heap.get_field(self.objects[object], field, &mut bytes)?;
        Ok(Value::new(&bytes))
    }

    fn get_object(&mut self, object: usize) -> Result<Record, Failure> {
        if object >= self.objects.len() {
            return Err(Failure::Failed(format!("{} objects are left", self.objects.len())));
        }
        let mut record = Vec::with_capacity(self.shape.bytes());
        for field in 0..self.shape.fields {
            record.extend_from_slice(&self.get_field(object, field)?);
        }
        Ok(record)
    }

    fn ram_bytes(&self) -> usize {
        size_of::<H>() - size_of::<Device>()
    }

    fn causes(&mut self, draw: &mut dyn FnMut() -> Update, updates: u64, words_read: u64) -> Option<Causes> {
        let mut causes = Causes::default();
        let (device, start) = (self.heap.handle().clone(), self.heap.handle().counters().reads());
        device.start_trace();
        while causes.updates() < updates && device.counters().reads() - start < words_read {
            self.observe(draw(), &mut causes).ok()??;
        }
        Some(causes)
    }
}

/// The heaps and their configurations.
pub fn peers() -> Vec<Peer> {
    vec![
        ours(
            "norn, log-structured",
            "`norn-log-heap` without error detection, rows for 64 units, no steps ahead of need",
            open_log_structured,
        ),
        ours(
            "norn, TinyStore's structure",
            "`norn-object-heap`, `Config::default()`: the published structure with delta records",
            |device, opening| open_tinystore(device, opening, Config::default()),
        ),
        ours(
            "norn, as published in 2006",
            "`norn-object-heap`, `Config::tinystore_2006()`: lists of at most 2 records",
            |device, opening| open_tinystore(device, opening, Config::tinystore_2006()),
        ),
    ]
}

fn ours(name: &'static str, notes: &'static str, open: fn(Device, Opening) -> Result<Box<dyn Store>, Failure>) -> Peer {
    Peer { kind: Kind::Ours, name, version: "this tree", notes, open: Box::new(open), fill: None }
}
