//! Damaged parts with programs in two rooms, and what a boot loader and an updater do with them.

use std::sync::LazyLock;

use norn_code_pager::policy::Lru;
use norn_code_pager::{CodeAddress, Crc32c, Header, ImageWriter, Options, Pager, Room, Rooms, Standing, Version};
use norn_flash::{Block, Column, PageAddress};
use norn_flash_sim::{NandSim, nand_catalogue};

use crate::heap_image::Choices;
use crate::within::expect_within;

const BLOCKS: u16 = 30;
const PAGES_PER_BLOCK: u16 = 4;
const ROOMS: Rooms = Rooms::split(Room { start: Block(0), blocks: BLOCKS });
const CACHE_PAGE_BYTES: usize = 64;
/// A loader that loads more pages than this has lost its bound.
const LOADS_MAX: u64 = 1_000_000;

fn update(part: &mut NandSim, patch: u32, standing: Standing) {
    let code: Vec<u8> = (0..2_000 + 10 * patch).map(|at| (at * 7 + patch) as u8).collect();
    let mut writer =
        ImageWriter::<CACHE_PAGE_BYTES, 512, Crc32c>::new().with_version(Version { major: 1, minor: 0, patch });
    expect_within(&writer.update(part, &ROOMS, code.len() as u32, &mut &code[..], standing));
}

/// Parts with one and two programs, confirmed and on trial, some with bad blocks.
static IMAGES: LazyLock<Vec<NandSim>> = LazyLock::new(|| {
    let mut images = Vec::new();
    for bad_blocks in [0, 3] {
        let mut part = NandSim::new(nand_catalogue::test_part(BLOCKS, PAGES_PER_BLOCK, 512));
        part.mark_random_bad(bad_blocks, 7);
        for patch in 1..5 {
            update(&mut part, patch, Standing::Confirmed);
            images.push(part.clone());
        }
        update(&mut part, 5, Standing::Trial { boots_left: 2 });
        images.push(part);
    }
    images
});

fn page(choices: &mut Choices<'_>) -> PageAddress {
    Block(choices.below(u32::from(BLOCKS)) as u16).page(choices.below(u32::from(PAGES_PER_BLOCK)) as u16)
}

fn damage(device: &mut NandSim, choices: &mut Choices<'_>) {
    let to = page(choices);
    let mut cells = device.peek(to);
    match choices.byte() % 3 {
        0 => {
            let at = choices.below(cells.len() as u32) as usize;
            cells[at] ^= 1 << (choices.byte() % 8);
        }
        // Headers and switches begin pages, and say how long and where programs are.
        1 => {
            let at = choices.below(64) as usize;
            cells[at..].iter_mut().take(4).for_each(|byte| *byte = choices.byte());
        }
        // A header or a switch of another place or time, whose code is right.
        _ => cells = device.peek(page(choices)),
    }
    device.poke(to, Column(0), &cells);
}

/// Damages a part as `bytes` say, and uses it.
///
/// # Panics
/// If the rooms or the pager panic, loop, or reach outside the part.
pub fn try_damaged(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let mut part = IMAGES[usize::from(choices.byte()) % IMAGES.len()].clone();
    for _ in 0..choices.byte() % 8 {
        damage(&mut part, &mut choices);
    }
    let loads = part.counters().loads;
    let mut cache_page = [0; CACHE_PAGE_BYTES];
    let status = ROOMS.status::<_, Crc32c>(&mut part, &mut cache_page);
    expect_within(&status);
    if let Ok(status) = status {
        status.a.iter().chain(&status.b).for_each(|header| read_all(&part, header));
    }
    let booted = ROOMS.boot::<_, Crc32c>(&mut part, &mut cache_page);
    expect_within(&booted);
    if let Ok(booted) = booted {
        read_all(&part, &booted.header);
    }
    match choices.byte() % 4 {
        0 => expect_within(&ROOMS.confirm(&mut part)),
        1 => expect_within(&ROOMS.roll_back::<_, Crc32c>(&mut part, &mut cache_page)),
        _ => update(&mut part, 9, Standing::Trial { boots_left: 1 }),
    }
    expect_within(&ROOMS.boot::<_, Crc32c>(&mut part, &mut cache_page));
    assert!(part.counters().loads - loads < LOADS_MAX, "no bound on loads");
}

/// Reads a program through a pager, whole.
fn read_all(part: &NandSim, header: &Header) {
    let (lru, options) = (Lru::default(), Options::default());
    let mut pager: Pager<_, Lru<4>, 4, CACHE_PAGE_BYTES, Crc32c> =
        Pager::over(part.clone(), header.image, lru, options, ());
    let bytes = header.image.size_bytes();
    assert!(
        bytes <= u32::from(BLOCKS) * u32::from(PAGES_PER_BLOCK) * 512,
        "a program of {bytes} bytes on a small part"
    );
    expect_within(&pager.read(CodeAddress(0), &mut vec![0; bytes as usize]));
}
