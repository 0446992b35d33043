//! Parts in full use: what `max_logical_pages` allows can be rewritten for ever, whatever the part and the order.

use norn_flash_sim::NandSim;
use norn_flash_sim::nand_catalogue::test_part;
use norn_nand_ftl::{Ftl, FtlConfig, Lba, max_logical_pages};

/// The order in which pages are rewritten.
#[derive(Clone, Copy, Debug)]
enum Order {
    Random,
    /// Far from each other, so that pages die in all blocks alike.
    Strides,
    /// Nine of ten in a tenth of the device.
    Skewed,
}

const ORDERS: [Order; 3] = [Order::Random, Order::Strides, Order::Skewed];

impl Order {
    fn lba(self, number: u32, logical_pages: u32, random: &mut fastrand::Rng) -> u32 {
        match self {
            Order::Random => random.u32(0..logical_pages),
            Order::Strides => (u64::from(number) * 7_919 % u64::from(logical_pages)) as u32,
            Order::Skewed if random.u8(0..10) > 0 => random.u32(0..logical_pages.div_ceil(10)),
            Order::Skewed => random.u32(0..logical_pages),
        }
    }
}

/// Fills a part and rewrites `rewrites` pages, mounts it before every `session` of them, and reads it. A part that is
/// too small for any is left out.
fn rewrite(blocks: u16, pages: u16, page_bytes: u16, order: Order, rewrites: u32, session: u32) {
    let spec = test_part(blocks, pages, page_bytes);
    let logical_pages = max_logical_pages(&spec.part, 0);
    if logical_pages == 0 {
        return;
    }
    let context = format!("{}, {logical_pages} logical pages, {order:?}", spec.name);
    let bytes = Ftl::<NandSim, Vec<u8>>::memory_bytes(&spec.part, logical_pages);
    let config = FtlConfig { logical_pages };
    let mut ftl = Ftl::format(NandSim::new(spec), vec![0; bytes], config).unwrap();
    let mut random = fastrand::Rng::with_seed(u64::from(page_bytes));
    let (mut data, mut stamps) = (vec![0; usize::from(page_bytes)], vec![0_u32; logical_pages as usize]);
    for number in 0..logical_pages + rewrites {
        if number >= logical_pages && (number - logical_pages) % session == session - 1 {
            ftl = Ftl::mount(ftl.into_device(), vec![0; bytes]).unwrap();
        }
        let lba = if number < logical_pages { number } else { order.lba(number, logical_pages, &mut random) };
        data[..4].copy_from_slice(&number.to_le_bytes());
        ftl.write(Lba(lba), &data).unwrap_or_else(|error| panic!("write {number}: {error} ({context})"));
        stamps[lba as usize] = number;
    }
    for (lba, stamp) in (0..).zip(stamps) {
        ftl.read(Lba(lba), &mut data).unwrap();
        assert_eq!(data[..4], stamp.to_le_bytes(), "logical page {lba} ({context})");
    }
}

#[test]
fn full_parts_are_rewritten_for_ever() {
    let parts = [
        (24, 4, 128),
        (40, 8, 128),
        (24, 16, 128),
        (96, 16, 128),
        (16, 64, 128),
        (24, 8, 256),
        (64, 16, 256),
        (24, 4, 512),
        (40, 16, 512),
        (18, 8, 2048),
    ];
    for (number, (blocks, pages, page_bytes)) in parts.into_iter().enumerate() {
        rewrite(blocks, pages, page_bytes, ORDERS[number % ORDERS.len()], 2_000, 700);
        rewrite(blocks, pages, page_bytes, ORDERS[(number + 1) % ORDERS.len()], 500, 9);
    }
}

#[test]
#[ignore = "an hour"]
fn so_are_parts_of_all_sizes() {
    for pages in [64, 32, 16, 8, 5, 4] {
        for page_bytes in [128, 256, 512, 2048] {
            for blocks in [14, 16, 24, 48, 96, 160, 400, 1100] {
                for order in ORDERS {
                    let all = u32::from(blocks) * u32::from(pages);
                    rewrite(blocks, pages, page_bytes, order, 3 * all, all);
                }
            }
        }
    }
}
