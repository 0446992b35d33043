//! Loads, fetches, programs and erases that fail: no request is served with bytes that a failed call left, a pager over
//! an image that was rewritten serves the new one, and an image is written around every block that fails, its header's
//! included.

use norn_code_pager::policy::{Clock, Greedy, Lru, Policy, S3Fifo, Sieve};
use norn_code_pager::{
    BAD_BLOCKS_MAX, Code, CodeAddress, Crc32c, Image, ImageError, ImageWriter, Options, Pager, Passing, ReadAhead,
    ReadError, Room, Rooms, Standing, Uncoded,
};
use norn_flash::{Block, Column, ColumnAccess, Nand, NandError, NandErrorKind, NandPart, PageAddress, Piece};
use norn_flash_sim::{NandSim, NandSimError, Tear, nand_catalogue};

const ROOM: Room = Room { start: Block(1), blocks: 14 };

/// What goes wrong with a part, besides what a simulated part does by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Nothing,
    /// This number of loads goes through, the next one fails.
    Load(u32),
    /// This number of fetches goes through, the next one brings half of its bytes, and then rubbish, and fails.
    Fetch(u32),
    /// A program of this page leaves three of its bits unprogrammed, and says that it went well.
    Program(PageAddress),
    /// A program of this page says that the block has gone bad, and has yet taken full effect.
    Report(PageAddress),
    /// An erase of this block says that the block has gone bad, and leaves it as it is.
    Erase(Block),
}

#[derive(Clone, Copy, Debug)]
enum Call {
    Load,
    Fetch,
}

#[derive(Clone, Debug)]
struct Part {
    sim: NandSim,
    fault: Fault,
    /// Blocks that have been reported as gone bad, which the same call neither programs nor erases again.
    reported: Vec<Block>,
}

impl Part {
    fn new() -> Self {
        Part { sim: NandSim::new(nand_catalogue::test_part(16, 4, 512)), fault: Fault::Nothing, reported: Vec::new() }
    }

    fn report<T>(&mut self, block: Block, result: Result<T, NandSimError>) -> Result<T, NandSimError> {
        if result.as_ref().is_err_and(|error| error.kind() == NandErrorKind::BlockFailed) {
            self.reported.push(block);
        }
        result
    }

    /// Whether the call at hand is the one that is to fail.
    fn is_due(&mut self, call: Call) -> bool {
        let left = match (&mut self.fault, call) {
            (Fault::Load(left), Call::Load) | (Fault::Fetch(left), Call::Fetch) => left,
            _ => return false,
        };
        let is_due = *left == 0;
        *left = left.wrapping_sub(1);
        is_due
    }
}

impl Nand for Part {
    type Error = NandSimError;

    fn part(&self) -> NandPart {
        self.sim.part()
    }

    fn load(&mut self, page: PageAddress) -> Result<(), NandSimError> {
        if self.is_due(Call::Load) { Err(NandSimError::PowerLost) } else { self.sim.load(page) }
    }

    fn seek(&mut self, column: Column) -> Result<(), NandSimError> {
        self.sim.seek(column)
    }

    fn fetch(&mut self, buffer: &mut [u8]) -> Result<(), NandSimError> {
        self.sim.fetch(buffer)?;
        if self.is_due(Call::Fetch) {
            let half = buffer.len() / 2;
            buffer[half..].fill(0xA5);
            return Err(NandSimError::PowerLost);
        }
        Ok(())
    }

    fn program(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), NandSimError> {
        assert!(!self.reported.contains(&page.block), "{page} is programmed after its block has failed");
        if self.fault == Fault::Program(page) {
            self.fault = Fault::Nothing;
            let mut bytes = pieces[0].bytes.to_vec();
            bytes[..3].fill(0xFF);
            return self.sim.program(page, &[Piece::new(Column(0), &bytes)]);
        }
        let programmed = self.sim.program(page, pieces);
        self.report(page.block, programmed)?;
        if self.fault == Fault::Report(page) {
            self.fault = Fault::Nothing;
            return self.report(page.block, Err(NandSimError::ProgramFailed { page }));
        }
        Ok(())
    }

    fn program_loaded(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), NandSimError> {
        self.sim.program_loaded(page, pieces)
    }

    fn erase(&mut self, block: Block) -> Result<(), NandSimError> {
        assert!(!self.reported.contains(&block), "{block} is erased again after it has failed");
        let erased = match self.fault {
            Fault::Erase(failing) if failing == block => Err(NandSimError::EraseFailed { block, erases: 9 }),
            _ => self.sim.erase(block),
        };
        self.report(block, erased)
    }
}

fn code(bytes: usize, seed: u64) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..bytes).map(|_| random.u8(..)).collect()
}

fn write<C: Code>(part: &mut Part, image: &[u8]) -> Result<Image, ImageError<NandSimError>> {
    part.reported.clear();
    ImageWriter::<64, 512, C>::new().write(part, ROOM, image.len() as u32, &mut &*image)
}

/// The image on the part, read through a pager.
fn read<C: Code>(part: &Part) -> Result<Vec<u8>, ImageError<NandSimError>> {
    let mut pager: Pager<_, Lru<4>, 4, 64, C> = Pager::open(part.sim.clone(), ROOM.start, Options::default())?;
    let mut bytes = vec![0; pager.image().size_bytes() as usize];
    pager.read(CodeAddress(0), &mut bytes).expect("an image with a header is whole");
    Ok(bytes)
}

fn written<C: Code>(image: &[u8]) -> Part {
    let mut part = Part::new();
    write::<C>(&mut part, image).unwrap();
    part
}

/// Requests around a failure: says whether it hit one of them.
fn survives<P: Policy + Default, C: Code>(fault: Fault, options: Options, image: &[u8], seed: u64) -> bool {
    let mut pager: Pager<_, P, 8, 64, C> = Pager::open(written::<C>(image), ROOM.start, options).unwrap();
    let mut random = fastrand::Rng::with_seed(seed);
    let mut has_failed = false;
    for step in 0..60 {
        if step == 20 {
            // An empty cache, whose frames hold the bytes of before.
            pager.with_device(|part| part.fault = fault);
        }
        let at = random.usize(0..image.len().min(3000));
        let expected = &image[at..((at / 64 + 1) * 64).min(image.len())];
        let context = format!("{fault:?}, {options:?}, step {step}, seed {seed}");
        for _ in 0..2 {
            match pager.view(CodeAddress(at as u32)) {
                Ok(seen) => assert_eq!(seen, expected, "{context}"),
                Err(error) => {
                    assert!(matches!(error, ReadError::Device(_)) && !has_failed, "{error}, {context}");
                    has_failed = true;
                }
            }
        }
    }
    has_failed
}

#[test]
fn a_load_or_fetch_that_fails_leaves_no_bytes_to_serve() {
    let image = code(9_001, 1);
    let ahead = Options { read_ahead: ReadAhead::Always(2), passing: Passing::FillRemembered, ..Options::default() };
    let mut failed = 0;
    for nth in 0..40 {
        for fault in [Fault::Load(nth), Fault::Fetch(nth)] {
            for options in [Options::default(), ahead] {
                let seed = u64::from(nth);
                failed += u32::from(survives::<Lru<8>, Uncoded>(fault, options, &image, seed));
                failed += u32::from(survives::<Clock<8>, Uncoded>(fault, options, &image, seed));
                failed += u32::from(survives::<Sieve<8>, Uncoded>(fault, options, &image, seed));
                failed += u32::from(survives::<Greedy<8>, Uncoded>(fault, options, &image, seed));
                failed += u32::from(survives::<S3Fifo<8>, Uncoded>(fault, options, &image, seed));
                failed += u32::from(survives::<Lru<8>, Crc32c>(fault, options, &image, seed));
            }
        }
    }
    assert!(failed > 500, "{failed} of 960 failures hit a request");
}

#[test]
fn a_pager_over_an_image_that_was_rewritten_serves_the_new_one() {
    let (old, new) = (code(5_000, 2), code(7_001, 3));
    let mut pager: Pager<_, S3Fifo<8>, 8, 64> =
        Pager::open(written::<Uncoded>(&old), ROOM.start, Options::default()).unwrap();
    assert_eq!(pager.view(CodeAddress(0)).unwrap(), &old[..64]);
    pager.with_device(|part| write::<Uncoded>(part, &new)).unwrap();
    assert_eq!(pager.view(CodeAddress(0)).unwrap(), &new[..64], "what the cache holds is not the image's any more");

    // The new image has a bad block more, and is longer.
    pager.with_device(|part| {
        part.fault = Fault::Erase(Block(2));
        write::<Uncoded>(part, &new).unwrap();
        part.fault = Fault::Nothing;
    });
    pager.reopen().unwrap();
    let mut bytes = vec![0; new.len()];
    pager.read(CodeAddress(0), &mut bytes).unwrap();
    assert_eq!((bytes, pager.image().bad_blocks()), (new, &[Block(2)][..]));

    pager.with_device(|part| part.erase(Block(1))).unwrap();
    assert!(matches!(pager.reopen(), Err(ImageError::NoImage { .. })));
}

/// Blocks of an image of 9,000 bytes: a header, and five of 2,048.
#[test]
fn a_header_goes_to_the_next_good_block_where_its_own_fails() {
    let image = code(9_000, 4);
    for bad in [&[][..], &[Block(1)], &[Block(2)], &[Block(1), Block(3)], &[Block(2), Block(3), Block(7)]] {
        let mut blank = Part::new();
        blank.sim.mark_bad(bad);
        let mut counted = blank.clone();
        let header = write::<Crc32c>(&mut counted, &image).unwrap().header_page();
        let operations = counted.sim.operations();
        for failures in 1..4 {
            let mut part = blank.clone();
            // The header's program is the last operation of each attempt.
            part.sim.fail_after(operations - 1);
            (1..failures).for_each(|more| part.sim.fail_after(operations - 1 + more * 26));
            let image_at = write::<Crc32c>(&mut part, &image).unwrap_or_else(|error| panic!("{error}, {bad:?}"));
            assert!(image_at.header_page() > header, "{bad:?}");
            assert_eq!(read::<Crc32c>(&part).unwrap(), image, "{bad:?}");
            assert_eq!(part.sim.refusals(), 0, "a block that failed is left alone");
        }
    }
}

#[test]
fn a_header_that_does_not_read_back_is_none() {
    let image = code(9_000, 5);
    let mut part = Part::new();
    part.fault = Fault::Program(Block(1).page(0));
    let written = write::<Uncoded>(&mut part, &image).unwrap();
    assert_eq!((written.header_page().block, part.fault), (Block(2), Fault::Nothing));
    assert_eq!(read::<Uncoded>(&part).unwrap(), image);
}

#[test]
fn a_header_whose_program_failed_does_not_count_even_if_it_reads_as_whole() {
    let image = code(9_000, 10);
    let mut part = Part::new();
    part.fault = Fault::Report(Block(1).page(0));
    let written = write::<Uncoded>(&mut part, &image).unwrap();
    assert_eq!((written.header_page().block, part.fault), (Block(2), Fault::Nothing));
    assert_eq!(read::<Uncoded>(&part).unwrap(), image);
}

#[test]
fn a_header_in_a_block_that_cannot_be_erased_is_not_taken_for_the_new_one() {
    let (old, new) = (code(5_000, 6), code(9_000, 7));
    let mut part = written::<Uncoded>(&old);
    for _ in 0..2 {
        part.fault = Fault::Erase(Block(1));
        let written = write::<Uncoded>(&mut part, &new).unwrap();
        assert_eq!(written.header_page().block, Block(2));
        assert_eq!(read::<Uncoded>(&part).unwrap(), new, "the old header is on the part still, before the new one");
    }
}

#[test]
fn a_room_whose_first_blocks_are_all_bad_is_refused() {
    let image = code(100, 8);
    for count in 1..=BAD_BLOCKS_MAX as u16 + 1 {
        let mut part = Part::new();
        let bad: Vec<Block> = (0..count).map(|number| Block(ROOM.start.0 + number)).collect();
        part.sim.mark_bad(&bad);
        let written = write::<Uncoded>(&mut part, &image);
        if usize::from(count) <= BAD_BLOCKS_MAX {
            assert_eq!(written.unwrap().header_page().block, Block(ROOM.start.0 + count));
            assert_eq!(read::<Uncoded>(&part).unwrap(), image);
        } else {
            assert_eq!(written, Err(ImageError::TooManyBadBlocks { block: bad[BAD_BLOCKS_MAX] }));
        }
        assert_eq!(part.sim.refusals(), 0);
    }
}

#[test]
fn a_part_whose_position_goes_anywhere_serves_no_bytes_of_a_failed_fetch() {
    let image = code(3_000, 9);
    let mut spec = nand_catalogue::test_part(16, 4, 512);
    spec.part.columns = ColumnAccess::Anywhere;
    let mut part = Part { sim: NandSim::new(spec), fault: Fault::Nothing, reported: Vec::new() };
    write::<Uncoded>(&mut part, &image).unwrap();
    let mut pager: Pager<_, Lru<2>, 2, 64> = Pager::open(part, ROOM.start, Options::default()).unwrap();
    for nth in 0..20 {
        pager.with_device(|part| part.fault = Fault::Fetch(nth));
        for at in (0..640).rev().step_by(64) {
            for _ in 0..2 {
                if let Ok(seen) = pager.view(CodeAddress(at)) {
                    assert_eq!(seen, &image[at as usize..(at as usize / 64 + 1) * 64], "fetch {nth}");
                }
            }
        }
    }
}

/// The contract: a block of which a client knows that a program or an erase failed is neither programmed nor erased
/// again.
#[test]
fn a_block_that_has_failed_is_left_alone_by_the_call_that_knows() {
    const ROOMS: Rooms = Rooms::split(Room { start: Block(0), blocks: 16 });
    let code = [0x5A; 3_000];
    for failing in (0..9).map(Block) {
        for tears in 0..2 {
            let mut part = Part::new();
            part.sim.fail_block(failing);
            for update in 0..3 {
                // A cut that leaves the switch in doubt: the next call settles it, and then writes it again.
                if tears == 1 && update == 2 {
                    part.reported.clear();
                    part.sim.cut_power_after(2, Tear::Complete);
                    ROOMS.roll_back::<_, Crc32c>(&mut part, &mut [0; 64]).unwrap_err();
                    part.sim.power_on();
                }
                part.reported.clear();
                let mut writer = ImageWriter::<64, 512, Crc32c>::new();
                writer.update(&mut part, &ROOMS, 3_000, &mut &code[..], Standing::Confirmed).unwrap();
            }
        }
    }
}
