//! The label of a part: which tenant is where. It survives a loss of power at any operation.
//!
//! ```text
//! a part with a label          a copy of the label, 256 bytes
//! ┌──────────────────────┐       0  magic "NORNLABL"        8  version · number of tenants · 0 0
//! │ tenants              │      12  sequence number (4)    16  units or blocks of the part (2) · 0 0
//! │                      │      20  their size in bytes (4)
//! ├──────────────────────┤      24  tenants of 20 bytes: name (12) · kind (4) · start (2) · end (2)
//! │ places for copies    │         … 0xFF
//! └──────────────────────┘     252  CRC-32 of bytes 0..252
//! ```
//!
//! A copy is at the start of a *place*: of one of the last two units of a NOR part, or of one of the last six blocks of
//! a NAND part, those marked bad left out. The copy with the highest sequence number counts; `copies.rs` says how one
//! is written, and what a reader makes of what a cut left. Until the last byte is programmed, the copy is not whole and
//! the old label counts; then the new one does. Where a cut left no copy that counts, the part gets a label without
//! tenants.
//!
//! `docs/design/tenants.md` draws it; `docs/format/label.md` has every bit.

use core::convert::Infallible;
use core::fmt;
use core::ops::Range;

use crate::copies::{COPY_PAGES, Numbered, Reading, Survey, Written, read_nand_copy, write_nand_copy};
use crate::mounting::{MountError, PartKind};
use crate::nand::{Block, Nand, NandPart};
use crate::nor::{EraseUnit, Nor, NorPart};
use crate::recognition::{Recognised, StatedGeometry, TenantKind};

/// Bytes of a copy.
pub const LABEL_BYTES: usize = 256;
/// Most tenants that a label lists.
pub const LABEL_TENANTS_MAX: usize = 11;
/// Longest name of a tenant, in bytes.
pub const TENANT_NAME_BYTES_MAX: usize = 12;
/// The version of the format.
pub const LABEL_VERSION: u8 = 1;

const MAGIC: [u8; 8] = *b"NORNLABL";
const VERSION_OFFSET: usize = 8;
const SEQUENCE_OFFSET: usize = 12;
const COUNT_OFFSET: usize = 16;
const SIZE_OFFSET: usize = 20;
const TENANTS_OFFSET: usize = 24;
const TENANT_BYTES: usize = 20;
const CRC_OFFSET: usize = LABEL_BYTES - 4;

const _: () = assert!(TENANTS_OFFSET + LABEL_TENANTS_MAX * TENANT_BYTES <= CRC_OFFSET, "all tenants fit a copy");

/// Units of a NOR part that are places for copies.
const NOR_PLACES: u16 = 2;
/// Blocks of a NAND part that are.
const NAND_PLACES: u16 = 6;

/// One tenant: its name, its kind, and its range.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TenantEntry {
    name: [u8; TENANT_NAME_BYTES_MAX],
    /// What it holds.
    pub kind: TenantKind,
    /// Its first unit or block.
    pub start: u16,
    /// The one after its last.
    pub end: u16,
}

impl TenantEntry {
    /// Its name.
    pub fn name(&self) -> &[u8] {
        self.name.split(|&byte| byte == 0).next().unwrap_or(&[])
    }

    /// Its units or blocks.
    pub fn range(&self) -> Range<u16> {
        self.start..self.end
    }

    fn encode(&self, bytes: &mut [u8]) {
        bytes[..12].copy_from_slice(&self.name);
        bytes[12..16].copy_from_slice(&self.kind.0);
        bytes[16..18].copy_from_slice(&self.start.to_le_bytes());
        bytes[18..20].copy_from_slice(&self.end.to_le_bytes());
    }

    fn decode(bytes: &[u8]) -> Self {
        let mut entry = TenantEntry::default();
        entry.name.copy_from_slice(&bytes[..12]);
        entry.kind.0.copy_from_slice(&bytes[12..16]);
        (entry.start, entry.end) = (u16_at(bytes, 16), u16_at(bytes, 18));
        entry
    }
}

impl Default for TenantEntry {
    fn default() -> Self {
        TenantEntry { name: [0; TENANT_NAME_BYTES_MAX], kind: TenantKind([0; 4]), start: 0, end: 0 }
    }
}

impl fmt::Debug for TenantEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}) {}..{}", self.name().escape_ascii(), self.kind, self.start, self.end)
    }
}

/// Why a tenant cannot be listed, or a label not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelError<E> {
    /// The device failed.
    Device(E),
    /// A name is empty, has more than 12 bytes, or a zero among them; or another tenant has it.
    Name,
    /// The label lists as many tenants as it can.
    Full,
    /// A tenant's range is empty, leaves the part, or has places of the label.
    Range {
        /// Its first unit or block.
        start: u16,
        /// The one after its last.
        end: u16,
    },
    /// Two tenants have a unit or block in common.
    Overlap {
        /// The first unit or block of one of them.
        start: u16,
        /// The one after its last.
        end: u16,
    },
    /// The part cannot have a label: which bound it violates.
    Unsuitable(&'static str),
    /// Too many blocks have gone bad: there is no place to write to.
    NoPlace,
}

impl<E: fmt::Debug> fmt::Display for LabelError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LabelError::Device(error) => write!(f, "the device failed: {error:?}"),
            LabelError::Name => f.write_str("a name that is taken, or has not 1 to 12 bytes other than zero"),
            LabelError::Full => write!(f, "a label lists at most {LABEL_TENANTS_MAX} tenants"),
            LabelError::Range { start, end } => write!(f, "{start}..{end} is empty, leaves the part, or has the label"),
            LabelError::Overlap { start, end } => write!(f, "another tenant has some of {start}..{end}"),
            LabelError::Unsuitable(why) => write!(f, "unsuitable: {why}"),
            LabelError::NoPlace => f.write_str("too many bad blocks: no place for the label"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for LabelError<E> {}

/// Which tenants a part has.
///
/// RAM: 224 bytes.
///
/// ```
/// use norn_flash::{Label, LabelDevice, NorLabel, NorPartition, TenantKind};
/// use norn_flash_sim::{NorSim, catalogue};
///
/// let mut part = NorSim::new(catalogue::w25q()); // 256 units
/// let mut label = Label::default();
/// label.add(b"objects", TenantKind::HEAP, 0..200).unwrap();
/// label.add(b"readings", TenantKind::INDEX, 200..254).unwrap();
/// NorLabel(&mut part).store(&label).unwrap();
///
/// let label = NorLabel(&mut part).load().unwrap(); // after a power cut at any place
/// let readings = label.find(b"readings").unwrap();
/// let partition = NorPartition::new(part, readings.range()).unwrap();
/// # assert_eq!(partition.units(), 200..254);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Label {
    tenants: [TenantEntry; LABEL_TENANTS_MAX],
    count: u8,
}

impl Label {
    /// The tenants, in the order in which they were added.
    pub fn tenants(&self) -> &[TenantEntry] {
        &self.tenants[..usize::from(self.count)]
    }

    /// The tenant of this name.
    pub fn find(&self, name: &[u8]) -> Option<&TenantEntry> {
        self.tenants().iter().find(|tenant| tenant.name() == name)
    }

    /// Lists a tenant.
    ///
    /// # Errors
    /// If the name is none or taken, the range is empty or another tenant has some of it, or the label is full.
    pub fn add(&mut self, name: &[u8], kind: TenantKind, range: Range<u16>) -> Result<(), LabelError<Infallible>> {
        let is_name = (1..=TENANT_NAME_BYTES_MAX).contains(&name.len()) && !name.contains(&0);
        if !is_name || self.find(name).is_some() {
            return Err(LabelError::Name);
        }
        let mut entry = TenantEntry { kind, start: range.start, end: range.end, ..TenantEntry::default() };
        entry.name[..name.len()].copy_from_slice(name);
        if entry.range().is_empty() {
            return Err(LabelError::Range { start: range.start, end: range.end });
        }
        if let Some(other) = self.tenants().iter().find(|other| overlaps(other, &entry)) {
            return Err(LabelError::Overlap { start: other.start, end: other.end });
        }
        *self.tenants.get_mut(usize::from(self.count)).ok_or(LabelError::Full)? = entry;
        self.count += 1;
        Ok(())
    }

    /// Takes a tenant off the list; says whether it was there.
    pub fn remove(&mut self, name: &[u8]) -> bool {
        let Some(at) = self.tenants().iter().position(|tenant| tenant.name() == name) else { return false };
        self.tenants.copy_within(at + 1.., at);
        self.tenants[LABEL_TENANTS_MAX - 1] = TenantEntry::default();
        self.count -= 1;
        true
    }

    fn encode(&self, sequence: u32, geometry: StatedGeometry) -> [u8; LABEL_BYTES] {
        let mut bytes = [0xFF; LABEL_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[VERSION_OFFSET..SEQUENCE_OFFSET].copy_from_slice(&[LABEL_VERSION, self.count, 0, 0]);
        bytes[SEQUENCE_OFFSET..COUNT_OFFSET].copy_from_slice(&sequence.to_le_bytes());
        bytes[COUNT_OFFSET..COUNT_OFFSET + 2].copy_from_slice(&geometry.count.to_le_bytes());
        bytes[COUNT_OFFSET + 2..SIZE_OFFSET].fill(0);
        bytes[SIZE_OFFSET..TENANTS_OFFSET].copy_from_slice(&geometry.size_bytes.to_le_bytes());
        for (tenant, place) in self.tenants().iter().zip(bytes[TENANTS_OFFSET..].chunks_exact_mut(TENANT_BYTES)) {
            tenant.encode(place);
        }
        let crc = crc_32(&bytes[..CRC_OFFSET]);
        bytes[CRC_OFFSET..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }
}

fn overlaps(one: &TenantEntry, other: &TenantEntry) -> bool {
    one.start < other.end && other.start < one.end
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// CRC-32 of ISO-HDLC, bit by bit: labels are read once.
fn crc_32(bytes: &[u8]) -> u32 {
    let shift = |crc: u32| crc >> 1 ^ if crc & 1 == 1 { 0xEDB8_8320 } else { 0 };
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| shift(crc)))
}

/// A whole copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct LabelCopy {
    bytes: [u8; LABEL_BYTES],
}

impl Numbered for LabelCopy {
    fn sequence(&self) -> u32 {
        u32_at(&self.bytes, SEQUENCE_OFFSET)
    }
}

impl LabelCopy {
    fn of(bytes: [u8; LABEL_BYTES]) -> Option<Self> {
        let is_whole = bytes[..8] == MAGIC && u32_at(&bytes, CRC_OFFSET) == crc_32(&bytes[..CRC_OFFSET]);
        is_whole.then_some(LabelCopy { bytes })
    }

    fn geometry(&self) -> StatedGeometry {
        StatedGeometry { count: u16_at(&self.bytes, COUNT_OFFSET), size_bytes: u32_at(&self.bytes, SIZE_OFFSET) }
    }

    fn version(&self) -> u8 {
        self.bytes[VERSION_OFFSET]
    }

    fn label(&self) -> Label {
        let count = self.bytes[VERSION_OFFSET + 1].min(LABEL_TENANTS_MAX as u8);
        let mut label = Label { count, ..Label::default() };
        let places = self.bytes[TENANTS_OFFSET..].chunks_exact(TENANT_BYTES);
        for (tenant, bytes) in label.tenants[..usize::from(count)].iter_mut().zip(places) {
            *tenant = TenantEntry::decode(bytes);
        }
        label
    }
}

/// Why a label cannot be loaded from a part `P`.
pub type LoadError<P> = MountError<<P as LabelDevice>::Error, LabelError<Infallible>, <P as LabelDevice>::Kind>;

/// A part that can have a label: a NOR part as [`NorLabel`], a NAND part as [`NandLabel`].
pub trait LabelDevice {
    /// What goes wrong on it.
    type Error: fmt::Debug;
    /// The kind of part.
    type Kind: PartKind;

    #[doc(hidden)]
    fn geometry(&self) -> Result<StatedGeometry, &'static str>;

    #[doc(hidden)]
    fn places(&self) -> Range<u16>;

    #[doc(hidden)]
    fn read_copy(&mut self, place: u16) -> Result<Reading<LabelCopy>, Self::Error>;

    #[doc(hidden)]
    fn write_copy(&mut self, place: u16, bytes: &[u8; LABEL_BYTES]) -> Result<Written, Self::Error>;

    /// Looks at all places. Of those that nothing is to be written to, `skipped` has a bit.
    #[doc(hidden)]
    fn survey(&mut self, skipped: u32) -> Result<Survey<LabelCopy>, Self::Error> {
        let places = self.places();
        let mut readings = [Reading::Nothing; NAND_PLACES as usize];
        for (reading, place) in readings.iter_mut().zip(places.clone()) {
            *reading = self.read_copy(place)?;
        }
        Ok(Survey::of(places.start, &readings[..places.len()], skipped))
    }

    /// Reads the part's label. Cost: a read of each place; on NAND three loads each, and after a cut one erase and
    /// three programs.
    ///
    /// # Errors
    /// `NotFormatted` if there is none, which is to have no tenants; `Refused` with a range that is impossible, which
    /// no `store` writes; what else is wrong with it, or with the part.
    fn load(&mut self) -> Result<Label, LoadError<Self>> {
        let geometry = self.geometry().map_err(MountError::Unsuitable)?;
        let survey = self.survey(0).map_err(MountError::Device)?;
        let Some(copy) = survey.newest else {
            return if survey.is_doubtful { self.settle(Label::default()) } else { Err(MountError::NotFormatted) };
        };
        if copy.version() != LABEL_VERSION {
            let (found, known) = (u32::from(copy.version()), u32::from(LABEL_VERSION));
            return Err(MountError::OtherVersion { found, known });
        }
        let (image, expected) = (copy.geometry(), geometry);
        let count = ("units or blocks", u32::from(image.count), u32::from(expected.count));
        let size = ("bytes in a unit or block", image.size_bytes, expected.size_bytes);
        for (what, image, expected) in [count, size] {
            if image != expected {
                return Err(MountError::WrongGeometry { what, image, expected });
            }
        }
        let label = copy.label();
        check_tenants(&label, self.places().start).map_err(MountError::Refused)?;
        if survey.is_doubtful { self.settle(label) } else { Ok(label) }
    }

    /// The label that is on the part, of any version and for any geometry, and what it lists; of another version, no
    /// tenants. Cost: as [`load`](Self::load), but nothing is written, even where a cut left the label doubtful.
    ///
    /// # Errors
    /// The device's.
    fn inspect(&mut self) -> Result<Option<(Recognised, Label)>, Self::Error> {
        if self.geometry().is_err() {
            return Ok(None);
        }
        Ok(self.survey(0)?.newest.map(|copy| {
            let recognised = Recognised {
                what: "a label with a partition table",
                kind: TenantKind::LABEL,
                version: u32::from(copy.version()),
                known_version: u32::from(LABEL_VERSION),
                geometry: Some(copy.geometry()),
            };
            let is_known = copy.version() == LABEL_VERSION;
            (recognised, if is_known { copy.label() } else { Label::default() })
        }))
    }

    /// The label that is on the part, without what it lists. Cost: as [`inspect`](Self::inspect).
    ///
    /// # Errors
    /// The device's.
    fn recognise(&mut self) -> Result<Option<Recognised>, Self::Error> {
        Ok(self.inspect()?.map(|(recognised, _)| recognised))
    }

    /// Makes a label certain that a load found.
    #[doc(hidden)]
    fn settle(&mut self, label: Label) -> Result<Label, LoadError<Self>> {
        match self.store(&label) {
            Ok(()) => Ok(label),
            Err(LabelError::Device(error)) => Err(MountError::Device(error)),
            Err(_) => Err(MountError::Unsuitable("no place is left to settle a label that was cut")),
        }
    }

    /// Writes the part's label: durable when it returns, and before that the old one. Cost: a survey, an erase, 256
    /// bytes programmed, on NAND three times.
    ///
    /// # Errors
    /// Names the tenant's range that is impossible; nothing has changed then. The device's.
    fn store(&mut self, label: &Label) -> Result<(), LabelError<Self::Error>> {
        let geometry = self.geometry().map_err(LabelError::Unsuitable)?;
        check_tenants(label, self.places().start)?;
        let mut skipped = 0;
        loop {
            let Survey { next, sequence, .. } = self.survey(skipped).map_err(LabelError::Device)?;
            let place = next.ok_or(LabelError::NoPlace)?;
            match self.write_copy(place, &label.encode(sequence, geometry)).map_err(LabelError::Device)? {
                Written::Whole => return Ok(()),
                Written::BadBlock => skipped |= 1 << (place - self.places().start),
            }
        }
    }
}

/// Checks that tenants lie before `end` and have nothing in common: what [`Label::add`] checks, too, but a label may be
/// of another part.
fn check_tenants<E>(label: &Label, end: u16) -> Result<(), LabelError<E>> {
    for (at, tenant) in label.tenants().iter().enumerate() {
        if tenant.range().is_empty() || tenant.end > end {
            return Err(LabelError::Range { start: tenant.start, end: tenant.end });
        }
        if let Some(other) = label.tenants()[..at].iter().find(|other| overlaps(other, tenant)) {
            return Err(LabelError::Overlap { start: other.start, end: other.end });
        }
    }
    Ok(())
}

/// A NOR part with a label in its last two units. They have to have 256 bytes, and there have to be more of them.
#[derive(Clone, Debug)]
pub struct NorLabel<D>(pub D);

impl<D: Nor> LabelDevice for NorLabel<D> {
    type Error = D::Error;
    type Kind = NorPart;

    fn geometry(&self) -> Result<StatedGeometry, &'static str> {
        let part = self.0.part();
        if part.validate().is_err() || part.unit_count <= NOR_PLACES || (part.unit_size_bytes as usize) < LABEL_BYTES {
            return Err("a label takes two erase units of at least 256 bytes, and leaves one");
        }
        Ok(StatedGeometry { count: part.unit_count, size_bytes: part.unit_size_bytes })
    }

    fn places(&self) -> Range<u16> {
        let count = self.0.part().unit_count;
        count - NOR_PLACES..count
    }

    /// A torn program reads the same from then on: a copy that counts once counts permanently.
    fn read_copy(&mut self, place: u16) -> Result<Reading<LabelCopy>, D::Error> {
        let mut bytes = [0; LABEL_BYTES];
        let start = self.0.part().start_of(EraseUnit(place));
        self.0.read(start, &mut bytes)?;
        Ok(LabelCopy::of(bytes).map_or(Reading::Nothing, Reading::Certain))
    }

    fn write_copy(&mut self, place: u16, bytes: &[u8; LABEL_BYTES]) -> Result<Written, D::Error> {
        let start = self.0.part().start_of(EraseUnit(place));
        self.0.erase(EraseUnit(place))?;
        self.0.program(start, bytes)?;
        Ok(Written::Whole)
    }
}

/// A NAND part with a label in its last six blocks, of which three have to be good. Pages have at least 256 bytes,
/// blocks three pages.
#[derive(Clone, Debug)]
pub struct NandLabel<D>(pub D);

impl<D: Nand> LabelDevice for NandLabel<D> {
    type Error = D::Error;
    type Kind = NandPart;

    fn geometry(&self) -> Result<StatedGeometry, &'static str> {
        let part = self.0.part();
        let is_large = usize::from(part.page_bytes) >= LABEL_BYTES && part.pages_per_block >= COPY_PAGES;
        if part.validate().is_err() || part.block_count <= NAND_PLACES || !is_large {
            return Err("a label takes six blocks of three pages of at least 256 bytes, and leaves one");
        }
        Ok(StatedGeometry { count: part.block_count, size_bytes: part.block_bytes() })
    }

    fn places(&self) -> Range<u16> {
        let count = self.0.part().block_count;
        count - NAND_PLACES..count
    }

    fn read_copy(&mut self, place: u16) -> Result<Reading<LabelCopy>, D::Error> {
        read_nand_copy(&mut self.0, Block(place), LabelCopy::of)
    }

    fn write_copy(&mut self, place: u16, bytes: &[u8; LABEL_BYTES]) -> Result<Written, D::Error> {
        write_nand_copy(&mut self.0, Block(place), bytes)
    }
}
