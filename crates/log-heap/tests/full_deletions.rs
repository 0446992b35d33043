//! A heap that was filled to the last byte, without any cut: objects can be deleted until there is room again.

use norn_flash::{Reprogramming, StoreError};
use norn_flash_sim::{NorSim, catalogue};
use norn_log_heap::{CreateError, LogHeapIn, UnitRow};

#[test]
fn deletions_of_a_full_heap_make_room() {
    let spec = catalogue::limited_test_part(64, 2048, 4, Reprogramming::Once);
    let rows = vec![UnitRow::UNUSED; 64];
    let heap = LogHeapIn::format_in(NorSim::new(spec), rows.clone()).unwrap();
    let mut heap = LogHeapIn::mount_in(heap.into_device(), rows).unwrap();
    let full = Err(CreateError::Store(StoreError::Full));
    let mut objects = std::collections::VecDeque::new();
    let refused = loop {
        match heap.create_array(1, 1, b"") {
            Ok(object) => objects.push_back(object),
            refused => break refused,
        }
    };
    assert_eq!(refused, full);
    println!("{} objects", objects.len());
    for deleted in 0..300 {
        let object = objects.pop_front().unwrap();
        assert_eq!(heap.delete(object), Ok(()), "after {deleted} deletions");
        if heap.create_array(1, 1, b"") != full {
            println!("room after {} deletions", deleted + 1);
            return;
        }
    }
    panic!("300 deletions make no room");
}
