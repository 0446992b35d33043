//! What is said of a part whose label does not fit it.

use norn_embedded::flash::{Address, Label, LabelDevice, Nor, NorLabel, TenantKind};
use norn_embedded::recognise_nor;
use norn_flash_sim::{NorSim, catalogue};

#[test]
fn a_tenant_that_the_part_has_no_units_for_is_named_with_its_range() {
    const UNIT_BYTES: usize = 1024;
    let mut large = NorSim::new(catalogue::test_part(32, UNIT_BYTES as u32));
    let mut label = Label::default();
    label.add(b"purses", TenantKind::HEAP, 0..4).unwrap();
    label.add(b"prices", TenantKind::INDEX, 4..30).unwrap();
    NorLabel(&mut large).store(&label).unwrap();

    let mut small = NorSim::new(catalogue::test_part(16, UNIT_BYTES as u32));
    let label_bytes = 2 * UNIT_BYTES;
    let copies = large.peek(Address(large.part().size_bytes() - label_bytes as u32), label_bytes).to_vec();
    small.poke(Address(small.part().size_bytes() - label_bytes as u32), &copies);

    let mut lines = Vec::new();
    recognise_nor(&mut small, |content| lines.push(content.to_string())).unwrap();
    assert_eq!(
        lines,
        [
            "a label with a partition table on 32 units or blocks of 1024 bytes",
            "tenant \"purses\" (heap) in 0..4: nothing that is known",
            "tenant \"prices\" (indx) in 4..30: 4..30 is not a range of the part's 16 units or blocks",
        ]
    );
}
