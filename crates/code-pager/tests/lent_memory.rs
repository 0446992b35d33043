//! A pager whose cache is in memory that its caller lends, of a shape that is known at run time, does what a pager does
//! that holds its cache itself: it delivers the same bytes and errors, counts the same, and asks the part for the same.
//! A writer of cache pages of a width that is known at run time writes the same image. Memory that is too small, and
//! shapes that cannot be, are refused with the numbers that do not fit, before the part is used.
//!
//! `SEED=n cargo test -p norn-code-pager --test suite lent_memory::` replays one seed.

use norn_code_pager::policy::{
    Clock, ClockIn, FrameTable, Greedy, GreedyIn, Lru, LruIn, Policy, PolicyIn, S3Fifo, S3FifoIn, Sieve, SieveIn,
};
use norn_code_pager::{
    Bypass, CacheMemory, CacheShape, Code, CodeAddress, Counts, Crc32c, Frames, Image, ImageError, ImageWriter,
    ImageWriterIn, LentFrames, LentPager, Options, Pager, PagerIn, Passing, ReadAhead, ReadError, Room, Uncoded,
};
use norn_flash::{Block, Column, ColumnAccess, Nand};
use norn_flash_sim::{NandSim, NandSimError, Noise, nand_catalogue};

const ROOM: Room = Room { start: Block(2), blocks: 20 };
/// How much longer than needed each piece of memory is.
const SURPLUS: usize = 3;

fn seeds() -> Vec<u64> {
    match std::env::var("SEED") {
        Ok(seed) => vec![seed.parse().expect("SEED is a number")],
        Err(_) => (0..3).collect(),
    }
}

fn replay(seed: u64) -> String {
    format!("SEED={seed} cargo test -p norn-code-pager --test suite lent_memory::")
}

fn part(columns: ColumnAccess) -> NandSim {
    let mut spec = nand_catalogue::test_part(24, 8, 512);
    spec.part.columns = columns;
    let mut part = NandSim::new(spec);
    part.mark_bad(&[Block(2), Block(4), Block(5)]);
    part
}

fn code(bytes: usize, seed: u64) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..bytes).map(|_| random.u8(..)).collect()
}

/// A part with an image. If there is a code to correct wrong bits, each load shows some, and a page has more of them
/// than the code corrects.
fn written<C: Code>(columns: ColumnAccess, page_bytes: u16, image: &[u8]) -> NandSim {
    let mut part = part(columns);
    let mut writer = ImageWriterIn::<_, C>::new(page_bytes.into(), vec![0; 512]);
    writer.write(&mut part, ROOM, image.len() as u32, &mut &*image).unwrap();
    if C::BYTES > 0 {
        let page = Block(6).page(2);
        let mut cells = part.peek(page)[..16].to_vec();
        [0, 7, 13].into_iter().for_each(|at| cells[at] ^= 4);
        part.poke(page, Column(0), &cells);
        part.set_noise(Noise { bits_max: 1, beyond_per_million: 0 });
    }
    part
}

/// Memory for a cache, longer than needed, and full of what was there before.
#[derive(Clone)]
struct Memory {
    frames: Vec<u8>,
    pages: Vec<u16>,
    marks: Vec<u8>,
}

impl Memory {
    fn of(shape: CacheShape, surplus: usize, random: &mut fastrand::Rng) -> Self {
        Memory {
            frames: (0..shape.frame_bytes() + surplus).map(|_| random.u8(..)).collect(),
            pages: (0..usize::from(shape.frames) + surplus).map(|_| random.u16(..)).collect(),
            marks: (0..shape.mark_bytes() + surplus).map(|_| random.u8(..)).collect(),
        }
    }

    fn lend(&mut self) -> CacheMemory<'_> {
        CacheMemory { frames: &mut self.frames, pages: &mut self.pages, marks: &mut self.marks }
    }

    /// What is after the memory that a cache of the shape needs.
    fn surplus(&self, shape: CacheShape) -> (&[u8], &[u16], &[u8]) {
        let pages = &self.pages[usize::from(shape.frames)..];
        (&self.frames[shape.frame_bytes()..], pages, &self.marks[shape.mark_bytes()..])
    }
}

/// Memory that one pager after the other gets: what the one left there is still in it for the next.
struct Memories {
    shape: CacheShape,
    before: Memory,
    lent: Memory,
}

impl Memories {
    fn of<const FRAMES: usize, const PAGE: usize>(seed: u64) -> Self {
        let shape = CacheShape { frames: FRAMES as u8, page_bytes: PAGE as u16 };
        let before = Memory::of(shape, SURPLUS, &mut fastrand::Rng::with_seed(seed));
        Memories { shape, lent: before.clone(), before }
    }

    fn lend(&mut self) -> &mut Memory {
        &mut self.lent
    }

    fn check_surplus(&self) {
        let (found, expected) = (self.lent.surplus(self.shape), self.before.surplus(self.shape));
        assert_eq!(found, expected, "memory after a cache of {:?} was written", self.shape);
    }
}

/// What a pager delivered, call by call.
type Delivered = Vec<Result<Vec<u8>, ReadError<NandSimError>>>;

/// Random views, reads and jumps.
fn work<P: Policy, F: Frames, C: Code>(
    pager: &mut PagerIn<NandSim, P, F, C, Counts>,
    image: &[u8],
    mut random: fastrand::Rng,
) -> Delivered {
    let mut at = 0;
    let mut delivered = Vec::new();
    for _ in 0..600 {
        at = match random.u8(0..10) {
            0..5 => (at + random.usize(0..200)) % image.len(),
            5..9 => random.usize(0..image.len().min(3000)),
            _ => random.usize(0..image.len()),
        };
        let address = CodeAddress(at as u32);
        delivered.push(if random.bool() {
            pager.view(address).map(<[u8]>::to_vec)
        } else {
            let mut seen = vec![0; random.usize(0..150.min(image.len() - at))];
            pager.read(address, &mut seen).map(|()| seen)
        });
        if let Some(Ok(seen)) = delivered.last() {
            assert_eq!(*seen, image[at..at + seen.len()], "not the image's bytes");
        }
    }
    delivered
}

/// What both forms run on.
struct Trial<'a> {
    columns: ColumnAccess,
    options: Options,
    image: &'a [u8],
    seed: u64,
}

impl Trial<'_> {
    /// The same work through a cache that a pager holds itself, and through one that is lent.
    fn is_the_same<'a, P, L, const FRAMES: usize, const PAGE: usize, C>(&self, memory: &'a mut Memory) -> Counts
    where
        P: Policy + Default,
        L: PolicyIn<&'a mut [u16], &'a mut [u8]>,
        C: Code,
    {
        let Trial { columns, options, image, seed } = *self;
        let context = format!("{FRAMES} frames of {PAGE}, {columns:?}, {options:?}; {}", replay(seed));
        let part = written::<C>(columns, PAGE as u16, image);
        let shape = CacheShape { frames: FRAMES as u8, page_bytes: PAGE as u16 };
        let mut own: Pager<_, P, FRAMES, PAGE, C, _> =
            Pager::open_with(part.clone(), ROOM.start, options, Counts::default()).unwrap();
        let mut lent: LentPager<_, L, C, _> =
            LentPager::open_in_with(part, ROOM.start, shape, memory.lend(), options, Counts::default()).unwrap();
        let random = fastrand::Rng::with_seed(seed);
        let expected = work(&mut own, image, random.clone());
        assert!(work(&mut lent, image, random) == expected, "{context}");
        let ((own, expected), (lent, counts)) = (own.into_parts(), lent.into_parts());
        assert_eq!(counts, expected, "{context}");
        assert_eq!(lent.counters(), own.counters(), "{context}");
        assert_eq!((lent.elapsed_ns(), lent.refusals()), (own.elapsed_ns(), 0), "{context}");
        counts
    }

    fn every_policy_is_the_same<const FRAMES: usize, const PAGE: usize>(&self) {
        let mut memory = Memories::of::<FRAMES, PAGE>(self.seed);
        self.is_the_same::<Lru<FRAMES>, LruIn<_, _>, FRAMES, PAGE, Uncoded>(memory.lend());
        self.is_the_same::<Clock<FRAMES>, ClockIn<_, _>, FRAMES, PAGE, Uncoded>(memory.lend());
        self.is_the_same::<Sieve<FRAMES>, SieveIn<_, _>, FRAMES, PAGE, Uncoded>(memory.lend());
        self.is_the_same::<Greedy<FRAMES>, GreedyIn<_, _>, FRAMES, PAGE, Uncoded>(memory.lend());
        self.is_the_same::<S3Fifo<FRAMES>, S3FifoIn<_, _>, FRAMES, PAGE, Uncoded>(memory.lend());
        memory.check_surplus();
    }

    fn corrected_pages_are_the_same<const FRAMES: usize, const PAGE: usize>(&self) {
        let mut memory = Memories::of::<FRAMES, PAGE>(self.seed);
        let counts = self.is_the_same::<S3Fifo<FRAMES>, S3FifoIn<_, _>, FRAMES, PAGE, Crc32c>(memory.lend());
        assert!(counts.corrected_bits > 0 && counts.hits > 0 && counts.misses > 0, "{counts:?}");
        memory.check_surplus();
    }
}

fn some_options() -> [Options; 4] {
    let plain = Options::default();
    [
        plain,
        Options { passing: Passing::FillRemembered, ..plain },
        Options { read_ahead: ReadAhead::Always(3), bypass: Bypass::Unremembered, ..plain },
        Options { read_ahead: ReadAhead::Remembered(7), passing: Passing::FillRemembered, ..plain },
    ]
}

#[test]
fn lent_memory_changes_nothing() {
    for seed in seeds() {
        let image = code(20_011, seed);
        for columns in [ColumnAccess::Forwards, ColumnAccess::Anywhere] {
            for options in some_options() {
                let trial = Trial { columns, options, image: &image, seed };
                trial.every_policy_is_the_same::<1, 64>();
                trial.every_policy_is_the_same::<33, 32>();
                trial.corrected_pages_are_the_same::<7, 64>();
                trial.corrected_pages_are_the_same::<64, 100>();
            }
        }
    }
}

/// A lent pager over `part`, opened and closed again.
fn open<C: Code>(
    part: &mut NandSim,
    shape: CacheShape,
    memory: CacheMemory<'_>,
) -> Result<(), ImageError<NandSimError>> {
    let opened: Result<LentPager<_, LruIn<_, _>, C>, _> =
        LentPager::open_in(part, ROOM.start, shape, memory, Options::default());
    opened.map(|_| ())
}

#[test]
fn too_little_memory_is_refused_with_both_numbers() {
    let image = code(3_000, 1);
    let mut random = fastrand::Rng::with_seed(1);
    for shape in [(1, 64), (5, 32), (128, 64)].map(|(frames, page_bytes)| CacheShape { frames, page_bytes }) {
        let mut part = written::<Uncoded>(ColumnAccess::Forwards, shape.page_bytes, &image);
        let (counters, frames) = (part.counters(), u32::from(shape.frames));
        let whole = Memory::of(shape, 0, &mut random);
        let [mut frames_short, mut pages_short, mut marks_short] = [(); 3].map(|()| whole.clone());
        frames_short.frames.pop();
        pages_short.pages.pop();
        marks_short.marks.pop();
        for (mut memory, what, needed) in [
            (frames_short, "bytes for frames", frames * u32::from(shape.page_bytes)),
            (pages_short, "numbers for pages in frames", frames),
            (marks_short, "bytes for marks of frames", 2 * frames),
        ] {
            let given = needed - 1;
            let refused = open::<Uncoded>(&mut part, shape, memory.lend()).unwrap_err();
            assert_eq!(refused, ImageError::TooSmall { what, needed, given });
            assert_eq!(refused.to_string(), format!("{needed} {what} needed, {given} given"));
        }
        assert_eq!(part.counters(), counters, "a part was used for which there is no memory");
        let bytes = whole.frames.len() + 2 * whole.pages.len() + whole.marks.len();
        assert_eq!(shape.memory_bytes(), bytes);
        open::<Uncoded>(&mut part, shape, whole.clone().lend()).unwrap();
    }
}

#[test]
fn shapes_that_cannot_be_are_refused_with_the_reason() {
    let image = code(3_000, 2);
    let mut part = written::<Uncoded>(ColumnAccess::Forwards, 64, &image);
    let mut memory = Memory::of(CacheShape { frames: 255, page_bytes: 512 }, 0, &mut fastrand::Rng::with_seed(2));
    let counters = part.counters();
    let mut refusal = |frames, page_bytes| {
        let shape = CacheShape { frames, page_bytes };
        let error = open::<Uncoded>(&mut part, shape, memory.lend()).unwrap_err();
        (error, part.counters().loads - counters.loads)
    };
    assert_eq!(refusal(0, 64), (ImageError::Frames { given: 0, max: 128 }, 0));
    assert_eq!(refusal(129, 64), (ImageError::Frames { given: 129, max: 128 }, 0));
    assert_eq!(refusal(129, 64).0.to_string(), "a cache of 129 frames: the policy takes 1 to 128");
    for cache_page_bytes in [0, 48, 96] {
        assert_eq!(refusal(9, cache_page_bytes), (ImageError::PageSize { cache_page_bytes, page_bytes: 512 }, 0));
    }
    for other in [32, 128, 512] {
        assert_eq!(refusal(9, other).0, ImageError::Layout { cache_page_bytes: 64, code_bytes: 0 });
    }
    let coded = open::<Crc32c>(&mut part, CacheShape { frames: 9, page_bytes: 64 }, memory.lend());
    assert_eq!(coded, Err(ImageError::Layout { cache_page_bytes: 64, code_bytes: 0 }));
    let small: Result<LentPager<_, S3FifoIn<_, _>>, _> = LentPager::open_in(
        &mut part,
        ROOM.start,
        CacheShape { frames: 65, page_bytes: 64 },
        memory.lend(),
        Options::default(),
    );
    assert_eq!(small.map(|_| ()), Err(ImageError::Frames { given: 65, max: 64 }));
}

#[test]
fn an_image_without_a_header_is_served_from_lent_memory() {
    let image = code(3_000, 3);
    let mut part = written::<Uncoded>(ColumnAccess::Forwards, 64, &image);
    let found = Image::find::<_, Uncoded>(&mut part, ROOM.start, 64).unwrap();
    let mut memory = Memory::of(CacheShape { frames: 9, page_bytes: 64 }, 0, &mut fastrand::Rng::with_seed(3));
    let mut over = |page_bytes| {
        let shape = CacheShape { frames: 9, page_bytes };
        let made: Result<LentPager<_, LruIn<_, _>>, _> =
            LentPager::over_in(part.clone(), found, shape, memory.lend(), Options::default(), ());
        made.map(|mut pager| pager.view(CodeAddress(700)).unwrap().to_vec())
    };
    assert_eq!(over(32), Err(ImageError::Layout { cache_page_bytes: 64, code_bytes: 0 }));
    assert_eq!(over(64).unwrap(), image[700..704]);
}

#[test]
#[should_panic(expected = "an image in cache pages of 64 bytes, frames of 32")]
fn frames_of_another_width_than_the_image_are_a_mistake() {
    let part = part(ColumnAccess::Forwards);
    let image = Image::without_bad_blocks::<Uncoded>(&part.part(), 64, Block(0), 1000).unwrap();
    let _: Pager<_, Lru<2>, 2, 32> = Pager::over(part, image, Lru::default(), Options::default(), ());
}

#[test]
#[should_panic(expected = "lanes of different lengths")]
fn lanes_of_different_lengths_are_a_mistake() {
    let _ = SieveIn::over(FrameTable { pages: vec![0; 9], bytes: [vec![0; 9], vec![0; 8]] });
}

#[test]
fn widths_at_run_time_change_nothing_in_an_image() {
    fn check<C: Code, const PAGE: usize>() {
        let image = code(9_001, PAGE as u64);
        let (mut own, mut by_width) = (part(ColumnAccess::Forwards), part(ColumnAccess::Forwards));
        let expected = ImageWriter::<PAGE, 512, C>::new().write(&mut own, ROOM, 9_001, &mut &image[..]).unwrap();
        let mut page = vec![0xA5; 512 + SURPLUS];
        let mut writer: ImageWriterIn<_, C> = ImageWriterIn::new(PAGE, &mut page[..]);
        assert_eq!(writer.write(&mut by_width, ROOM, 9_001, &mut &image[..]), Ok(expected));
        assert_eq!(by_width.counters(), own.counters());
        for page in own.part().blocks().flat_map(|block| (0..8).map(move |page| block.page(page))) {
            assert!(by_width.peek(page) == own.peek(page), "{page}");
        }
    }
    check::<Uncoded, 32>();
    check::<Uncoded, 512>();
    check::<Crc32c, 64>();
    check::<Crc32c, 100>();
}

#[test]
fn a_page_in_too_little_memory_is_refused_with_both_numbers() {
    let mut part = part(ColumnAccess::Forwards);
    let mut short = vec![0; 511];
    let counters = part.counters();
    let mut writer: ImageWriterIn<_> = ImageWriterIn::new(64, &mut short[..]);
    let refused = writer.write(&mut part, ROOM, 100, &mut &[7; 100][..]);
    let what = "bytes for a page of the part";
    assert_eq!(refused, Err(ImageError::TooSmall { what, needed: 512, given: 511 }));
    assert_eq!(part.counters(), counters, "a part was used for which there is no memory");
}

/// The memory that a lent pager takes itself is that of its parts of fixed size and of its slices, whatever the shape.
#[test]
fn a_lent_pager_takes_few_bytes_itself() {
    fn bytes<P>() -> usize {
        size_of::<PagerIn<NandSim, P, LentFrames<'_>>>() - size_of::<NandSim>()
    }
    type Pages<'a> = &'a mut [u16];
    type Marks<'a> = &'a mut [u8];
    let all = [
        bytes::<LruIn<Pages<'_>, Marks<'_>>>(),
        bytes::<ClockIn<Pages<'_>, Marks<'_>>>(),
        bytes::<SieveIn<Pages<'_>, Marks<'_>>>(),
        bytes::<GreedyIn<Pages<'_>, Marks<'_>>>(),
        bytes::<S3FifoIn<Pages<'_>, Marks<'_>>>(),
    ];
    let slices = 4 * size_of::<&[u8]>();
    assert!(all.iter().all(|&bytes| bytes <= 80 + slices), "{all:?}");
}
