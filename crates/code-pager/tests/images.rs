//! Images are written around bad blocks and blocks that fail; a cut at any operation leaves the whole image or none;
//! what is not an image of this layout, or does not fit, is refused with the reason, and nothing that a part may hold
//! makes a pager panic.

use norn_code_pager::policy::Lru;
use norn_code_pager::{
    BAD_BLOCKS_MAX, Code, CodeAddress, Crc32c, Header, Image, ImageError, ImageWriter, Options, Pager, Room, Uncoded,
    Version,
};
use norn_flash::{Block, Column, Nand};
use norn_flash_sim::{NandSim, NandSimError, Noise, Tear, nand_catalogue};

const ROOM: Room = Room { start: Block(1), blocks: 14 };

fn part() -> NandSim {
    NandSim::new(nand_catalogue::test_part(16, 4, 512))
}

fn code(bytes: usize, seed: u64) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..bytes).map(|_| random.u8(..)).collect()
}

fn write<C: Code>(part: &mut NandSim, image: &[u8]) -> Result<Image, ImageError<NandSimError>> {
    ImageWriter::<64, 512, C>::new().write(part, ROOM, image.len() as u32, &mut &*image)
}

/// The image on the part, read through a pager.
fn read<C: Code>(part: &NandSim) -> Result<Vec<u8>, ImageError<NandSimError>> {
    let mut pager: Pager<_, Lru<4>, 4, 64, C> = Pager::open(part.clone(), ROOM.start, Options::default())?;
    let mut bytes = vec![0; pager.image().size_bytes() as usize];
    pager.read(CodeAddress(0), &mut bytes).expect("an image with a header is whole");
    Ok(bytes)
}

/// Checks the whole image on the part.
fn verify<C: Code>(part: &mut NandSim) -> Result<(), ImageError<NandSimError>> {
    Header::find::<_, C>(part, ROOM.start, 64)?.verify::<_, C>(part, &mut [0; 64])
}

#[test]
fn images_go_around_every_set_of_bad_blocks() {
    let image = code(9_000, 1);
    for set in 0..1u32 << 8 {
        let mut part = part();
        let bad: Vec<Block> = (0..8).filter(|bit| set >> bit & 1 == 1).map(|bit| Block(bit + 1)).collect();
        part.mark_bad(&bad);
        let written = write::<Uncoded>(&mut part, &image).unwrap();
        assert!(written.bad_blocks().iter().all(|block| bad.contains(block)), "set {set:#b}");
        assert_eq!(read::<Uncoded>(&part).unwrap(), image, "set {set:#b}");
        assert_eq!(part.refusals(), 0);
    }
}

#[test]
fn blocks_that_fail_while_they_are_written_are_left_out() {
    let image = code(9_000, 2);
    for operation in 0..60 {
        let mut part = part();
        part.fail_after(operation);
        write::<Crc32c>(&mut part, &image).unwrap_or_else(|error| panic!("failure at operation {operation}: {error}"));
        assert_eq!(read::<Crc32c>(&part).unwrap(), image, "failure at operation {operation}");
        assert_eq!(verify::<Crc32c>(&mut part), Ok(()), "failure at operation {operation}");
        assert_eq!(part.refusals(), 0);
    }
}

#[test]
fn a_cut_at_any_operation_leaves_the_whole_image_or_none() {
    let (old, new) = (code(7_000, 3), code(9_000, 4));
    let mut before = part();
    before.mark_bad(&[Block(1), Block(3)]);
    write::<Uncoded>(&mut before, &old).unwrap();
    let mut seen = [0; 3];
    for seed in 0..9 {
        let tear = Tear::draw(&mut fastrand::Rng::with_seed(seed));
        for cut in 0.. {
            let mut part = before.clone();
            part.cut_power_after(cut, tear);
            let result = write::<Uncoded>(&mut part, &new);
            let ended = result.is_ok();
            part.power_on();
            match read::<Uncoded>(&part) {
                Ok(bytes) if bytes == new => seen[0] += 1,
                // The erase of the old header was cut, or started.
                Ok(bytes) if bytes == old && cut == 0 => seen[1] += 1,
                Ok(_) => panic!("neither image after a cut at operation {cut}, {tear:?}"),
                Err(error) => {
                    assert!(!ended && matches!(error, ImageError::NoImage { .. }), "cut {cut}, {tear:?}: {error}");
                    seen[2] += 1;
                }
            }
            // Whatever the cut left, the image can be written again.
            write::<Uncoded>(&mut part, &new).unwrap();
            assert_eq!((read::<Uncoded>(&part).unwrap(), part.refusals()), (new.clone(), 0));
            if ended {
                break;
            }
        }
    }
    assert!(seen.iter().all(|&times| times > 0), "{seen:?}");
}

#[test]
fn what_does_not_fit_is_refused_with_the_reason() {
    let refuse = |result: Result<Image, ImageError<NandSimError>>, text: &str| {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    };
    let mut part = part();
    let image = vec![0; 13 * 4 * 512 + 1];
    refuse(write::<Uncoded>(&mut part, &image), "an image of 26625 bytes does not fit 14 blocks, 0 of them bad");
    refuse(write::<Uncoded>(&mut part, &[]), "no bytes");
    let sevens = ImageWriter::<48, 512>::new().write(&mut part, ROOM, 9, &mut &image[..]);
    refuse(sevens, "cache pages of 48 bytes do not divide the part's pages of 512");
    let large = ImageWriter::<1024, 2048>::new().write(&mut part, ROOM, 9, &mut &image[..]);
    refuse(large, "cache pages of 1024 bytes do not divide");
    let mut wide = NandSim::new(nand_catalogue::mt29f2g08(nand_catalogue::Bus::Mhz33Bits8));
    let many = ImageWriter::<16, 2048>::new().write(
        &mut wide,
        Room { start: Block(0), blocks: 2000 },
        1 << 20,
        &mut &image[..],
    );
    refuse(many, "an image of 1048576 bytes has more than 65,535 cache pages of 16 bytes");
    assert_eq!((part.operations(), wide.operations()), (0, 0), "nothing was touched");

    part.mark_bad(&[Block(2), Block(4), Block(6)]);
    refuse(write::<Uncoded>(&mut part, &image[..11 * 4 * 512]), "does not fit 14 blocks, 3 of them bad");
    let mut worse = NandSim::new(nand_catalogue::test_part(32, 4, 512));
    let bad: Vec<Block> = (0..=BAD_BLOCKS_MAX as u16).map(|number| Block(3 + 2 * number)).collect();
    worse.mark_bad(&bad);
    let room = Room { start: Block(1), blocks: 31 };
    let refused = ImageWriter::<64, 512>::new().write(&mut worse, room, 20_000, &mut &image[..20_000]);
    assert_eq!(refused, Err(ImageError::TooManyBadBlocks { block: bad[BAD_BLOCKS_MAX] }));
}

#[test]
fn an_image_goes_around_as_many_bad_blocks_as_its_header_names() {
    let image = code(20_000, 4);
    let mut part = NandSim::new(nand_catalogue::test_part(32, 4, 512));
    part.mark_bad(&(0..BAD_BLOCKS_MAX as u16).map(|number| Block(3 + 2 * number)).collect::<Vec<_>>());
    let room = Room { start: Block(1), blocks: 31 };
    let written = ImageWriter::<64, 512>::new().write(&mut part, room, 20_000, &mut &image[..]).unwrap();
    assert_eq!(written.bad_blocks().len(), BAD_BLOCKS_MAX);
    let mut pager: Pager<_, Lru<4>, 4, 64> = Pager::open(part, room.start, Options::default()).unwrap();
    let mut bytes = vec![0; image.len()];
    pager.read(CodeAddress(0), &mut bytes).unwrap();
    assert_eq!(bytes, image);
}

#[test]
fn the_smallest_pages_are_as_large_as_a_header() {
    let of_pages = |page_bytes: u16| {
        let part = nand_catalogue::test_part(24, 8, page_bytes).part;
        Image::without_bad_blocks::<Uncoded>(&part, 32, Block(0), 1000)
    };
    assert!(of_pages(64).is_ok());
    assert!(matches!(of_pages(32), Err(ImageError::PageSize { cache_page_bytes: 32, page_bytes: 32 })));
}

#[test]
fn an_image_of_another_layout_is_refused() {
    let mut part = part();
    assert!(matches!(read::<Uncoded>(&part), Err(ImageError::NoImage { start: Block(1), end: Block(9) })));
    write::<Uncoded>(&mut part, &code(5_000, 5)).unwrap();
    assert_eq!(read::<Crc32c>(&part), Err(ImageError::Layout { cache_page_bytes: 64, code_bytes: 0 }));
    let open = Pager::<_, Lru<4>, 4, 128>::open(part.clone(), ROOM.start, Options::default());
    assert_eq!(open.unwrap_err(), ImageError::Layout { cache_page_bytes: 64, code_bytes: 0 });
    let elsewhere = Pager::<_, Lru<4>, 4, 64>::open(part.clone(), Block(0), Options::default());
    assert!(matches!(elsewhere.unwrap_err(), ImageError::NoImage { .. }), "it belongs to another room");
    let beyond = Pager::<_, Lru<4>, 4, 64>::open(part, Block(900), Options::default());
    assert!(matches!(beyond.unwrap_err(), ImageError::NoImage { .. }));
}

#[test]
fn a_header_corrects_a_bit_and_refuses_what_cannot_be() {
    let image = code(5_000, 6);
    let mut part = part();
    let header = write::<Uncoded>(&mut part, &image).unwrap().header_page();
    let whole = part.peek(header)[..64].to_vec();
    for bit in 0..512 {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        part.poke(header, Column(0), &damaged);
        assert_eq!(read::<Uncoded>(&part).unwrap(), image, "bit {bit}");
    }
    // Headers that check themselves and say anything.
    let mut random = fastrand::Rng::with_seed(8);
    let mut refused = 0;
    for _ in 0..3000 {
        let mut forged = whole.clone();
        for _ in 0..random.usize(1..4) {
            forged[random.usize(4..34)] = random.u8(..);
        }
        forged.splice(60.., Crc32c::encode(&forged[..60]));
        part.poke(header, Column(0), &forged);
        let mut device = part.clone();
        device.set_noise(Noise { bits_max: 1, beyond_per_million: 500_000 });
        match Pager::<_, Lru<4>, 4, 64>::open(device, ROOM.start, Options::default()) {
            Ok(mut pager) => {
                let end = pager.image().size_bytes();
                for at in [0, end / 2, end - 1] {
                    pager.view(CodeAddress(at)).unwrap();
                }
                assert_eq!(pager.into_parts().0.refusals(), 0);
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 1000, "{refused}");
}

/// Each limit of a header, one beyond it.
#[test]
fn a_header_names_no_more_bad_blocks_than_it_has_room_for_and_each_once() {
    let image = code(20_000, 4);
    let mut part = NandSim::new(nand_catalogue::test_part(32, 4, 512));
    part.mark_bad(&(0..BAD_BLOCKS_MAX as u16).map(|number| Block(3 + 2 * number)).collect::<Vec<_>>());
    let room = Room { start: Block(1), blocks: 31 };
    let header = ImageWriter::<64, 512>::new().write(&mut part, room, 20_000, &mut &image[..]).unwrap().header_page();
    let whole = part.peek(header)[..64].to_vec();
    let mut found = |changes: &[(usize, u8)]| {
        let mut forged = whole.clone();
        changes.iter().for_each(|&(at, byte)| forged[at] = byte);
        forged.splice(60.., Crc32c::encode(&forged[..60]));
        part.poke(header, Column(0), &forged);
        Image::find::<_, Uncoded>(&mut part, room.start, 64)
    };
    assert!(found(&[]).is_ok());
    let refused = Err(ImageError::Header { page: header });
    assert_eq!(
        found(&[(14, BAD_BLOCKS_MAX as u8 + 1)]).map(|_| ()),
        refused,
        "a bad block more than there is room for"
    );
    assert_eq!(found(&[(18, whole[16])]).map(|_| ()), refused, "a bad block twice");
    assert_eq!(found(&[(16, header.block.0 as u8)]).map(|_| ()), refused, "the header's own block");
    assert_eq!(found(&[(8, 0), (9, 0), (10, 0), (11, 0)]).map(|_| ()), refused, "an image without bytes");
}

#[test]
fn an_image_may_end_with_the_part() {
    let mut part = part();
    let room = Room { start: Block(1), blocks: 15 };
    let written = (1..=15 * 4 * 512 / 64).rev().map(|pages| code(64 * pages, 9)).find(|image| {
        ImageWriter::<64, 512>::new().write(&mut part, room, image.len() as u32, &mut &image[..]).is_ok()
    });
    let image = written.expect("some image fits");
    assert!(image.len() > 13 * 4 * 512, "beside the header's block, {} bytes take fourteen", image.len());
    assert_eq!(read::<Uncoded>(&part).unwrap(), image);
}

#[test]
fn a_large_page_part_holds_images_with_codes() {
    let image = code(300_000, 9);
    let mut part = NandSim::new(nand_catalogue::mt29f2g08(nand_catalogue::Bus::Mhz33Bits8));
    let room = Room { start: Block(10), blocks: 10 };
    ImageWriter::<64, 2048, Crc32c>::new().write(&mut part, room, 300_000, &mut &image[..]).unwrap();
    part.set_noise(Noise { bits_max: 1, beyond_per_million: 0 });
    assert_eq!(part.is_marked_bad(Block(10)), Ok(false), "the mark's place stays erased");
    let mut pager: Pager<_, Lru<8>, 8, 64, Crc32c> = Pager::open(part, Block(10), Options::default()).unwrap();
    let mut bytes = vec![0; image.len()];
    pager.read(CodeAddress(0), &mut bytes).unwrap();
    assert_eq!(bytes, image);
}

#[test]
fn a_header_says_which_program_it_is_and_whether_it_is_whole() {
    let image = code(9_001, 10);
    let version = Version { major: 3, minor: 14, patch: 159_265 };
    let mut part = part();
    let mut writer = ImageWriter::<64, 512>::new().with_version(version);
    let written = writer.write(&mut part, ROOM, 9_001, &mut &image[..]).unwrap();
    let header = Header::find::<_, Uncoded>(&mut part, ROOM.start, 64).unwrap();
    let check = crc::Crc::<u32>::new(&crc::CRC_32_ISCSI).checksum(&image);
    assert_eq!((header.image, header.version, header.check), (written, version, Some(check)));
    assert_eq!(verify::<Uncoded>(&mut part), Ok(()));
    // Any wrong bit is noticed: without a code, by the check of the whole.
    let mut random = fastrand::Rng::with_seed(10);
    for _ in 0..50 {
        let (mut damaged, at) = (part.clone(), random.usize(0..image.len()));
        let page = Block(2 + (at / 2048) as u16).page((at / 512 % 4) as u16);
        damaged.poke(page, Column((at % 512) as u16), &[image[at] ^ 1 << random.u8(0..8)]);
        assert!(matches!(verify::<Uncoded>(&mut damaged), Err(ImageError::OtherBytes { .. })), "byte {at}");
    }
}

#[test]
fn a_damaged_image_with_codes_is_noticed() {
    let mut part = part();
    write::<Crc32c>(&mut part, &code(9_001, 11)).unwrap();
    let page = Block(3).page(1);
    let cells = part.peek(page);
    let loads = |part: &mut NandSim| {
        let before = part.counters().loads;
        (verify::<Crc32c>(part), part.counters().loads - before)
    };
    part.poke(page, Column(70), &[cells[70] ^ 1]);
    let (verified, of_all) = loads(&mut part);
    assert_eq!(verified, Ok(()), "a wrong bit is corrected");
    part.poke(page, Column(71), &[cells[71] ^ 1]);
    // Seven cache pages with codes fit a page, and the damaged one is the sixth of the image.
    let pages = 9_001_u64.div_ceil(64).div_ceil(7);
    assert_eq!(loads(&mut part), (Err(ImageError::Damaged { page }), of_all - pages + 5 + 8), "eight loads of it");
}

#[test]
fn a_program_that_has_a_header_in_itself_is_not_taken_for_that() {
    let mut part = part();
    let header = write::<Uncoded>(&mut part, &code(9_000, 12)).unwrap().header_page();
    let mut forged = part.peek(header)[..64].to_vec();
    forged[32..36].copy_from_slice(&900_u32.to_le_bytes());
    forged.splice(60.., Crc32c::encode(&forged[..60]));
    // It comes to lie in the first bytes of a block that may bear a header.
    let image = [forged, code(9_000, 13)].concat();
    write::<Uncoded>(&mut part, &image).unwrap();
    assert_eq!(read::<Uncoded>(&part).unwrap(), image);
}

#[test]
fn versions_are_ordered_and_read_as_they_print() {
    let version = |text: &str| text.parse::<Version>().unwrap();
    assert!(version("1.4.0") < version("1.10.0") && version("1.10.0") < version("2.0.0"));
    assert_eq!(version("65535.0.4294967295").to_string(), "65535.0.4294967295");
    for text in ["", "1", "1.2", "1.2.3.4", "1.2.x", "65536.0.0", "1..2", "-1.0.0"] {
        assert!(text.parse::<Version>().is_err(), "{text}");
    }
}
