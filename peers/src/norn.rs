//! Norn's object heap: an object is an object, a field a field.
//!
//! Another configuration is one line in [`peers`]. After a mount the objects are found by enumeration, which gives them
//! in the order of their creation and is not counted: a client keeps references where others keep keys.

use std::mem::size_of;

use norn_flash::{EraseUnit, Nor};
use norn_object_heap::{AccessError, Config, CreateError, Heap, Layout, Ref, StoreError, TransactionError};

use crate::causes::{Causes, Place, Work};
use crate::device::{Device, DeviceError, Operation};
use crate::store::{FIELDS, Failure, Kind, Opening, Peer, Record, Store, Update, Value, WIDTH};

type SimHeap = Heap<Device, 64>;

struct Norn {
    heap: SimHeap,
    objects: Vec<Ref>,
}

fn open(device: Device, opening: Opening, config: Config) -> Result<Norn, Failure> {
    match opening {
        Opening::Format { .. } => {
            let heap = SimHeap::format(device, config).map_err(Failure::of)?;
            Ok(Norn { heap, objects: Vec::new() })
        }
        Opening::Mount { .. } => {
            let counted = device.clone();
            let mut heap = SimHeap::mount(device).map_err(Failure::of)?;
            let objects = counted.uncounted(|| enumerate(&mut heap))?;
            Ok(Norn { heap, objects })
        }
    }
}

fn enumerate(heap: &mut SimHeap) -> Result<Vec<Ref>, Failure> {
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

impl Norn {
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

    fn records(&mut self, object: usize) -> Result<usize, Failure> {
        let device = self.heap.device().clone();
        Ok(device.uncounted(|| self.heap.info(self.objects[object]))?.records)
    }

    fn place(&self, unit: EraseUnit) -> Place {
        match self.heap.store().role(unit) {
            norn_nor_store::Role::Log => Place::Log,
            _ => Place::Data,
        }
    }

    /// One update, and what it did.
    fn observe(&mut self, update: Update, causes: &mut Causes) -> Result<(), Failure> {
        let device = self.heap.device().clone();
        let part = device.part();
        let roles: Vec<Place> = (0..part.unit_count).map(|unit| self.place(EraseUnit(unit))).collect();
        let (records, before) = (self.records(update.object)?, device.counters());
        device.take_trace();
        self.put_field(update)?;
        let (reads, trace) = ((device.counters() - before).reads(), device.take_trace());
        let words = trace.iter().filter(|operation| matches!(operation, Operation::Word(_))).count();
        let work = match self.records(update.object)? {
            after if after > records => Work::Linked,
            after if after < records || words > FIELDS / 2 && after == 1 => Work::Rewritten,
            _ => Work::InPlace,
        };
        let placed: Vec<(Operation, Place)> = (trace.into_iter())
            .map(|operation| match operation {
                Operation::Word(address) => (operation, self.place(part.unit_of(address))),
                Operation::Erase(unit) => (operation, roles[usize::from(unit.0)]),
            })
            .collect();
        causes.count(work, reads, &placed);
        Ok(())
    }
}

impl Store for Norn {
    fn create(&mut self, _: usize, record: &Record) -> Result<(), Failure> {
        let object = self.transaction(|norn| {
            let object = norn.heap.create(Layout::uniform(FIELDS, WIDTH as u8))?;
            norn.heap.put_fields(object, 0, record.as_flattened())?;
            Ok(object)
        })?;
        self.objects.push(object);
        Ok(())
    }

    fn put_field(&mut self, update: Update) -> Result<(), Failure> {
        Ok(self.heap.put_field(self.objects[update.object], update.field, &update.value)?)
    }

    fn put_object(&mut self, object: usize, record: &Record) -> Result<(), Failure> {
        Ok(self.heap.put_fields(self.objects[object], 0, record.as_flattened())?)
    }

    fn put_group(&mut self, updates: &[Update]) -> Result<(), Failure> {
        self.transaction(|norn| updates.iter().try_for_each(|&update| norn.put_field(update)))
    }

    fn get_field(&mut self, object: usize, field: usize) -> Result<Value, Failure> {
        let mut value = [0; WIDTH];
        self.heap.get_field(self.objects[object], field, &mut value)?;
        Ok(value)
    }

    fn get_object(&mut self, object: usize) -> Result<Record, Failure> {
        if object >= self.objects.len() {
            return Err(Failure::Failed(format!("{} objects are left", self.objects.len())));
        }
        let mut record = [[0; WIDTH]; FIELDS];
        for (field, value) in record.iter_mut().enumerate() {
            *value = self.get_field(object, field)?;
        }
        Ok(record)
    }

    fn ram_bytes(&self) -> usize {
        size_of::<SimHeap>() - size_of::<Device>()
    }

    fn causes(&mut self, draw: &mut dyn FnMut() -> Update, updates: u64, words_read: u64) -> Option<Causes> {
        let mut causes = Causes::default();
        let (device, start) = (self.heap.device().clone(), self.heap.device().counters().reads());
        device.start_trace();
        while causes.updates() < updates && device.counters().reads() - start < words_read {
            self.observe(draw(), &mut causes).ok()?;
        }
        Some(causes)
    }
}

/// The heap's configurations.
pub fn peers() -> Vec<Peer> {
    vec![
        configured(
            "norn, 2006",
            "`Config::tinystore_2006()`: the published structure, lists of at most 2 records",
            Config::tinystore_2006(),
        ),
        configured("norn", "`Config::default()`: the same with delta records", Config::default()),
    ]
}

fn configured(name: &'static str, notes: &'static str, config: Config) -> Peer {
    Peer {
        kind: Kind::Ours,
        name,
        version: "this tree",
        notes,
        open: Box::new(move |device, opening| Ok(Box::new(open(device, opening, config)?))),
        fill: None,
    }
}
