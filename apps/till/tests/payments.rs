//! The till does what it says: prices read through the pointer are the right ones, which the till asserts, and
//! receipts live as long as the journal leads to them.

#[test]
fn four_thousand_payments() {
    let report = norn_till::run(4_000);
    println!("{report:?}");
    assert_eq!((report.balance, report.receipts), (report.paid, norn_till::JOURNAL_LENGTH as u32));
    assert!(report.collections > 0 && report.collected > 1_000, "the part is full now and then");
    assert!(report.places_asked >= 20, "each change of a price is told");
    assert!(report.words_read < report.words_by_load * u64::from(report.prices_read) / 4);
}
