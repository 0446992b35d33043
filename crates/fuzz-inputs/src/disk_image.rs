//! Damaged images of block devices on NAND, and what a client does with them.
//!
//! Much of the damage is pages whose codes are right, which is what gets past the first line of checks.

use std::sync::LazyLock;

use norn_flash::{Block, Column, Nand, PageAddress};
use norn_flash_sim::{NandSim, Tear, nand_catalogue};
use norn_nand_ftl::{Ftl, FtlConfig, Lba};

use crate::heap_image::Choices;
use crate::within::expect_within;

const BLOCKS: u16 = 24;
const PAGES_PER_BLOCK: u16 = 8;
const PAGE_BYTES: usize = 512;
/// The byte of the out-of-band area that marks bad blocks, which records leave out.
const MARK: usize = PAGE_BYTES + 5;
const LOGICAL_PAGES: u32 = 70;
/// Bytes of a page's tag, and of these the ones that its check covers besides the data.
const TAG_BYTES: usize = 13;
const CHECKED_TAG_BYTES: usize = 9;
/// A client that loads more pages than this has lost its bound.
const LOADS_MAX: u64 = 2_000_000;

type SimFtl = Ftl<NandSim, Vec<u8>>;

fn memory() -> Vec<u8> {
    let part = nand_catalogue::test_part(BLOCKS, PAGES_PER_BLOCK, PAGE_BYTES as u16).part;
    vec![0; SimFtl::memory_bytes(&part, LOGICAL_PAGES)]
}

/// Devices with some history, most of which end in a call that was cut.
static IMAGES: LazyLock<Vec<NandSim>> = LazyLock::new(|| {
    let mut part = NandSim::new(nand_catalogue::test_part(BLOCKS, PAGES_PER_BLOCK, PAGE_BYTES as u16));
    part.mark_random_bad(2, 2006);
    let mut ftl = SimFtl::format(part, memory(), FtlConfig { logical_pages: LOGICAL_PAGES }).expect("suitable");
    let mut images = vec![ftl.device().clone()];
    for round in 0..4_u8 {
        for number in 0..150_u32 {
            ftl.write(Lba(number * 7 % LOGICAL_PAGES), &[round + number as u8; PAGE_BYTES]).expect("room");
        }
        ftl.trim(Lba(u32::from(round) * 9), 5).expect("they are there");
        images.push(ftl.device().clone());
        let mut cut = ftl.clone();
        cut.device_mut().cut_power_after(3 + u64::from(round), Tear::Nothing);
        for number in 0..20 {
            let _ = cut.write(Lba(number), &[9; PAGE_BYTES]);
        }
        let mut device = cut.into_device();
        device.power_on();
        images.push(device);
        ftl.flush().expect("the part does not fail");
    }
    expect_our_codes(&ftl.into_device());
    images
});

/// A page that was written has the codes that [`recode`] gives it: else no damage would get past the checks.
fn expect_our_codes(device: &NandSim) {
    let pages = device.pages().map(|page| device.peek(page));
    let written: Vec<Vec<u8>> = pages.filter(|cells| cells[PAGE_BYTES] != 0xFF && cells[MARK] == 0xFF).collect();
    for cells in &written {
        let mut recoded = cells.clone();
        recode(&mut recoded);
        assert!(recoded == *cells, "a page has other codes");
    }
    assert!(written.len() > 50, "{} pages", written.len());
}

/// The columns of a page's tag and code.
fn columns() -> impl Iterator<Item = usize> {
    (PAGE_BYTES..).filter(|&column| column != MARK)
}

fn crc32(bytes: impl Iterator<Item = u8>) -> u32 {
    let shifted = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
    !bytes.fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| shifted(crc)))
}

/// The code of a word: the numbers of all ones, and their parity.
fn code_of(bytes: impl Iterator<Item = u8>) -> u16 {
    let ones = bytes.enumerate().flat_map(|(at, byte)| {
        (0..8).filter(move |bit| byte >> bit & 1 == 1).map(move |bit| 8 * (at as u16 + 1) + bit)
    });
    ones.fold(0, |code, number| (code ^ 0x8000) ^ number)
}

/// Makes the check and the code of a page right, whatever is in it.
fn recode(page: &mut [u8]) {
    let tag = |page: &[u8], count: usize| columns().take(count).map(|column| page[column]).collect::<Vec<_>>();
    let checked = tag(page, CHECKED_TAG_BYTES);
    let check = crc32(page[..PAGE_BYTES].iter().copied().chain(checked));
    for (column, byte) in columns().skip(CHECKED_TAG_BYTES).zip(check.to_le_bytes()) {
        page[column] = byte;
    }
    let tag = tag(page, TAG_BYTES);
    let code = code_of(page[..PAGE_BYTES].iter().copied().chain(tag));
    for (column, byte) in columns().skip(TAG_BYTES).zip(code.to_le_bytes()) {
        page[column] = byte;
    }
}

fn page(choices: &mut Choices<'_>) -> PageAddress {
    Block(choices.below(u32::from(BLOCKS)) as u16).page(choices.below(u32::from(PAGES_PER_BLOCK)) as u16)
}

fn damage(device: &mut NandSim, choices: &mut Choices<'_>) {
    let to = page(choices);
    let mut cells = device.peek(to);
    match choices.byte() % 4 {
        // Some bytes, of which the codes notice.
        0 => {
            let at = choices.below(cells.len() as u32) as usize;
            cells[at..].iter_mut().take(8).for_each(|byte| *byte = choices.byte());
        }
        1 => cells = device.peek(page(choices)),
        // Data or tag, with codes that are right.
        2 => {
            let at = choices.below(PAGE_BYTES as u32) as usize;
            cells[at..PAGE_BYTES].iter_mut().take(8).for_each(|byte| *byte = choices.byte());
            recode(&mut cells);
        }
        _ => {
            let column = columns().nth(choices.below(CHECKED_TAG_BYTES as u32) as usize).expect("a page has more");
            cells[column] = choices.byte();
            recode(&mut cells);
        }
    }
    device.poke(to, Column(0), &cells);
}

/// Damages an image as `bytes` say, and uses it if it mounts.
///
/// # Panics
/// If the device panics, loops, or reaches outside the part.
pub fn try_damaged(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let mut device = IMAGES[usize::from(choices.byte()) % IMAGES.len()].clone();
    for _ in 0..choices.byte() % 8 {
        damage(&mut device, &mut choices);
    }
    let loads = device.counters().loads;
    let mounted = SimFtl::mount(device, memory());
    expect_within(&mounted);
    let Ok(mut ftl) = mounted else { return };
    expect_within(&ftl.audit(&[]));
    use_it(&mut ftl, &mut choices);
    expect_within(&ftl.audit(&[]));
    assert!(ftl.device().counters().loads - loads < LOADS_MAX, "no bound on loads");
}

/// Reads everything, then writes and trims.
fn use_it(ftl: &mut SimFtl, choices: &mut Choices<'_>) {
    let pages = ftl.logical_pages();
    let mut data = vec![0; usize::from(Nand::part(ftl.device()).page_bytes)];
    (0..pages).for_each(|lba| expect_within(&ftl.read(Lba(lba), &mut data)));
    for _ in 0..30 + choices.byte() % 100 {
        let lba = Lba(choices.below(pages));
        expect_within(&if choices.byte() % 8 == 1 { ftl.trim(lba, 1) } else { ftl.write(lba, &data) });
    }
    expect_within(&ftl.recycle());
    expect_within(&ftl.flush());
}
