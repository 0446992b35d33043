//! An erase unit decoded from its bytes without the index: for images that cannot be mounted, or are not to be changed.
//!
//! Nothing here is trusted: a unit of any contents is read to an end. Nothing is counted or changed either. The terms
//! are those of `docs/format/ordered-index.md`.

use norn_flash::{Address, EraseUnit};
use norn_flash_sim::NorSim;
use norn_ordered_index::fat_list::format::{
    ACTIVE_OFFSET, CELLS_OFFSET, CellState, Column, FILLING_BYTES, FILLING_OFFSET, Filling, IDENTITY_BYTES, Identity,
    VOID_OFFSET, decode_record_length, record_code, record_length, slot_code,
};

/// A physical unit of a device.
pub struct RawBlock<'a> {
    device: &'a NorSim,
    unit: EraseUnit,
}

/// What a unit's head says that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It was never formatted, or its erase was cut.
    NoIdentity,
    /// It has an identity of another version of the format.
    OtherVersion(u8),
    /// A format of the part has begun and has not reached it.
    Void,
    /// The spare block of its turnstile.
    Spare,
    /// A move to it had begun and its record is torn.
    MoveBegun,
    /// What is moved to it is not complete.
    Filling(Filling),
    /// It is in use; what it says was moved here.
    InUse(Filling),
}

/// Places of the fields of a cell, which follow from an identity.
#[derive(Clone, Copy)]
struct Places {
    header: usize,
    bitmap: usize,
    pool: usize,
    slots: usize,
    slot_bytes: usize,
    cell_bytes: usize,
}

impl Places {
    fn of(identity: &Identity) -> Places {
        let unit = usize::from(identity.program_unit_bytes).max(2);
        let align = |bytes: usize| bytes.next_multiple_of(unit);
        let (key, value) = (usize::from(identity.key_bytes), usize::from(identity.value_bytes));
        let [_, _, slots, _, pool] = identity.settings.map(usize::from);
        let header = align(2) + align(key);
        let bitmap = header + align(10);
        let pool_at = bitmap + align(slots.div_ceil(8));
        let slots_at = pool_at + 4 * pool;
        let slot_bytes = align(key + value + 2);
        let slots_bytes = match identity.log_bytes {
            0 => slot_bytes * slots,
            log_bytes => usize::from(log_bytes),
        };
        Places { header, bitmap, pool: pool_at, slots: slots_at, slot_bytes, cell_bytes: slots_at + slots_bytes }
    }
}

/// A cell.
pub struct RawCell {
    /// Its number in the block.
    pub number: u32,
    /// Where it is.
    pub address: Address,
    /// What its stamp says.
    pub state: CellState,
    /// The least key that it may have.
    pub low_key: Vec<u8>,
    /// The cell that it replaced, as a unit and a number.
    pub replaces: Option<(u16, u16)>,
    /// Its partner.
    pub partner: Option<(u16, u16)>,
    /// Slots that count, those that no longer do, and those that are torn.
    pub slots: [u32; 3],
    /// The least and the greatest key of the slots that count.
    pub keys: Option<(Vec<u8>, Vec<u8>)>,
    /// For each level the last pointer.
    pub pointers: Vec<(u8, Column)>,
}

impl<'a> RawBlock<'a> {
    /// The unit of `device`.
    pub fn new(device: &'a NorSim, unit: EraseUnit) -> Self {
        RawBlock { device, unit }
    }

    /// All units of a device.
    pub fn all(device: &'a NorSim) -> impl Iterator<Item = RawBlock<'a>> {
        (0..device.spec().part.unit_count).map(move |unit| RawBlock { device, unit: EraseUnit(unit) })
    }

    /// Its number.
    pub fn unit(&self) -> EraseUnit {
        self.unit
    }

    /// Bytes of it.
    pub fn size_bytes(&self) -> u32 {
        self.device.spec().part.unit_size_bytes
    }

    /// Where it begins.
    pub fn start(&self) -> Address {
        Address(u32::from(self.unit.0) * self.size_bytes())
    }

    /// Bytes at an offset, with ones after the unit's end.
    fn bytes(&self, offset: u32, length: usize) -> Vec<u8> {
        let within = length.min(self.size_bytes().saturating_sub(offset) as usize);
        let mut bytes = if within == 0 { Vec::new() } else { self.device.peek(self.start().offset(offset), within) };
        bytes.resize(length, 0xFF);
        bytes
    }

    fn array<const N: usize>(&self, offset: u32) -> [u8; N] {
        self.bytes(offset, N).try_into().expect("as many as were asked for")
    }

    /// What is constant on the part, if the identity is whole and of this version of the format.
    pub fn identity(&self) -> Option<Identity> {
        Identity::decode(&self.array::<IDENTITY_BYTES>(0))?.ok()
    }

    /// What the head says.
    pub fn role(&self) -> Role {
        match Identity::decode(&self.array::<IDENTITY_BYTES>(0)) {
            None => return Role::NoIdentity,
            Some(Err(version)) => return Role::OtherVersion(version),
            Some(Ok(_)) => {}
        }
        if self.array::<4>(VOID_OFFSET) != [0xFF; 4] {
            return Role::Void;
        }
        let filling = self.array::<FILLING_BYTES>(FILLING_OFFSET);
        match (Filling::decode(&filling), self.array::<4>(ACTIVE_OFFSET)) {
            (Some(filling), [0, 0, 0, 0]) => Role::InUse(filling),
            (Some(filling), _) => Role::Filling(filling),
            (None, _) if filling == [0xFF; FILLING_BYTES] => Role::Spare,
            (None, _) => Role::MoveBegun,
        }
    }

    /// Its cells, of a block that has an identity.
    pub fn cells(&self) -> Vec<RawCell> {
        let Some(identity) = self.identity() else { return Vec::new() };
        let places = Places::of(&identity);
        let count = self.size_bytes().saturating_sub(CELLS_OFFSET) / places.cell_bytes as u32;
        (0..count).map(|number| self.cell(number, &identity, places)).collect()
    }

    fn cell(&self, number: u32, identity: &Identity, places: Places) -> RawCell {
        let offset = CELLS_OFFSET + number * places.cell_bytes as u32;
        let bytes = self.bytes(offset, places.cell_bytes);
        let state = CellState::decode(u16::from_le_bytes([bytes[0], bytes[1]]));
        let low_at = usize::from(identity.program_unit_bytes).max(2);
        let names = places.header + 2;
        let (slots, keys) = slots_of(&bytes, identity, places);
        RawCell {
            number,
            address: self.start().offset(offset),
            state,
            low_key: bytes[low_at..low_at + usize::from(identity.key_bytes)].to_vec(),
            replaces: name_of(&bytes[names..]),
            partner: name_of(&bytes[names + 4..]),
            slots,
            keys,
            pointers: pointers_of(&bytes[places.pool..places.slots]),
        }
    }
}

/// The cell that four bytes name.
fn name_of(bytes: &[u8]) -> Option<(u16, u16)> {
    let at = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    ((at(0), at(2)) != (u16::MAX, u16::MAX)).then(|| (at(0), at(2)))
}

type Slots = ([u32; 3], Option<(Vec<u8>, Vec<u8>)>);

fn slots_of(bytes: &[u8], identity: &Identity, places: Places) -> Slots {
    let (mut counts, mut keys) = ([0; 3], Vec::new());
    let written = match identity.log_bytes {
        0 => fixed_slots(&bytes[places.slots..], identity, places),
        _ => records(&bytes[places.slots..], identity),
    };
    for (number, key, is_whole) in written {
        let counts_still = bytes[places.bitmap + number / 8] >> (number % 8) & 1 == 1;
        counts[match (counts_still, is_whole) {
            (true, true) => 0,
            (false, _) => 1,
            (true, false) => 2,
        }] += 1;
        if counts_still && is_whole {
            keys.push(key);
        }
    }
    (counts, keys.iter().min().cloned().zip(keys.iter().max().cloned()))
}

/// A slot that is written: its number, its key, and whether it is whole.
type Written = (usize, Vec<u8>, bool);

fn fixed_slots(bytes: &[u8], identity: &Identity, places: Places) -> Vec<Written> {
    let (key, value) = (usize::from(identity.key_bytes), usize::from(identity.value_bytes));
    let slots = bytes.chunks_exact(places.slot_bytes).enumerate();
    slots
        .filter(|(_, slot)| slot.iter().any(|&byte| byte != 0xFF))
        .map(|(number, slot)| {
            let code = u16::from_le_bytes([slot[key + value], slot[key + value + 1]]);
            (number, slot[..key].to_vec(), slot_code(&slot[..key + value]) == code)
        })
        .collect()
}

/// The records of a log, up to the first length that is not whole: if that is not erased, it is one that is torn.
fn records(log: &[u8], identity: &Identity) -> Vec<Written> {
    let (key, unit) = (usize::from(identity.key_bytes), usize::from(identity.program_unit_bytes).max(2));
    let (mut found, mut rest) = (Vec::new(), log);
    while found.len() < usize::from(identity.settings[2]) && rest.len() >= key + 4 {
        let word = u16::from_le_bytes([rest[0], rest[1]]);
        let whole = decode_record_length(word).filter(|&(value, _)| key + value + 4 <= rest.len());
        let Some((value, upper_zeros)) = whole else {
            if word != u16::MAX {
                found.push((found.len(), rest[2..2 + key].to_vec(), false));
            }
            break;
        };
        let (data, code) = (&rest[2..2 + key + value], [rest[2 + key + value], rest[3 + key + value]]);
        let is_whole = record_code(value, data).to_le_bytes() == code
            && record_length(value, data.iter().map(|byte| byte.count_zeros()).sum()) >> 13 == upper_zeros;
        found.push((found.len(), data[..key].to_vec(), is_whole));
        rest = rest.get((key + value + 4).next_multiple_of(unit)..).unwrap_or_default();
    }
    found
}

/// The last whole pointer of each level.
fn pointers_of(pool: &[u8]) -> Vec<(u8, Column)> {
    let entries = pool.as_chunks::<4>().0.iter().filter_map(|entry| Column::decode(u32::from_le_bytes(*entry)));
    let mut pointers: Vec<(u8, Column)> = Vec::new();
    for (level, column) in entries {
        match pointers.iter_mut().find(|(other, _)| *other == level) {
            Some(pointer) => pointer.1 = column,
            None => pointers.push((level, column)),
        }
    }
    pointers
}
