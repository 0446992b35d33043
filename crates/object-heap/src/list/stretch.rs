//! Stretches: pieces of 32 bytes of an object's data or codes, put together from the records and deltas that hold them.

use norn_flash::Nor;
use norn_nor_store::{ErrorDetection, Features, Sector, StoreError, UnitRows};

use crate::check::ValueCheck;
use crate::form::{Object, ObjectForm};
use crate::format::{CHUNK_BYTES, VALID_FLAGS_OFFSET, codes_offset, data_offset, flag_place};
use crate::list::Lists;

/// Bytes that the flags of the fields of a stretch take at most.
pub(crate) const FLAGS_BYTES: usize = CHUNK_BYTES / 4 + 1;
/// A stretch of the data or of the codes: its bytes, whose field each is, and which are known already.
pub(crate) struct Stretch {
    /// Where the data or the codes start in a record.
    base: u32,
    pub start: u32,
    pub len: usize,
    pub bytes: [u8; CHUNK_BYTES],
    pub owners: [u8; CHUNK_BYTES],
    pub known: u32,
    /// Bytes of fields that have their default value.
    defaults: u32,
}

/// Flag bytes of the fields that a stretch touches, from byte `first` of the flags on.
struct Flags {
    first: u32,
    bytes: [u8; FLAGS_BYTES],
    detection: ErrorDetection,
}

impl Flags {
    fn is_erased(&self, index: u8) -> bool {
        let (at, mask) = flag_place(u32::from(index), self.detection);
        self.bytes[(at - self.first) as usize] & mask == mask
    }
}

impl Stretch {
    /// Bytes `start` to `start + len` of what starts at `base` in a record, without values so far.
    pub fn new(base: u32, start: u32, len: usize) -> Self {
        Stretch { base, start, len, bytes: [0xFF; CHUNK_BYTES], owners: [0; CHUNK_BYTES], known: 0, defaults: 0 }
    }

    /// The same of fields of `width` bytes.
    pub fn uniform(base: u32, start: u32, len: usize, width: u32) -> Self {
        let mut stretch = Stretch::new(base, start, len);
        for (at, owner) in (start..).zip(&mut stretch.owners[..len]) {
            *owner = (at / width) as u8;
        }
        stretch
    }

    /// Which bytes these are.
    pub fn range(&self) -> core::ops::Range<u32> {
        self.start..self.start + self.len as u32
    }

    /// Some of them, as they are in records.
    pub fn part(&self, range: core::ops::Range<u32>) -> &[u8] {
        &self.bytes[(range.start - self.start) as usize..(range.end - self.start) as usize]
    }

    /// Whether byte `at` of all is of a field that has its default value.
    pub fn is_default(&self, at: u32) -> bool {
        self.defaults >> (at - self.start) & 1 == 1
    }

    /// The values of the bytes, which all are known.
    pub fn values(&self) -> impl Iterator<Item = u8> + '_ {
        (0..self.len).map(|at| if self.defaults >> at & 1 == 1 { 0 } else { self.bytes[at] })
    }

    fn all_known(&self) -> bool {
        self.known == u32::MAX >> (CHUNK_BYTES - self.len)
    }

    fn unknown(&self) -> impl Iterator<Item = usize> + use<> {
        let (known, len) = (self.known, self.len);
        (0..len).filter(move |&at| known >> at & 1 == 0)
    }
}

impl<D: Nor, M: UnitRows, F: Features> Lists<D, M, F> {
    /// Finds the current value of every byte of a stretch that is not known.
    pub(crate) fn gather(&mut self, object: &Object, stretch: &mut Stretch) -> Result<(), StoreError<D::Error>> {
        if self.has_deltas() {
            self.take_deltas(object, stretch)?;
        }
        if object.shape.form.has_flags() {
            let leaf = self.sectors().get(object.leaf)?;
            let flags = self.read_flags(&leaf, object.flags_offset(self.detection()), stretch)?;
            for at in stretch.unknown() {
                if flags.is_erased(stretch.owners[at]) {
                    stretch.known |= 1 << at;
                    stretch.defaults |= 1 << at;
                }
            }
        }
        let mut record = object.first;
        for position in 1.. {
            if stretch.all_known() {
                break;
            }
            let sector = self.record(record)?;
            self.take_values(&sector, stretch)?;
            match self.next_record(&sector, position)? {
                Some(next) => record = next,
                None if stretch.all_known() => break,
                None => {
                    return self.sectors().corrupted(sector.address, "a list of records without a field's value");
                }
            }
        }
        Ok(())
    }

    /// Takes from one record the bytes of a stretch that are not known from an earlier one.
    fn take_values(&mut self, record: &Sector, stretch: &mut Stretch) -> Result<(), StoreError<D::Error>> {
        let flags = self.read_flags(record, VALID_FLAGS_OFFSET, stretch)?;
        if !stretch.unknown().any(|at| flags.is_erased(stretch.owners[at])) {
            return Ok(());
        }
        let mut bytes = [0; CHUNK_BYTES];
        self.sectors().read(record, stretch.base + stretch.start, &mut bytes[..stretch.len])?;
        for at in stretch.unknown() {
            if flags.is_erased(stretch.owners[at]) {
                stretch.bytes[at] = bytes[at];
                stretch.known |= 1 << at;
            }
        }
        Ok(())
    }

    fn read_flags(&mut self, sector: &Sector, offset: u32, stretch: &Stretch) -> Result<Flags, StoreError<D::Error>> {
        let detection = self.detection();
        let (first, _) = flag_place(u32::from(stretch.owners[0]), detection);
        let (last, _) = flag_place(u32::from(stretch.owners[stretch.len - 1]), detection);
        let mut flags = Flags { first, bytes: [0; FLAGS_BYTES], detection };
        self.sectors().read(sector, offset + first, &mut flags.bytes[..=(last - first) as usize])?;
        Ok(flags)
    }

    /// Reads bytes of an array's elements, whose width is `width`, from byte `start` of all of them on.
    pub(crate) fn read_elements(
        &mut self,
        named: &ObjectForm,
        width: u32,
        start: u32,
        bytes: &mut [u8],
    ) -> Result<(), StoreError<D::Error>> {
        let section_bytes = named.section_elements() * width;
        let mut done = 0;
        while done < bytes.len() {
            let at = start + done as u32;
            let in_section = at % section_bytes;
            let len = CHUNK_BYTES.min(bytes.len() - done).min((section_bytes - in_section) as usize);
            let section = self.descriptors.list_of_section(named, at / section_bytes)?;
            let data_at = data_offset(section.shape.count, self.detection());
            let mut stretch = Stretch::uniform(data_at, in_section, len, width);
            self.gather(&section, &mut stretch)?;
            self.check_elements(&section, &stretch, width)?;
            bytes[done..].iter_mut().zip(stretch.values()).for_each(|(byte, value)| *byte = value);
            done += len;
        }
        Ok(())
    }

    /// Checks the elements of which a gathered stretch has bytes.
    fn check_elements(&mut self, section: &Object, stretch: &Stretch, width: u32) -> Result<(), StoreError<D::Error>> {
        if !self.detects() {
            return Ok(());
        }
        let bytes = stretch.range();
        let (first, last) = (bytes.start / width, (bytes.end - 1) / width);
        let mut codes = Stretch::uniform(codes_offset(section.shape.count), first, (last - first + 1) as usize, 1);
        self.gather(section, &mut codes)?;
        for index in first..=last {
            let whole = index * width..(index + 1) * width;
            let agrees = codes.is_default(index)
                || bytes.start <= whole.start
                    && whole.end <= bytes.end
                    && codes.part(index..index + 1)[0] == ValueCheck::of(stretch.part(whole)).at(index as usize);
            if !agrees {
                // Damaged, or not all of it is in the stretch.
                self.check_value(section, index as usize)?;
            }
        }
        Ok(())
    }
}

const _: () = assert!(CHUNK_BYTES == 32, "one bit of a u32 for each byte of a chunk");
