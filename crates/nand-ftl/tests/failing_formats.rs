//! Formats in which a block cannot be erased: nothing of the old device is on the new one, whatever the pages in that
//! block read as then and later.

use crate::model;

use model::memory;
use norn_flash::{Block, Column};
use norn_flash_sim::NandSim;
use norn_flash_sim::nand_catalogue::test_part;
use norn_nand_ftl::{Ftl, FtlConfig, Lba};

const LOGICAL_PAGES: u32 = 100;
const CONFIG: FtlConfig = FtlConfig { logical_pages: LOGICAL_PAGES };

/// A part in use.
fn used() -> NandSim {
    let sim = NandSim::new(test_part(40, 8, 512));
    let room = memory(&sim.spec().part);
    let mut ftl = Ftl::format(sim, room, CONFIG).unwrap();
    for number in 0..3 * LOGICAL_PAGES {
        ftl.write(Lba(number % LOGICAL_PAGES), &[0x11; 512]).unwrap();
    }
    ftl.into_device()
}

fn fill(sim: &mut NandSim, block: Block, pages: &[Vec<u8>]) {
    for (page, bytes) in (0..).zip(pages) {
        sim.poke(block.page(page), Column(0), bytes);
    }
}

/// The block's erase is cut short and fails: its pages read as torn in the format, and as they were from then on.
#[test]
fn a_page_of_the_old_device_that_is_torn_in_the_format_never_returns() {
    let used = used();
    let part = used.spec().part;
    let mut blocks = 0;
    for block in part.blocks().filter(|&block| used.holds_pages(block)) {
        let mut sim = used.clone();
        let whole: Vec<Vec<u8>> = (0..part.pages_per_block).map(|page| sim.peek(block.page(page))).collect();
        let torn: Vec<Vec<u8>> =
            whole.iter().map(|page| page[..512].iter().map(|byte| byte ^ 0x5A).collect()).collect();
        fill(&mut sim, block, &torn);
        sim.fail_block(block);
        let mut sim = Ftl::format(sim, memory(&part), CONFIG).unwrap().into_device();
        fill(&mut sim, block, &whole);
        for mount in 1..=2 {
            sim.power_on();
            let mut ftl = Ftl::mount(sim, memory(&part)).unwrap_or_else(|error| panic!("{error}, {block}"));
            for lba in 0..LOGICAL_PAGES {
                let mut page = [9; 512];
                ftl.read(Lba(lba), &mut page).unwrap();
                assert_eq!(page, [0; 512], "logical page {lba} after mount {mount}, {block}");
            }
            sim = ftl.into_device();
        }
        blocks += 1;
    }
    assert!(blocks > 30, "{blocks} blocks held something");
}
