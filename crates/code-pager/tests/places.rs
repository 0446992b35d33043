//! The place of each cache page is where the bytes of the image are, around bad blocks.

use norn_code_pager::{CachePage, Code, Crc32c, Image, ImageWriterIn, Room, Uncoded};
use norn_flash::Block;
use norn_flash_sim::NandSim;
use norn_flash_sim::nand_catalogue::test_part;

const CODE_BYTES: u32 = 9_000;

fn code() -> Vec<u8> {
    (0..CODE_BYTES).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn places_hold_the_image<C: Code>(cache_page_bytes: usize) {
    let mut part = NandSim::new(test_part(16, 8, 512));
    part.mark_bad(&[Block(2), Block(4)]);
    let mut writer: ImageWriterIn<_, C> = ImageWriterIn::new(cache_page_bytes, vec![0; 512]);
    let (code, room) = (code(), Room { start: Block(1), blocks: 15 });
    let image: Image = writer.write(&mut part, room, CODE_BYTES, &mut &code[..]).unwrap();
    assert_eq!(image.cache_pages(), CODE_BYTES.div_ceil(cache_page_bytes as u32));
    for (number, bytes) in (0..).zip(code.chunks(cache_page_bytes)) {
        let (page, column) = image.place_of::<C>(CachePage(number)).unwrap();
        assert_eq!(part.peek(page)[usize::from(column.0)..][..bytes.len()], *bytes, "cache page {number}");
    }
    assert_eq!(image.place_of::<C>(CachePage(image.cache_pages() as u16)), None);
}

#[test]
fn each_cache_page_is_at_its_place() {
    places_hold_the_image::<Uncoded>(64);
    places_hold_the_image::<Crc32c>(64);
    places_hold_the_image::<Crc32c>(100);
}
