//! Every policy, with every option and on parts of both column kinds, delivers the image's bytes and nothing else;
//! loads happen when the paper's three cases say so; look-ups stay within their bound; wrong bits are corrected or
//! refused.

use norn_code_pager::policy::{Clock, Greedy, Lru, Policy, S3Fifo, Sieve};
use norn_code_pager::{
    Bypass, CachePage, Code, CodeAddress, Counts, Crc32c, ImageWriter, Options, Pager, Passing, ReadAhead, ReadError,
    Room, Uncoded,
};
use norn_flash::{Block, Column, ColumnAccess, Nand};
use norn_flash_sim::{NandSim, NandSpec, Noise, nand_catalogue};

const START: Block = Block(2);

fn part(columns: ColumnAccess) -> NandSpec {
    let mut spec = nand_catalogue::test_part(24, 8, 512);
    spec.part.columns = columns;
    spec
}

fn code(bytes: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(7);
    (0..bytes).map(|_| random.u8(..)).collect()
}

/// A part with an image in cache pages of 64 bytes.
fn written<C: Code>(spec: NandSpec, image: &[u8]) -> NandSim {
    let mut part = NandSim::new(spec);
    part.mark_bad(&[Block(2), Block(4), Block(5)]);
    let mut writer = ImageWriter::<64, 512, C>::new();
    writer.write(&mut part, Room { start: START, blocks: 20 }, image.len() as u32, &mut &*image).unwrap();
    part
}

fn every_option() -> Vec<Options> {
    let mut all = Vec::new();
    for read_ahead in [ReadAhead::None, ReadAhead::Always(1), ReadAhead::Always(9), ReadAhead::Remembered(7)] {
        for passing in [Passing::Skip, Passing::FillRemembered] {
            for bypass in [Bypass::Never, Bypass::Unremembered] {
                all.push(Options { read_ahead, passing, bypass });
            }
        }
    }
    all
}

/// Random reads, views and jumps against the image itself; says what was counted.
fn delivers<P: Policy + Default, const FRAMES: usize, C: Code>(
    spec: &NandSpec,
    image: &[u8],
    options: Options,
    seed: u64,
) -> Counts {
    let mut pager: Pager<_, P, FRAMES, 64, C, _> =
        Pager::open_with(written::<C>(spec.clone(), image), START, options, Counts::default()).unwrap();
    let mut random = fastrand::Rng::with_seed(seed);
    let mut at = 0;
    for step in 0..3000 {
        at = match random.u8(0..10) {
            0..5 => (at + random.usize(0..200)) % image.len(),
            5..9 => random.usize(0..image.len().min(3000)),
            _ => random.usize(0..image.len()),
        };
        if random.bool() {
            let seen = pager.view(CodeAddress(at as u32)).unwrap();
            let end = ((at / 64 + 1) * 64).min(image.len());
            assert_eq!(seen, &image[at..end], "seed {seed}, step {step}, {options:?}");
        } else {
            let len = random.usize(0..150.min(image.len() - at));
            let mut seen = vec![0; len];
            pager.read(CodeAddress(at as u32), &mut seen).unwrap();
            assert_eq!(seen, image[at..at + len], "seed {seed}, step {step}, {options:?}");
        }
    }
    let (part, counts) = pager.into_parts();
    assert_eq!(part.refusals(), 0, "the pager keeps the part's contract");
    counts
}

fn every_policy<const FRAMES: usize>(spec: &NandSpec, image: &[u8], options: Options, seed: u64) -> Vec<Counts> {
    vec![
        delivers::<Lru<FRAMES>, FRAMES, Uncoded>(spec, image, options, seed),
        delivers::<Clock<FRAMES>, FRAMES, Uncoded>(spec, image, options, seed),
        delivers::<Sieve<FRAMES>, FRAMES, Uncoded>(spec, image, options, seed),
        delivers::<Greedy<FRAMES>, FRAMES, Uncoded>(spec, image, options, seed),
        delivers::<S3Fifo<FRAMES>, FRAMES, Uncoded>(spec, image, options, seed),
        delivers::<S3Fifo<FRAMES>, FRAMES, Crc32c>(spec, image, options, seed),
    ]
}

#[test]
fn every_policy_delivers_the_image_with_every_option() {
    let image = code(20_011);
    for columns in [ColumnAccess::Forwards, ColumnAccess::Anywhere] {
        for (seed, options) in (0..).zip(every_option()) {
            let counts = [
                every_policy::<1>(&part(columns), &image, options, seed),
                every_policy::<2>(&part(columns), &image, options, seed),
                every_policy::<33>(&part(columns), &image, options, seed),
                every_policy::<64>(&part(columns), &image, options, seed),
            ];
            for (frames, counts) in [1, 2, 33, 64].into_iter().zip(&counts) {
                assert!(counts.iter().all(|counts| counts.comparisons_max <= frames && counts.look_ups() > 1000));
                let early = counts.iter().any(|counts| counts.filled_early > 0);
                assert!(
                    early
                        || options.read_ahead == ReadAhead::None
                        || matches!(options.read_ahead, ReadAhead::Remembered(_))
                );
            }
            let bypassed = counts[3].iter().any(|counts| counts.bypassed > 0);
            assert_eq!(bypassed, options.bypass == Bypass::Unremembered);
        }
    }
}

#[test]
fn the_register_is_loaded_in_the_papers_three_cases() {
    let image = code(4096);
    let mut part = NandSim::new(nand_catalogue::k9f1208q0b(nand_catalogue::Bus::Mhz33Bits8));
    let room = Room { start: Block(0), blocks: 3 };
    ImageWriter::<64, 512>::new().write(&mut part, room, 4096, &mut &image[..]).unwrap();
    let mut pager: Pager<_, Lru<2>, 2, 64> = Pager::open(part, Block(0), Options::default()).unwrap();
    let mut cost = |address: u32| {
        let before = (pager.device().counters(), pager.device().elapsed_ns());
        pager.view(CodeAddress(address)).unwrap();
        let after = (pager.device().counters(), pager.device().elapsed_ns());
        let counters = after.0 - before.0;
        (counters.loads, counters.skipped_bytes, counters.fetched_bytes, after.1 - before.1)
    };
    assert_eq!(cost(2 * 64), (1, 128, 64, 15_000 + 192 * 50), "another page");
    assert_eq!(cost(5 * 64 + 3), (0, 128, 64, 192 * 50), "further on in the same page");
    assert_eq!(cost(5 * 64), (0, 0, 0, 0), "in the cache");
    assert_eq!(cost(6 * 64), (0, 0, 64, 64 * 50), "the next block");
    assert_eq!(cost(64), (1, 64, 64, 15_000 + 128 * 50), "behind in the same page");
    assert_eq!(cost(512), (1, 0, 64, 15_000 + 64 * 50), "another page again");
}

/// Of the pages that a transfer passes over, those that the policy remembers come into the cache: only where the
/// register cannot be positioned, so that they are transferred anyway.
#[test]
fn pages_that_are_passed_over_are_kept_if_they_are_remembered() {
    let image = code(8192);
    let comes_along = |passing: Passing, columns: ColumnAccess| {
        let options = Options { passing, ..Options::default() };
        let mut pager: Pager<_, S3Fifo<8>, 8, 64, Uncoded, _> =
            Pager::open_with(written::<Uncoded>(part(columns), &image), START, options, Counts::default()).unwrap();
        // Page 1 leaves the queue of new pages without a second request, and is remembered.
        for page in [1, 8, 16, 24, 32] {
            pager.view(CodeAddress(page * 64)).unwrap();
        }
        assert!(pager.policy().remembers(CachePage(1)) && !pager.policy().holds(CachePage(1)));
        pager.view(CodeAddress(3 * 64)).unwrap();
        assert!(!pager.policy().holds(CachePage(0)) && !pager.policy().holds(CachePage(2)), "they are not remembered");
        assert_eq!(pager.view(CodeAddress(64)).unwrap(), &image[64..128]);
        pager.observer().misses == 6
    };
    assert!(comes_along(Passing::FillRemembered, ColumnAccess::Forwards));
    assert!(!comes_along(Passing::FillRemembered, ColumnAccess::Anywhere));
    assert!(!comes_along(Passing::Skip, ColumnAccess::Forwards));
}

#[test]
fn a_wrong_bit_is_corrected_and_more_are_refused() {
    let image = code(10_000);
    let mut part = written::<Crc32c>(part(ColumnAccess::Forwards), &image);
    part.set_noise(Noise { bits_max: 1, beyond_per_million: 0 });
    let mut pager: Pager<_, S3Fifo<8>, 8, 64, Crc32c, _> =
        Pager::open_with(part, START, Options::default(), Counts::default()).unwrap();
    let mut bytes = [0; 64];
    for round in 0..5 {
        for at in (0..image.len() - 64).step_by(64) {
            pager.read(CodeAddress(at as u32), &mut bytes).unwrap();
            assert_eq!(bytes, image[at..at + 64], "round {round}");
        }
    }
    assert!(pager.observer().corrected_bits > 20);

    // Two to four bits of one cache page, for good: an error that names it, and its neighbours stay readable.
    let (mut part, _) = pager.into_parts();
    part.set_noise(Noise::default());
    let page = Block(6).page(2);
    for bits in 2..5u8 {
        let mut damaged = part.clone();
        let mut cells = damaged.peek(page)[68..136].to_vec();
        (0..bits).for_each(|bit| cells[usize::from(bit) * 13] ^= 1 << bit);
        damaged.poke(page, Column(68), &cells);
        let mut pager: Pager<_, Lru<8>, 8, 64, Crc32c> = Pager::open(damaged, START, Options::default()).unwrap();
        let address = CodeAddress((2 * 7 + 1) * 64);
        for _ in 0..3 {
            assert_eq!(pager.view(address).unwrap_err(), ReadError::Uncorrectable { address });
        }
        for neighbour in [14, 16u32] {
            let at = neighbour as usize * 64;
            assert_eq!(pager.view(CodeAddress(neighbour * 64)).unwrap(), &image[at..at + 64]);
        }
    }
}

#[test]
fn a_device_that_fails_leaves_no_wrong_bytes() {
    let image = code(10_000);
    let part = written::<Uncoded>(part(ColumnAccess::Forwards), &image);
    let mut pager: Pager<_, S3Fifo<8>, 8, 64> = Pager::open(part, START, Options::default()).unwrap();
    pager.view(CodeAddress(0)).unwrap();
    pager.with_device(|device| {
        device.cut_power_after(0, norn_flash_sim::Tear::Nothing);
        device.erase(Block(23)).unwrap_err();
    });
    for _ in 0..20 {
        assert!(matches!(pager.view(CodeAddress(640)), Err(ReadError::Device(_))));
    }
    pager.with_device(NandSim::power_on);
    assert_eq!(pager.view(CodeAddress(640)).unwrap(), &image[640..704]);
}

#[test]
fn ranges_outside_the_image_are_refused() {
    let image = code(1000);
    let part = written::<Uncoded>(part(ColumnAccess::Forwards), &image);
    let mut pager: Pager<_, Lru<8>, 8, 64> = Pager::open(part, START, Options::default()).unwrap();
    assert_eq!(pager.view(CodeAddress(999)).unwrap(), &image[999..]);
    for (address, len) in [(1000, 1), (u32::MAX, 1), (990, 11)] {
        let refused = ReadError::OutOfImage { address: CodeAddress(address), len, image_bytes: 1000 };
        assert_eq!(pager.read(CodeAddress(address), &mut vec![0; len]), Err(refused.clone()));
        assert_eq!(refused.to_string(), format!("{len} bytes at code {address:#07x} leave the image of 1000 bytes"));
    }
    assert!(pager.view(CodeAddress(1000)).is_err());
    pager.read(CodeAddress(1000), &mut []).unwrap();
}

#[test]
fn s3_fifo_keeps_what_is_requested_again_through_a_scan() {
    let image = code(20_000);
    let mut pager: Pager<_, S3Fifo<32>, 32, 64, Uncoded, _> = Pager::open_with(
        written::<Uncoded>(part(ColumnAccess::Forwards), &image),
        START,
        Options::default(),
        Counts::default(),
    )
    .unwrap();
    let hot: Vec<u32> = (0..20).map(|page| page * 64).collect();
    for _ in 0..5 {
        hot.iter().for_each(|&at| assert!(pager.view(CodeAddress(at)).is_ok()));
    }
    (100..300).for_each(|page| assert!(pager.view(CodeAddress(page * 64)).is_ok()));
    let before = pager.observer().hits;
    hot.iter().for_each(|&at| assert!(pager.view(CodeAddress(at)).is_ok()));
    assert!(pager.observer().hits - before >= 18, "{} of 20", pager.observer().hits - before);
}

/// Hits of reading forty pages in sequence, ten times, in a cache of sixteen.
fn hits_of_rounds<P: Policy + Default>(image: &[u8]) -> u64 {
    let part = written::<Uncoded>(part(ColumnAccess::Forwards), image);
    let mut pager: Pager<_, P, 16, 64, Uncoded, _> =
        Pager::open_with(part, START, Options::default(), Counts::default()).unwrap();
    for _ in 0..10 {
        (0..40).for_each(|page| assert!(pager.view(CodeAddress(page * 64)).is_ok()));
    }
    pager.observer().hits
}

#[test]
fn greedy_keeps_some_of_a_row_longer_than_the_cache() {
    let image = code(40 * 64);
    assert_eq!(hits_of_rounds::<Lru<16>>(&image), 0);
    let hits = hits_of_rounds::<Greedy<16>>(&image);
    assert!(hits > 90, "{hits} of 360 requests after the first round");
}
