//! A simulated NAND part.
//!
//! Programming a page or erasing a block:
//! 1. refuse it if the contract does not allow it, before anything changes;
//! 2. count it and its time; it is one operation that a cut or a planned failure can hit;
//! 3. if the planned cut hits it, tear it and turn the power off; if its block fails, tear it and say so;
//! 4. else carry it out.
//!
//! Invariants: a refused call changes nothing; counters and time advance only in calls that are carried out; pages that
//! are erased take no memory; a clone shares no state with its original.

mod cells;
mod counters;
mod dump;
mod error;
mod image;
mod noise;

use std::io;
use std::mem::take;
use std::path::Path;
use std::sync::Arc;

use norn_flash::{Block, Column, ColumnAccess, Nand, NandPart, PageAddress, Piece};

use crate::error::ImageError;
use crate::image_file::Access;
use crate::instrument::{Instrument, State};
use crate::nand_catalogue::NandSpec;
use crate::tear::Tear;
use cells::{BlockCells, PageCells, Place};
pub use counters::NandCounters;
pub use error::NandSimError;
use image::{NandImage, Opened};
pub use noise::Noise;

/// The page in the register, and where its position is.
#[derive(Clone, Debug)]
struct Register {
    bytes: Vec<u8>,
    position: u16,
}

/// Bits of a page that change when the power has come on as often as `boots` says.
#[derive(Clone, Debug)]
struct Unsettled {
    page: PageAddress,
    bits: Vec<u8>,
    boots: u8,
}

/// How an operation ends.
#[derive(Clone, Copy, Debug)]
enum Outcome {
    Done,
    Cut(Tear),
    Failed(Tear),
}

/// A simulated NAND part. In memory it takes what its programmed pages take, and costs a pointer for each block to
/// clone; in an image file it takes a few bytes a page. The clone of a part in an image file lives in memory, with all
/// its programmed pages.
#[derive(Debug)]
pub struct NandSim {
    spec: NandSpec,
    blocks: Vec<Arc<BlockCells>>,
    register: Option<Register>,
    instrument: Instrument<NandCounters, PageAddress>,
    endurance_erases: Option<u32>,
    failures: Vec<u64>,
    failures_per_million: u32,
    noise: Noise,
    unsettled: Vec<Unsettled>,
    random: fastrand::Rng,
    image: Option<NandImage>,
}

impl Clone for NandSim {
    /// # Panics
    /// If the part is in an image file that cannot be read.
    fn clone(&self) -> Self {
        let mut blocks = self.blocks.clone();
        if self.image.is_some() {
            for (block, cells) in self.spec.part.blocks().zip(&mut blocks) {
                for page in cells.clone().programmed() {
                    let page_cells = self.page_cells(block.page(page)).expect("the image file can be read");
                    Arc::make_mut(cells).put(page, page_cells.map_or(Place::Erased, Place::Memory));
                }
            }
        }
        let (spec, register, failures) = (self.spec.clone(), self.register.clone(), self.failures.clone());
        let unsettled = self.unsettled.clone();
        NandSim { spec, blocks, register, failures, unsettled, random: self.random.clone(), image: None, ..*self }
    }
}

impl NandSim {
    /// A part without bad blocks, erased.
    ///
    /// # Panics
    /// If `spec` describes no possible part.
    pub fn new(spec: NandSpec) -> Self {
        assert_eq!(spec.part.validate(), Ok(()), "part {}", spec.name);
        NandSim {
            blocks: vec![Arc::default(); usize::from(spec.part.block_count)],
            register: None,
            instrument: Instrument::new(State::default()),
            endurance_erases: spec.part.endurance_erases,
            failures: Vec::new(),
            failures_per_million: 0,
            noise: Noise::default(),
            unsettled: Vec::new(),
            random: fastrand::Rng::with_seed(0),
            image: None,
            spec,
        }
    }

    /// An erased part without bad blocks in a new sparse image file, which follows every operation.
    ///
    /// # Errors
    /// If the file exists or cannot be made.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn create_image(path: &Path, spec: NandSpec) -> Result<Self, ImageError> {
        Self::create_image_with(path, spec, |_| Ok(()))
    }

    /// The same with what `fill` puts on the part. The file appears at `path` when that is there and on the host's
    /// disk: a process that is killed before, or a `fill` that fails, leaves nothing at `path`.
    ///
    /// # Errors
    /// As there, and those of `fill`.
    ///
    /// # Panics
    /// As there.
    pub fn create_image_with<E: From<ImageError>>(
        path: &Path,
        spec: NandSpec,
        fill: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut sim = Self::new(spec);
        sim.image = Some(NandImage::begin(path, &sim.spec)?);
        fill(&mut sim)?;
        sim.image.as_mut().map_or(Ok(()), NandImage::publish)?;
        Ok(sim)
    }

    /// The part in an image file, with its counters, wear and time; its power is on.
    ///
    /// # Errors
    /// Names what is wrong with the file.
    pub fn open_image(path: &Path) -> Result<Self, ImageError> {
        Self::opened(path, Access::ReadWrite)
    }

    fn opened(path: &Path, access: Access) -> Result<Self, ImageError> {
        Ok(Self::of(NandImage::open(path, access)?))
    }

    fn of(opened: Opened) -> Self {
        let mut sim = Self::new(opened.spec);
        sim.blocks = opened.blocks.into_iter().map(Arc::new).collect();
        sim.instrument = Instrument::new(opened.state);
        sim.random = fastrand::Rng::with_seed(opened.state.operations);
        sim.image = Some(opened.image);
        sim
    }

    /// Brings what is in the image file to the host's disk. Without a file, there is nothing to do.
    ///
    /// # Errors
    /// When the host cannot.
    pub fn sync(&self) -> Result<(), NandSimError> {
        self.image.as_ref().map_or(Ok(()), NandImage::sync).map_err(image_error)
    }

    /// Marks blocks as bad, as a maker does: in the first page that may bear the mark, or in the last.
    ///
    /// # Panics
    /// If there is no such block, one of them has been programmed, or the image file cannot be written.
    pub fn mark_bad(&mut self, blocks: &[Block]) {
        let mark = self.spec.part.bad_mark;
        for &block in blocks {
            let fresh = self.cells(block).programmed().next().is_none();
            assert!(fresh, "{block} was programmed: it left the factory as good");
            let mut bytes = self.erased_register();
            bytes[usize::from(mark.column.0)] = 0;
            let page = if block.0.is_multiple_of(2) { 0 } else { mark.pages - 1 };
            self.cells_mut(block).state.marked_bad = true;
            self.put(block.page(page), PageCells::programmed(bytes, Tear::Complete))
                .expect("the image file can be written");
        }
    }

    /// Marks `count` blocks as bad, drawn from `seed`; the first block stays good. Returns which.
    ///
    /// # Panics
    /// If the part has fewer blocks, or one of them has been programmed.
    pub fn mark_random_bad(&mut self, count: u16, seed: u64) -> Vec<Block> {
        assert!(count < self.spec.part.block_count, "{count} bad blocks beside the first");
        let mut others: Vec<Block> = self.spec.part.blocks().skip(1).collect();
        fastrand::Rng::with_seed(seed).shuffle(&mut others);
        others.truncate(usize::from(count));
        others.sort();
        self.mark_bad(&others);
        others
    }

    /// What the part is.
    pub fn spec(&self) -> &NandSpec {
        &self.spec
    }

    /// What the part has done since it was made.
    pub fn counters(&self) -> NandCounters {
        self.instrument.state().counters
    }

    /// Simulated time that the part has been at work.
    pub fn elapsed_ns(&self) -> u64 {
        self.instrument.state().elapsed_ns
    }

    /// Operations so far that a cut can hit: pages programmed and blocks erased. Not frozen.
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

    /// Erases of each block, cut ones included, failed ones not.
    pub fn erase_counts(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        self.blocks.iter().map(|cells| cells.state.erases)
    }

    /// Pages that take memory, or room in the image file: those that are not erased.
    pub fn programmed_pages(&self) -> usize {
        self.blocks.iter().map(|cells| cells.programmed().count()).sum()
    }

    /// Whether pages of a block take memory, or room in the image file.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn holds_pages(&self, block: Block) -> bool {
        self.cells(block).programmed().next().is_some()
    }

    /// Blocks that have failed so far, without those that the maker marked.
    pub fn failed_blocks(&self) -> Vec<Block> {
        self.spec.part.blocks().filter(|block| self.blocks[usize::from(block.0)].state.failed).collect()
    }

    /// Makes blocks fail after this many erases instead of the part's endurance; `None` for never.
    pub fn set_endurance(&mut self, erases: Option<u32>) {
        self.endurance_erases = erases;
    }

    /// Makes a block go bad: every further program and erase in it fails.
    ///
    /// # Panics
    /// If there is no such block, or the image file cannot be written.
    pub fn fail_block(&mut self, block: Block) {
        self.cells_mut(block).state.failed = true;
        self.save_block(block).expect("the image file can be written");
    }

    /// Plans a failure: `operations` more programs and erases go through, the next one fails, and its block has gone
    /// bad. May be planned several times over.
    pub fn fail_after(&mut self, operations: u64) {
        self.failures.push(self.operations() + operations);
    }

    /// Sets how many of a million programs and erases fail, each drawn independently.
    pub fn set_failures_per_million(&mut self, failures: u32) {
        self.failures_per_million = failures;
    }

    /// Lets loads err in bits from now on.
    ///
    /// # Panics
    /// If that many wrong bits do not fit a code word.
    pub fn set_noise(&mut self, noise: Noise) {
        let bits = 8 * u32::from(self.spec.part.correction.bytes);
        assert!(u32::from(noise.bits_max) <= bits, "{noise:?}: code words have {bits} bits");
        self.noise = noise;
    }

    /// Seeds all random events of the part again: bit errors, unstable bits, failures.
    pub fn reseed(&mut self, seed: u64) {
        self.random = fastrand::Rng::with_seed(seed);
    }

    /// Calls so far that the contract does not allow, and that changed nothing.
    pub fn refusals(&self) -> u64 {
        self.instrument.refusals()
    }

    /// Plans a loss of power: `operations` more programs and erases go through, the next one is torn.
    pub fn cut_power_after(&mut self, operations: u64, tear: Tear) {
        self.instrument.cut_power_after(operations, tear);
    }

    /// Turns the power on again, and drops a planned cut. The register is empty.
    ///
    /// # Panics
    /// If a bit changes then, and the image file cannot be written.
    pub fn power_on(&mut self) {
        self.instrument.power_on();
        self.register = None;
        let (due, later) = take(&mut self.unsettled).into_iter().partition(|unsettled| unsettled.boots <= 1);
        self.unsettled = later;
        self.unsettled.iter_mut().for_each(|unsettled| unsettled.boots -= 1);
        for Unsettled { page, bits, .. } in due {
            let Some(cells) = self.page_cells(page).expect("the image file can be read") else { continue };
            let mut cells = Arc::unwrap_or_clone(cells);
            cells.bytes.iter_mut().zip(bits).for_each(|(byte, bits)| *byte ^= bits);
            self.put(page, cells).expect("the image file can be written");
        }
    }

    /// Notes which bits of a page that was torn change when the power comes on for the second time. `before` and
    /// `after` are its bytes, `wanted` those that the operation was to leave.
    fn unsettle(&mut self, page: PageAddress, tear: Tear, before: &[u8], after: &[u8], wanted: &[u8]) {
        let difference = |to: &[u8]| before.iter().zip(to).map(|(one, other)| one ^ other).collect::<Vec<u8>>();
        if let Some(bits) = tear.unsettled(&difference(wanted), &difference(after)) {
            self.unsettled.push(Unsettled { page, bits, boots: 2 });
        }
    }

    /// Where the last loss of power hit, and how; an erase is named by its block's first page.
    pub fn last_torn(&self) -> Option<(PageAddress, Tear)> {
        self.instrument.torn()
    }

    /// The bytes in a page's cells with its out-of-band area, uncounted, without bit errors, and with the power off,
    /// too. Unstable bits read as the tear left them.
    ///
    /// # Panics
    /// If there is no such page, or the image file cannot be read.
    pub fn peek(&self, page: PageAddress) -> Vec<u8> {
        assert!(self.spec.part.contains(page), "{page}");
        let cells = self.page_cells(page).expect("the image file can be read");
        cells.map_or_else(|| self.erased_register(), |cells| cells.bytes.clone())
    }

    /// Overwrites a page's cells as no part could: to damage what is on it. Does not change which pages may be
    /// programmed.
    ///
    /// # Panics
    /// If there is no such page, the range leaves it, or the image file cannot be written.
    pub fn poke(&mut self, page: PageAddress, column: Column, bytes: &[u8]) {
        let mut changed = self.peek(page);
        changed[usize::from(column.0)..][..bytes.len()].copy_from_slice(bytes);
        self.put(page, PageCells::programmed(changed, Tear::Complete)).expect("the image file can be written");
    }

    /// Flips different bits of a page's cells permanently, drawn from `seed`, as age and disturbance do.
    ///
    /// # Panics
    /// If there is no such page, or it has fewer bits.
    pub fn flip_bits(&mut self, page: PageAddress, bits: usize, seed: u64) {
        let mut changed = self.peek(page);
        let mut places: Vec<usize> = (0..8 * changed.len()).collect();
        fastrand::Rng::with_seed(seed).shuffle(&mut places);
        places[..bits].iter().for_each(|place| changed[place / 8] ^= 1 << (place % 8));
        self.poke(page, Column(0), &changed);
    }

    fn cells(&self, block: Block) -> &BlockCells {
        &self.blocks[usize::from(block.0)]
    }

    fn cells_mut(&mut self, block: Block) -> &mut BlockCells {
        Arc::make_mut(&mut self.blocks[usize::from(block.0)])
    }

    /// A page's cells, unless it is erased.
    fn page_cells(&self, page: PageAddress) -> Result<Option<Arc<PageCells>>, NandSimError> {
        let cells = self.cells(page.block);
        match (cells.place(page.page), &self.image) {
            (Place::Memory(cells), _) => Ok(Some(cells.clone())),
            (Place::File { .. }, Some(image)) => {
                image.read_page(page, cells.code(page.page)).map(|cells| Some(Arc::new(cells))).map_err(image_error)
            }
            _ => Ok(None),
        }
    }

    /// Puts a page's cells where they belong, and brings its block's record to the image file.
    fn put(&mut self, page: PageAddress, cells: PageCells) -> Result<(), NandSimError> {
        let place = match &self.image {
            Some(image) if image.is_written() => {
                image.save_page(page, &cells).map_err(image_error)?;
                Place::File { unstable: !cells.unstable.is_empty() }
            }
            _ => Place::Memory(Arc::new(cells)),
        };
        self.cells_mut(page.block).put(page.page, place);
        self.save_block(page.block)
    }

    /// Brings a block's record and the part's state to the image file.
    fn save_block(&mut self, block: Block) -> Result<(), NandSimError> {
        let state = self.instrument.state();
        let Some(image) = &self.image else { return Ok(()) };
        image.save_block(block.0, self.cells(block)).and_then(|()| image.save_state(&state)).map_err(image_error)
    }

    /// Leaves a block as an erase that was torn does.
    fn tear_erase(&mut self, block: Block, tear: Tear) -> Result<(), NandSimError> {
        let pages: Vec<u16> = self.cells(block).programmed().collect();
        let mut all = Vec::with_capacity(pages.len());
        for &page in &pages {
            all.extend(self.page_cells(block.page(page))?.map(Arc::unwrap_or_clone));
        }
        let before: Vec<Vec<u8>> = all.iter().map(|cells| cells.bytes.clone()).collect();
        cells::tear_erase(&mut all, tear);
        self.cells_mut(block).state.torn = true;
        self.unsettled.retain(|unsettled| unsettled.page.block != block);
        let erased = self.erased_register();
        for ((page, cells), before) in pages.into_iter().zip(all).zip(before) {
            self.unsettle(block.page(page), tear, &before, &cells.bytes, &erased);
            self.put(block.page(page), cells)?;
        }
        Ok(())
    }

    fn erased_register(&self) -> Vec<u8> {
        vec![0xFF; usize::from(self.spec.part.register_bytes())]
    }

    /// Counts a refused call.
    fn refuse<T>(&mut self, result: Result<T, NandSimError>) -> Result<T, NandSimError> {
        if result.as_ref().is_err_and(NandSimError::is_refusal) {
            self.instrument.refuse();
        }
        result
    }

    fn check_page(&self, page: PageAddress) -> Result<(), NandSimError> {
        let NandPart { block_count, pages_per_block, .. } = self.spec.part;
        match self.spec.part.contains(page) {
            _ if self.instrument.is_off() => Err(NandSimError::PowerLost),
            true => Ok(()),
            false => Err(NandSimError::NoSuchPage { page, block_count, pages_per_block }),
        }
    }

    /// The register's position, if `len` bytes from there, or from `column` on, lie within it.
    fn check_columns(&self, column: Option<Column>, len: usize) -> Result<u16, NandSimError> {
        if self.instrument.is_off() {
            return Err(NandSimError::PowerLost);
        }
        let position = self.register.as_ref().ok_or(NandSimError::NothingLoaded)?.position;
        let column = column.unwrap_or(Column(position));
        self.check_fits(column, len)?;
        if column.0 < position && self.spec.part.columns == ColumnAccess::Forwards {
            return Err(NandSimError::Backwards { column, position: Column(position) });
        }
        Ok(position)
    }

    fn check_fits(&self, column: Column, len: usize) -> Result<(), NandSimError> {
        let register_bytes = self.spec.part.register_bytes();
        match usize::from(column.0) + len > usize::from(register_bytes) {
            true => Err(NandSimError::OutOfRegister { column, len, register_bytes }),
            false => Ok(()),
        }
    }

    /// Refuses a program that the contract does not allow (step 1).
    fn check_program(&self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), NandSimError> {
        self.check_page(page)?;
        let mut end = 0;
        for piece in pieces {
            self.check_fits(piece.column, piece.bytes.len())?;
            if usize::from(piece.column.0) < end {
                return Err(NandSimError::PiecesOverlap { column: piece.column });
            }
            end = usize::from(piece.column.0) + piece.bytes.len();
        }
        let state = self.cells(page.block).state;
        if state.marked_bad {
            return Err(NandSimError::MarkedBad { block: page.block });
        }
        if state.torn {
            return Err(NandSimError::TornErase { page });
        }
        if page.page < state.next_page {
            return Err(NandSimError::OutOfOrder { page, next_page: state.next_page });
        }
        Ok(())
    }

    fn check_erase(&self, block: Block) -> Result<(), NandSimError> {
        let block_count = self.spec.part.block_count;
        if self.instrument.is_off() {
            return Err(NandSimError::PowerLost);
        }
        if block.0 >= block_count {
            return Err(NandSimError::NoSuchBlock { block, block_count });
        }
        if self.cells(block).state.marked_bad {
            return Err(NandSimError::MarkedBad { block });
        }
        Ok(())
    }

    /// Counts an operation of a call that is carried out, and its time (step 2).
    fn count(&mut self, ns: u64, count: impl FnOnce(&mut NandCounters)) {
        self.instrument.count(|counters| {
            count(counters);
            ns
        });
    }

    /// How the current operation ends (step 3). An erase takes place at its block's first page.
    fn advance(&mut self, place: PageAddress) -> Outcome {
        let number = self.operations();
        self.register = None;
        if let Some((_, tear)) = self.instrument.advance(1) {
            self.instrument.tear(place, tear);
            return Outcome::Cut(tear);
        }
        let planned = self.failures.contains(&number);
        self.failures.retain(|&at| at > number);
        let drawn = self.failures_per_million > 0 && self.random.u32(0..1_000_000) < self.failures_per_million;
        if planned || drawn || self.cells(place.block).state.failed {
            self.cells_mut(place.block).state.failed = true;
            return Outcome::Failed(failed_shape(number));
        }
        Outcome::Done
    }

    /// Programs `bytes`, of which `sent` were brought to the register (steps 2 to 4).
    fn program_bytes(&mut self, page: PageAddress, bytes: Vec<u8>) -> Result<(), NandSimError> {
        let outcome = self.advance(page);
        self.cells_mut(page.block).state.next_page = page.page + 1;
        let (tear, result) = match outcome {
            Outcome::Done => (Tear::Complete, Ok(())),
            Outcome::Cut(tear) => (tear, Err(NandSimError::PowerLost)),
            Outcome::Failed(tear) => (tear, Err(NandSimError::ProgramFailed { page })),
        };
        if let Tear::Late(_) | Tear::Returning(_) = tear {
            let after = PageCells::programmed(bytes.clone(), tear).bytes;
            self.unsettle(page, tear, &self.erased_register(), &after, &bytes);
        }
        self.put(page, PageCells::programmed(bytes, tear))?;
        result
    }
}

impl Drop for NandSim {
    fn drop(&mut self) {
        if let Some(image) = &self.image {
            // Loads since the last change are all that is lost if this fails.
            let _ = image.save_reads(&self.instrument.state());
        }
    }
}

/// What an operation that failed leaves: any shape.
fn failed_shape(number: u64) -> Tear {
    let seed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut random = fastrand::Rng::with_seed(seed);
    match random.u8(0..3) {
        0 => Tear::Wavering(seed),
        1 => Tear::Unstable(seed),
        _ => Tear::draw(&mut random),
    }
}

fn image_error(error: io::Error) -> NandSimError {
    NandSimError::Image(error.kind())
}

/// Puts pieces in place.
fn place(bytes: &mut [u8], pieces: &[Piece<'_>]) {
    for piece in pieces {
        bytes[usize::from(piece.column.0)..][..piece.bytes.len()].copy_from_slice(piece.bytes);
    }
}

/// Bytes of all pieces.
fn sent(pieces: &[Piece<'_>]) -> u16 {
    pieces.iter().map(|piece| piece.bytes.len() as u16).sum()
}

impl Nand for NandSim {
    type Error = NandSimError;

    fn part(&self) -> NandPart {
        self.spec.part
    }

    fn load(&mut self, page: PageAddress) -> Result<(), NandSimError> {
        let checked = self.check_page(page);
        self.refuse(checked)?;
        self.count(u64::from(self.spec.timings.load_ns), |counters| counters.loads += 1);
        let mut bytes = match self.page_cells(page)? {
            Some(cells) => cells.read(&mut self.random),
            None => self.erased_register(),
        };
        self.noise.apply(&self.spec.part, &mut bytes, &mut self.random);
        self.register = Some(Register { bytes, position: 0 });
        Ok(())
    }

    fn seek(&mut self, column: Column) -> Result<(), NandSimError> {
        let checked = self.check_columns(Some(column), 0);
        let position = self.refuse(checked)?;
        if self.spec.part.columns == ColumnAccess::Forwards {
            let skipped = u64::from(column.0 - position);
            self.count(u64::from(self.spec.timings.byte_ns) * skipped, |counters| counters.skipped_bytes += skipped);
        }
        self.register.as_mut().expect("checked").position = column.0;
        Ok(())
    }

    fn fetch(&mut self, buffer: &mut [u8]) -> Result<(), NandSimError> {
        let checked = self.check_columns(None, buffer.len());
        let position = usize::from(self.refuse(checked)?);
        let fetched = buffer.len() as u64;
        self.count(u64::from(self.spec.timings.byte_ns) * fetched, |counters| counters.fetched_bytes += fetched);
        let register = self.register.as_mut().expect("checked");
        buffer.copy_from_slice(&register.bytes[position..position + buffer.len()]);
        register.position += buffer.len() as u16;
        Ok(())
    }

    fn program(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), NandSimError> {
        let checked = self.check_program(page, pieces);
        self.refuse(checked)?;
        let mut bytes = self.erased_register();
        place(&mut bytes, pieces);
        self.count(self.spec.timings.write_ns(sent(pieces)), |counters| {
            counters.programs += 1;
            counters.sent_bytes += u64::from(sent(pieces));
        });
        self.program_bytes(page, bytes)
    }

    fn program_loaded(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), NandSimError> {
        let loaded = self.register.is_some() || self.instrument.is_off();
        let checked = if loaded { self.check_program(page, pieces) } else { Err(NandSimError::NothingLoaded) };
        self.refuse(checked)?;
        let mut bytes = self.register.take().expect("checked").bytes;
        place(&mut bytes, pieces);
        self.count(self.spec.timings.write_ns(sent(pieces)), |counters| {
            counters.copies += 1;
            counters.sent_bytes += u64::from(sent(pieces));
        });
        self.program_bytes(page, bytes)
    }

    fn erase(&mut self, block: Block) -> Result<(), NandSimError> {
        let checked = self.check_erase(block);
        self.refuse(checked)?;
        self.count(u64::from(self.spec.timings.erase_ns), |counters| counters.erases += 1);
        let erases = self.cells(block).state.erases;
        if self.endurance_erases.is_some_and(|endurance| erases >= endurance) {
            self.cells_mut(block).state.failed = true;
        }
        let result = match self.advance(block.page(0)) {
            Outcome::Failed(tear) => {
                self.tear_erase(block, tear)?;
                Err(NandSimError::EraseFailed { block, erases })
            }
            Outcome::Cut(tear) => {
                self.cells_mut(block).state.erases += 1;
                self.tear_erase(block, tear)?;
                Err(NandSimError::PowerLost)
            }
            Outcome::Done => {
                self.cells_mut(block).state.erases += 1;
                self.cells_mut(block).erase();
                self.unsettled.retain(|unsettled| unsettled.page.block != block);
                Ok(())
            }
        };
        self.save_block(block)?;
        result
    }

    fn restart(&mut self) -> Result<(), NandSimError> {
        self.register = None;
        if self.instrument.is_off() { Err(NandSimError::PowerLost) } else { Ok(()) }
    }
}
