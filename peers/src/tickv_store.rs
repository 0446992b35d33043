//! TicKV: objects by the hash of their key, in regions of an erase unit that it reads whole.
//!
//! It has no update: a client appends and invalidates. To be atomic, this one appends the new value under the other of
//! two keys of the object, with a count after it, then invalidates the old one; where a cut leaves both, the later
//! count is valid and mounting invalidates the other. A full part is collected (`garbage_collect`), which erases
//! regions without a valid object, and the call tried once more.

use std::mem::size_of;

use norn_flash::Nor;
use tickv::error_codes::ErrorCode;
use tickv::flash_controller::FlashController;
use tickv::success_codes::SuccessCode;
use tickv::{MAIN_KEY, TicKV};

use crate::device::Device;
use crate::store::{Begin, Failure, Kind, Opening, Peer, Record};
use crate::whole_record::{Novelty, Values, WholeRecord};

const REGION_BYTES: usize = 8192;

struct Controller(Device);

impl FlashController<REGION_BYTES> for Controller {
    fn read_region(&self, region: usize, buffer: &mut [u8; REGION_BYTES]) -> Result<(), ErrorCode> {
        self.0.read_at((region * REGION_BYTES) as u32, buffer).map_err(|_| ErrorCode::ReadFail)
    }

    fn write(&self, address: usize, bytes: &[u8]) -> Result<(), ErrorCode> {
        self.0.program_at(address as u32, bytes).map_err(|_| ErrorCode::WriteFail)
    }

    fn erase_region(&self, region: usize) -> Result<(), ErrorCode> {
        self.0.erase_unit(region as u16).map_err(|_| ErrorCode::EraseFail)
    }
}

struct Tickv {
    store: TicKV<'static, Controller, REGION_BYTES>,
    /// Bytes of a record.
    record_bytes: usize,
}

/// A value as it is stored: the record and a count of its updates.
struct Counted {
    record: Record,
    count: u8,
}

/// A well-mixed key for one of an object's two places (the finalizer of splitmix64).
fn hash(object: usize, place: usize) -> u64 {
    let mut hash = (2 * object + place + 1) as u64;
    hash = hash.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    hash = (hash ^ hash >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    hash = (hash ^ hash >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    hash ^ hash >> 31
}

/// The main key's hash, by which a part that is laid out is known (FNV-1a).
fn main_hash() -> u64 {
    MAIN_KEY.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}

fn open(device: Device, opening: Opening) -> Result<Tickv, Failure> {
    let size = device.part().size_bytes() as usize;
    let buffer = Box::leak(Box::new([0; REGION_BYTES]));
    let store = Tickv { store: TicKV::new(Controller(device), buffer, size), record_bytes: opening.shape.bytes() };
    store.store.initialise(main_hash()).map_err(failure)?;
    if opening.begin == Begin::Mount {
        store.settle(opening.objects)?;
    }
    Ok(store)
}

fn failure(error: ErrorCode) -> Failure {
    match error {
        ErrorCode::FlashFull | ErrorCode::RegionFull => Failure::Full,
        other => Failure::of(other),
    }
}

impl Tickv {
    fn find(&self, object: usize, place: usize) -> Result<Option<Counted>, Failure> {
        let mut bytes = vec![0; self.record_bytes + 1];
        match self.store.get_key(hash(object, place), &mut bytes) {
            Ok((_, length)) if length == bytes.len() => {
                let count = bytes.pop().unwrap_or(0);
                Ok(Some(Counted { record: bytes, count }))
            }
            Ok((_, length)) => Err(Failure::Failed(format!("a value of {length} bytes"))),
            Err(ErrorCode::KeyNotFound | ErrorCode::InvalidCheckSum) => Ok(None),
            Err(other) => Err(failure(other)),
        }
    }

    /// The place of an object's valid value, and the value.
    fn current(&self, object: usize) -> Result<Option<(usize, Counted)>, Failure> {
        match self.find(object, 0)? {
            Some(value) => Ok(Some((0, value))),
            None => Ok(self.find(object, 1)?.map(|value| (1, value))),
        }
    }

    /// Invalidates what a cut left beside the valid values: the earlier of two, and a torn one.
    fn settle(&self, objects: usize) -> Result<(), Failure> {
        for object in 0..objects {
            let stale = match (self.find(object, 0)?, self.find(object, 1)?) {
                (Some(first), Some(second)) if second.count == first.count.wrapping_add(1) => 0,
                (Some(_), _) => 1,
                (None, _) => 0,
            };
            match self.store.invalidate_key(hash(object, stale)) {
                Ok(_) | Err(ErrorCode::KeyNotFound) => {}
                Err(other) => return Err(failure(other)),
            }
        }
        Ok(())
    }

    fn append(&self, hash: u64, bytes: &[u8]) -> Result<SuccessCode, ErrorCode> {
        match self.store.append_key(hash, bytes) {
            Err(ErrorCode::FlashFull | ErrorCode::RegionFull) => {
                self.store.garbage_collect()?;
                self.store.append_key(hash, bytes)
            }
            other => other,
        }
    }
}

impl Values for Tickv {
    fn load(&mut self, object: usize) -> Result<Record, Failure> {
        let current = self.current(object)?;
        current.map(|(_, value)| value.record).ok_or_else(|| Failure::Failed("a key without a value".to_owned()))
    }

    fn save(&mut self, object: usize, record: &[u8], novelty: Novelty) -> Result<(), Failure> {
        let old = match novelty {
            Novelty::New => None,
            Novelty::Known => self.current(object)?,
        };
        let (place, count) = old.as_ref().map_or((0, 0), |(place, value)| (1 - place, value.count.wrapping_add(1)));
        let bytes = [record, &[count]].concat();
        self.append(hash(object, place), &bytes).map_err(failure)?;
        match old {
            Some((place, _)) => self.store.invalidate_key(hash(object, place)).map(|_| ()).map_err(failure),
            None => Ok(()),
        }
    }

    fn ram_bytes(&self) -> usize {
        size_of::<TicKV<'static, Controller, REGION_BYTES>>() - size_of::<Controller>() + REGION_BYTES
    }
}

/// The one configuration.
pub fn peers() -> Vec<Peer> {
    vec![Peer {
        kind: Kind::Peer,
        name: "tickv",
        version: "2.0.0",
        notes: "regions of a unit; an object a value under two keys in turn with a count behind it, as the crate has \
                no update",
        open: Box::new(|device, opening| {
            Ok(Box::new(WholeRecord { values: open(device, opening)?, shape: opening.shape }))
        }),
        fill: None,
    }]
}

#[cfg(test)]
mod tests {
    use norn_flash::Address;
    use norn_flash_sim::{NorSim, catalogue};

    use super::*;
    use crate::store::Shape;
    use crate::workload::Workload;

    /// Whether some region holds a valid entry under this hash, wherever it is.
    fn is_on_the_part(device: &Device, hash: u64) -> bool {
        let (header, part) = ([0x80, 0x74], device.snapshot());
        let bytes = part.peek(Address(0), device.part().size_bytes() as usize);
        let entry: Vec<u8> = header.into_iter().chain(hash.to_be_bytes()).collect();
        bytes.windows(entry.len()).any(|window| window == entry)
    }

    /// The crate looks for a key from its home region on, and stops at an empty one. A key that had found its home full
    /// and went to another region is therefore lost to it once a collection erases the home.
    #[test]
    fn a_collection_hides_keys_that_are_not_in_their_home_region() {
        const OBJECTS: usize = 24;
        let mut spec = catalogue::tinystore();
        spec.part.unit_count = 16;
        let device = Device::new(NorSim::new(spec));
        let opening = Opening { begin: Begin::Format, objects: OBJECTS, shape: Shape::STANDARD };
        let mut store = open(device.clone(), opening).unwrap();
        let mut workload = Workload::new(2006, OBJECTS, Shape::STANDARD);
        for object in 0..OBJECTS {
            store.save(object, &workload.record(), Novelty::New).unwrap();
        }
        for _ in 0..5_000 {
            let (object, record) = (workload.object(), workload.record());
            if let Err(failure) = store.save(object, &record, Novelty::Known) {
                assert_eq!(failure, Failure::of(ErrorCode::KeyNotFound));
                let hidden = |&place: &usize| {
                    store.find(object, place).unwrap().is_none() && is_on_the_part(&device, hash(object, place))
                };
                assert_eq!((0..2).filter(hidden).count(), 1);
                return;
            }
        }
        panic!("no key was lost: the crate has changed");
    }
}
