//! A simulated EEPROM part.
//!
//! Writing a range:
//! 1. refuse it if it leaves the part, before anything changes;
//! 2. split it into aligned words; each is one operation, counted as a program and an erase;
//! 3. write them in ascending order, up to the one that the planned cut hits, or that has a byte at its endurance: tear
//!    that one, and turn the power off if it was a cut.
//!
//! Invariants: a refused call changes nothing; a word that is torn ages as one that is written; a clone shares no state
//! with its original.

use std::sync::Arc;

use norn_flash::{Address, Eeprom, EepromPart};

use crate::counters::{Counters, size_class};
use crate::instrument::{Instrument, State};
use crate::tear::Tear;
use crate::words::words_of;

/// Bytes that a clone shares until they are written.
const PAGE_BYTES: usize = 256;

/// An EEPROM part that can be simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EepromSpec {
    /// Its name.
    pub name: String,
    /// Its geometry and limits.
    pub part: EepromPart,
    /// Time of reading a word.
    pub read_ns: u64,
    /// Time of erasing a word, before it is written.
    pub erase_ns: u64,
    /// Time of writing a word after that.
    pub write_ns: u64,
    /// Where the figures are from.
    pub source: &'static str,
}

/// Where in the write of a word the power is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteStage {
    /// While the word is erased: the tear selects from the bits that are 0 those that are set.
    Erase,
    /// While the erased word is written: the tear selects from the bits that are to be 0 those that are cleared.
    Write,
    /// On a part that changes bits both ways at once: the tear selects from the bits that differ those that are new.
    Both,
}

impl WriteStage {
    /// All stages.
    pub const ALL: [WriteStage; 3] = [WriteStage::Erase, WriteStage::Write, WriteStage::Both];

    /// What a word that held `old` and was to hold `new` holds after a cut.
    fn tear(self, tear: Tear, old: &[u8], new: &[u8]) -> Vec<u8> {
        let (start, changing): (Vec<u8>, Vec<u8>) = match self {
            WriteStage::Erase => old.iter().map(|old| (*old, !old)).unzip(),
            WriteStage::Write => new.iter().map(|new| (0xFF, !new)).unzip(),
            WriteStage::Both => old.iter().zip(new).map(|(old, new)| (*old, old ^ new)).unzip(),
        };
        start.iter().zip(tear.select(&changing)).map(|(start, selected)| start ^ selected).collect()
    }
}

/// Why the part did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EepromSimError {
    /// The power is off: the planned cut came, and nothing works until `power_on`.
    #[error("the power is off")]
    PowerLost,
    /// The range leaves the part.
    #[error("{len} bytes at {address} leave the part, which ends at {end:#x}")]
    OutOfRange {
        /// Start of the range.
        address: Address,
        /// Its length in bytes.
        len: usize,
        /// The part's size in bytes.
        end: u32,
    },
    /// A byte has reached its endurance; the write of its word failed.
    #[error("the byte at {address} is worn out after {writes} writes")]
    WornOut {
        /// The byte.
        address: Address,
        /// Writes that it has had.
        writes: u32,
    },
}

/// How often the bytes of a part were written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wear {
    /// Writes of the byte with the fewest.
    pub min: u32,
    /// Writes a byte on average.
    pub mean: f64,
    /// Writes of the byte with the most.
    pub max: u32,
}

#[derive(Clone, Debug)]
struct Page {
    bytes: [u8; PAGE_BYTES],
    writes: [u32; PAGE_BYTES],
}

/// A simulated EEPROM part, in memory. It costs a pointer for each 256 bytes to clone.
#[derive(Clone, Debug)]
pub struct EepromSim {
    spec: EepromSpec,
    pages: Vec<Arc<Page>>,
    instrument: Instrument<Counters, Address, (WriteStage, Tear)>,
    endurance_writes: Option<u32>,
    most_writes: u32,
}

impl EepromSim {
    /// A part as delivered: erased, that is 0xFF, and never written.
    ///
    /// # Panics
    /// If `spec` describes no possible part.
    pub fn new(spec: EepromSpec) -> Self {
        assert_eq!(spec.part.validate(), Ok(()), "part {}", spec.name);
        let page = Arc::new(Page { bytes: [0xFF; PAGE_BYTES], writes: [0; PAGE_BYTES] });
        EepromSim {
            pages: vec![page; (spec.part.size_bytes as usize).div_ceil(PAGE_BYTES)],
            instrument: Instrument::new(State::default()),
            endurance_writes: spec.part.endurance_writes,
            most_writes: 0,
            spec,
        }
    }

    /// What the part is.
    pub fn spec(&self) -> &EepromSpec {
        &self.spec
    }

    /// What the part has done since it was made; a word written counts as a program and an erase.
    pub fn counters(&self) -> Counters {
        self.instrument.state().counters
    }

    /// Simulated time that the part has been at work.
    pub fn elapsed_ns(&self) -> u64 {
        self.instrument.state().elapsed_ns
    }

    /// Operations so far that a cut can hit: words written. Not frozen.
    pub fn operations(&self) -> u64 {
        self.instrument.state().operations
    }

    /// Stops counters and time, for a checker that looks without being seen.
    pub fn freeze_counters(&mut self) {
        self.instrument.freeze();
    }

    /// Resumes counters and time.
    pub fn thaw_counters(&mut self) {
        self.instrument.thaw();
    }

    /// How often each byte was written.
    pub fn writes_by_byte(&self) -> impl Iterator<Item = u32> + '_ {
        let size = self.spec.part.size_bytes as usize;
        self.pages.iter().flat_map(|page| page.writes).take(size)
    }

    /// How often the bytes were written: least, most, and on average.
    pub fn wear(&self) -> Wear {
        let (mut min, mut max, mut sum) = (u32::MAX, 0, 0u64);
        for writes in self.writes_by_byte() {
            (min, max, sum) = (min.min(writes), max.max(writes), sum + u64::from(writes));
        }
        Wear { min, mean: sum as f64 / f64::from(self.spec.part.size_bytes), max }
    }

    /// Writes of the byte with the most writes, as in [`wear`](Self::wear), without looking at every byte.
    pub fn most_writes(&self) -> u32 {
        self.most_writes
    }

    /// Makes every byte as new, so that the wear of what follows is counted alone.
    pub fn forget_wear(&mut self) {
        self.most_writes = 0;
        self.pages.iter_mut().for_each(|page| Arc::make_mut(page).writes = [0; PAGE_BYTES]);
    }

    /// Makes bytes fail after this many writes instead of the part's endurance; `None` for never.
    pub fn set_endurance(&mut self, writes: Option<u32>) {
        self.endurance_writes = writes;
    }

    /// Plans a loss of power: `operations` more words are written, the next one is torn in `stage`. Shapes that concern
    /// several words, or bits that change later, tear as `Tear::Subset` or `Tear::Complete` does: one word at a time is
    /// written, and reads the same ever after.
    pub fn cut_power_after(&mut self, operations: u64, stage: WriteStage, tear: Tear) {
        self.instrument.cut_power_after(operations, (stage, tear));
    }

    /// Turns the power on again, and drops a planned cut.
    pub fn power_on(&mut self) {
        self.instrument.power_on();
    }

    /// The word that the last loss of power hit.
    pub fn last_torn(&self) -> Option<Address> {
        self.instrument.torn().map(|(address, _)| address)
    }

    /// The bytes in the cells, uncounted and with the power off, too.
    ///
    /// # Panics
    /// If the range leaves the part.
    pub fn peek(&self, address: Address, len: usize) -> Vec<u8> {
        let start = address.0 as usize;
        (start..start + len).map(|at| self.pages[at / PAGE_BYTES].bytes[at % PAGE_BYTES]).collect()
    }

    /// Overwrites cells, uncounted and without wear: to damage what is on the part.
    ///
    /// # Panics
    /// If the range leaves the part.
    pub fn poke(&mut self, address: Address, bytes: &[u8]) {
        for (at, byte) in (address.0 as usize..).zip(bytes) {
            Arc::make_mut(&mut self.pages[at / PAGE_BYTES]).bytes[at % PAGE_BYTES] = *byte;
        }
    }

    fn check_range(&self, address: Address, len: usize) -> Result<(), EepromSimError> {
        if self.instrument.is_off() {
            return Err(EepromSimError::PowerLost);
        }
        let end = self.spec.part.size_bytes;
        if u64::from(address.0) + len as u64 > u64::from(end) {
            return Err(EepromSimError::OutOfRange { address, len, end });
        }
        Ok(())
    }

    /// Writes one aligned word.
    fn write_word(&mut self, address: Address, word: &[u8]) -> Result<(), EepromSimError> {
        let ns = self.spec.erase_ns + self.spec.write_ns;
        self.instrument.count(|counters| {
            counters.programs_by_size[size_class(word.len())] += 1;
            counters.erases += 1;
            ns
        });
        let cut = self.instrument.advance(1);
        let range = address.0 as usize % PAGE_BYTES..address.0 as usize % PAGE_BYTES + word.len();
        let page = Arc::make_mut(&mut self.pages[address.0 as usize / PAGE_BYTES]);
        let (cells, writes) = (&mut page.bytes[range.clone()], &mut page.writes[range]);
        let worn = self.endurance_writes.and_then(|endurance| writes.iter().position(|&writes| writes >= endurance));
        for writes in writes.iter_mut() {
            *writes += 1;
            self.most_writes = self.most_writes.max(*writes);
        }
        let (left, result) = match (cut, worn) {
            (Some((_, (stage, tear))), _) => {
                self.instrument.tear(address, (stage, tear));
                (stage.tear(tear, cells, word), Err(EepromSimError::PowerLost))
            }
            (None, Some(at)) => {
                let (address, writes) = (address.offset(at as u32), writes[at] - 1);
                let torn = WriteStage::Write.tear(Tear::Subset(u64::from(address.0)), cells, word);
                (torn, Err(EepromSimError::WornOut { address, writes }))
            }
            (None, None) => (word.to_vec(), Ok(())),
        };
        cells.copy_from_slice(&left);
        result
    }
}

impl Eeprom for EepromSim {
    type Error = EepromSimError;

    fn part(&self) -> EepromPart {
        self.spec.part
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), EepromSimError> {
        self.check_range(address, buffer.len())?;
        let (read_ns, words) = (self.spec.read_ns, words_of(address, buffer.len(), self.spec.part.word_bytes));
        self.instrument.count(|counters| {
            words.map(|(_, bytes)| counters.reads_by_size[size_class(bytes)] += 1).map(|()| read_ns).sum()
        });
        for (at, byte) in (address.0 as usize..).zip(buffer) {
            *byte = self.pages[at / PAGE_BYTES].bytes[at % PAGE_BYTES];
        }
        Ok(())
    }

    fn write(&mut self, address: Address, bytes: &[u8]) -> Result<(), EepromSimError> {
        self.check_range(address, bytes.len())?;
        for (word, len) in words_of(address, bytes.len(), self.spec.part.word_bytes) {
            let at = (word.0 - address.0) as usize;
            self.write_word(word, &bytes[at..at + len])?;
        }
        Ok(())
    }
}
