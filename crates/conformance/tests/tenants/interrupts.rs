//! Tenants in threads, as they are in interrupts: the feature `critical-section` makes each of their calls one.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::thread;

use norn_flash::critical_section::{self, Mutex};
use norn_flash::{Block, Column, Nand, NandTenant, NorTenant, Piece, Tenancy};
use norn_flash_sim::{NandSim, NorSim, catalogue, nand_catalogue};
use norn_ordered_index::{FatList, OrderedIndex, Settings};

#[test]
fn indexes_in_two_threads_share_a_part() {
    const SETTINGS: Settings = Settings { turnstile_blocks: 4, levels: 3, slots: 10, keys: 7, pool: 6 };
    let cell = Mutex::new(RefCell::new(Tenancy::<_, 2>::new(NorSim::new(catalogue::test_part(16, 1024)))));
    let work = |number: u16| {
        let mut random = fastrand::Rng::with_seed(number.into());
        let tenant = NorTenant::new(&cell, 8 * number..8 * number + 8).unwrap();
        let mut index = FatList::<_, 2, 4>::format(tenant, SETTINGS).unwrap();
        let mut map = BTreeMap::new();
        for _ in 0..1500 {
            let (key, value) = (random.u16(..40).to_be_bytes(), random.u32(..).to_le_bytes());
            index.put(&key, &value).unwrap();
            map.insert(key, value);
            thread::yield_now();
        }
        let mut range = index.range(Bound::Unbounded, Bound::Unbounded);
        for entry in map {
            assert_eq!(range.next_entry().unwrap(), Some(entry));
        }
        assert_eq!(range.next_entry().unwrap(), None);
    };
    thread::scope(|scope| {
        scope.spawn(|| work(0));
        scope.spawn(|| work(1));
    });
    assert_eq!(cell.into_inner().into_inner().into_device().refusals(), 0);
}

#[test]
fn clients_in_two_threads_fetch_their_own_pages() {
    let cell = Mutex::new(RefCell::new(Tenancy::<_, 2>::new(NandSim::new(nand_catalogue::test_part(8, 4, 256)))));
    let work = |number: u16| {
        let mut tenant = NandTenant::new(&cell, 4 * number..4 * number + 4).unwrap();
        let own = |block: u16, page: u16| (number * 64 + block * 8 + page + 1) as u8;
        for (block, page) in (0..4).flat_map(|block| (0..4).map(move |page| (block, page))) {
            let bytes = [own(block, page); 200];
            tenant.program(Block(block).page(page), &[Piece::new(Column(0), &bytes)]).unwrap();
        }
        let mut random = fastrand::Rng::with_seed(number.into());
        for _ in 0..2000 {
            let (block, page) = (random.u16(..4), random.u16(..4));
            let mut bytes = [0; 60];
            tenant.load(Block(block).page(page)).unwrap();
            for piece in bytes.chunks_mut(20) {
                thread::yield_now(); // another's page may be in the register then
                tenant.fetch(piece).unwrap();
            }
            assert_eq!(bytes, [own(block, page); 60]);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| work(0));
        scope.spawn(|| work(1));
    });
    let part = cell.into_inner().into_inner().into_device();
    assert_eq!(part.refusals(), 0);
}

/// A client that holds a critical section around several calls is alone in it: no other client's call costs it a load.
#[test]
fn a_section_around_several_calls_keeps_the_register() {
    let cell = Mutex::new(RefCell::new(Tenancy::<_, 2>::new(NandSim::new(nand_catalogue::test_part(8, 4, 256)))));
    let work = |number: u16| {
        let mut tenant = NandTenant::new(&cell, 4 * number..4 * number + 4).unwrap();
        for _ in 0..500 {
            critical_section::with(|_| {
                tenant.load(Block(0).page(0)).unwrap();
                for _ in 0..3 {
                    thread::yield_now();
                    tenant.fetch(&mut [0; 20]).unwrap();
                }
            });
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| work(0));
        scope.spawn(|| work(1));
    });
    assert_eq!(cell.into_inner().into_inner().into_device().counters().loads, 2 * 500);
}
