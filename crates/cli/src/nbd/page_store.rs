//! Bytes at any address on a device of pages.
//!
//! A request is a row of spans: a part of a page, whole pages, a part of a page. Whole pages are written as they are;
//! of a part, the page is read, changed and written, under the server's lock. Each page changes atomically.
//!
//! Invariant: a trim gives up only pages that it covers.

use norn_flash_sim::NandSimError;
use norn_nand_ftl::{Ftl, FtlError, Lba};
use norn_nbd::{BlockStore, Holes, StoreError};

use super::disk::Disk;
use super::failure::told;

/// The device in an image file.
pub type ImageFtl = Ftl<Disk, Vec<u8>>;

type FtlResult = Result<(), FtlError<NandSimError>>;

/// Zeros that are written at a time where no holes are wanted.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// The device, with room for a page.
#[derive(Debug)]
pub struct PageStore {
    ftl: ImageFtl,
    page: Vec<u8>,
    /// The device's last failure, so that repeated failures are reported once.
    told: Option<FtlError<NandSimError>>,
}

/// A piece of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Span {
    /// `len` bytes of a page, from its byte `from` on.
    Part { page: Lba, from: usize, len: usize },
    /// Pages as a whole.
    Whole { first: Lba, count: u32 },
}

/// The spans of `len` bytes from `at` on.
fn spans(at: u64, len: usize, page_bytes: usize) -> impl Iterator<Item = Span> {
    let (mut at, end) = (at, at + len as u64);
    std::iter::from_fn(move || {
        let left = (end - at) as usize;
        let (page, from) = (Lba((at / page_bytes as u64) as u32), (at % page_bytes as u64) as usize);
        let (span, taken) = match (from, left) {
            (_, 0) => return None,
            (0, left) if left >= page_bytes => {
                let count = left / page_bytes;
                (Span::Whole { first: page, count: count as u32 }, count * page_bytes)
            }
            _ => {
                let len = left.min(page_bytes - from);
                (Span::Part { page, from, len }, len)
            }
        };
        at += taken as u64;
        Some(span)
    })
}

impl PageStore {
    /// Over a mounted device.
    pub fn new(ftl: ImageFtl) -> Self {
        let page = vec![0; usize::from(ftl.page_bytes())];
        PageStore { ftl, page, told: None }
    }

    /// Gives the device back.
    pub fn into_ftl(self) -> ImageFtl {
        self.ftl
    }

    /// The spans of a request, each with the place of its bytes.
    fn spans(&self, at: u64, len: usize) -> impl Iterator<Item = (Span, std::ops::Range<usize>)> + use<> {
        let page_bytes = self.page.len();
        let mut done = 0;
        spans(at, len, page_bytes).map(move |span| {
            let len = match span {
                Span::Part { len, .. } => len,
                Span::Whole { count, .. } => count as usize * page_bytes,
            };
            done += len;
            (span, done - len..done)
        })
    }

    /// Reads a page, changes it and writes it.
    fn change(&mut self, page: Lba, change: impl FnOnce(&mut [u8])) -> FtlResult {
        self.ftl.read(page, &mut self.page)?;
        change(&mut self.page);
        self.ftl.write(page, &self.page)
    }

    fn read_spans(&mut self, at: u64, data: &mut [u8]) -> FtlResult {
        for (span, place) in self.spans(at, data.len()) {
            match span {
                Span::Whole { first, .. } => self.ftl.read(first, &mut data[place])?,
                Span::Part { page, from, len } => {
                    self.ftl.read(page, &mut self.page)?;
                    data[place].copy_from_slice(&self.page[from..from + len]);
                }
            }
        }
        Ok(())
    }

    fn write_spans(&mut self, at: u64, data: &[u8]) -> FtlResult {
        for (span, place) in self.spans(at, data.len()) {
            match span {
                Span::Whole { first, .. } => self.ftl.write(first, &data[place])?,
                Span::Part { page, from, len } => {
                    self.change(page, |bytes| bytes[from..from + len].copy_from_slice(&data[place]))?;
                }
            }
        }
        Ok(())
    }

    fn zero_spans(&mut self, at: u64, len: usize, holes: Holes) -> FtlResult {
        for (span, _) in self.spans(at, len) {
            match (span, holes) {
                (Span::Whole { first, count }, Holes::Allowed) => self.ftl.trim(first, count)?,
                (Span::Whole { first, count }, Holes::Unwanted) => self.fill(first, count)?,
                (Span::Part { page, from, len }, _) => self.change(page, |bytes| bytes[from..from + len].fill(0))?,
            }
        }
        Ok(())
    }

    /// Writes zeros to pages.
    fn fill(&mut self, first: Lba, count: u32) -> FtlResult {
        let pages = (ZEROS.len() / self.page.len()) as u32;
        for done in (0..count).step_by(pages as usize) {
            let bytes = pages.min(count - done) as usize * self.page.len();
            self.ftl.write(Lba(first.0 + done), &ZEROS[..bytes])?;
        }
        Ok(())
    }

    fn trim_spans(&mut self, at: u64, len: usize) -> FtlResult {
        for (span, _) in self.spans(at, len) {
            if let Span::Whole { first, count } = span {
                self.ftl.trim(first, count)?;
            }
        }
        Ok(())
    }

    fn flush_to_disk(&mut self) -> FtlResult {
        self.ftl.flush()?;
        self.ftl.device_mut().flush().map_err(FtlError::Device)
    }

    /// Reports a failure on stderr, because the protocol has only a number for it.
    fn tell(&mut self, done: FtlResult) -> Result<(), StoreError> {
        let Err(error) = done else { return Ok(()) };
        let answer = if error == FtlError::NoSpace { StoreError::NoSpace } else { StoreError::Io };
        if self.told.as_ref() != Some(&error) {
            eprintln!("norn: {}", told(&error));
            self.told = Some(error);
        }
        Err(answer)
    }
}

impl BlockStore for PageStore {
    fn size_bytes(&self) -> u64 {
        u64::from(self.ftl.logical_pages()) * self.page.len() as u64
    }

    fn preferred_bytes(&self) -> u32 {
        // The protocol asks for 512 at least.
        (self.page.len() as u32).max(512)
    }

    fn read(&mut self, at: u64, data: &mut [u8]) -> Result<(), StoreError> {
        let done = self.read_spans(at, data);
        self.tell(done)
    }

    fn write(&mut self, at: u64, data: &[u8]) -> Result<(), StoreError> {
        let done = self.write_spans(at, data);
        self.tell(done)
    }

    fn write_zeroes(&mut self, at: u64, len: u32, holes: Holes) -> Result<(), StoreError> {
        let done = self.zero_spans(at, len as usize, holes);
        self.tell(done)
    }

    fn trim(&mut self, at: u64, len: u32) -> Result<(), StoreError> {
        let done = self.trim_spans(at, len as usize);
        self.tell(done)
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        let done = self.flush_to_disk();
        self.tell(done)
    }
}

#[cfg(test)]
mod tests {
    use norn_flash_sim::{NandSim, nand_catalogue};
    use norn_nand_ftl::FtlConfig;
    use norn_nbd::RamStore;

    use super::*;

    fn store(page_bytes: u16) -> PageStore {
        let spec = nand_catalogue::test_part(40, 8, page_bytes);
        let config = FtlConfig { logical_pages: 128 };
        let bytes = ImageFtl::memory_bytes(&spec.part, config.logical_pages);
        PageStore::new(Ftl::format(Disk::new(NandSim::new(spec)), vec![0; bytes], config).unwrap())
    }

    #[test]
    fn bytes_are_those_of_a_store_in_memory() {
        for (seed, page_bytes) in [(1, 512), (2, 2048), (3, 256)] {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut store = store(page_bytes);
            let size = store.size_bytes();
            let mut model = RamStore::new(size as usize);
            for step in 0..600 {
                let at = random.u64(0..size);
                let len = random.usize(0..=(5 * usize::from(page_bytes)).min((size - at) as usize));
                let data: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(len).collect();
                match random.u8(0..4) {
                    0 => {
                        let holes = if random.bool() { Holes::Allowed } else { Holes::Unwanted };
                        store.write_zeroes(at, len as u32, holes).unwrap();
                        model.write_zeroes(at, len as u32, holes).unwrap();
                    }
                    1 => {
                        store.trim(at, len as u32).unwrap();
                        let page_bytes = u64::from(page_bytes);
                        let from = at.next_multiple_of(page_bytes);
                        let to = (at + len as u64) / page_bytes * page_bytes;
                        if from < to {
                            model.write_zeroes(from, (to - from) as u32, Holes::Allowed).unwrap();
                        }
                    }
                    _ => {
                        store.write(at, &data).unwrap();
                        model.write(at, &data).unwrap();
                    }
                }
                let mut all = vec![1; size as usize];
                store.read(0, &mut all).unwrap();
                assert!(all == model.bytes(), "seed {seed}, pages of {page_bytes}, step {step}");
                let mut some = vec![1; len];
                store.read(at, &mut some).unwrap();
                assert!(some == model.bytes()[at as usize..][..len], "seed {seed}, step {step}: {len} at {at}");
            }
            assert_eq!(store.into_ftl().audit(&[]), Ok(None));
        }
    }

    #[test]
    fn an_erase_waits_for_programs_before_it() {
        let mut store = store(512);
        let mut erases = || {
            for round in 0..40 {
                store.write(0, &[round; 32 * 512]).unwrap();
            }
            (store.ftl.counters().erased, store.ftl.device().waits().erases)
        };
        let (erased, waited) = erases();
        let (erased_later, waited_later) = erases();
        // One recycling programs and erases once; only mounting erases several times in a row.
        assert!(erased_later > erased + 100, "{erased} and {erased_later} erases");
        assert_eq!(waited_later - waited, erased_later - erased);
    }
}
