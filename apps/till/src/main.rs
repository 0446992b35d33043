//! Runs the till, and prints what its garbage collections and its pointer were worth.
#![forbid(unsafe_code)]

use norn_till::{JOURNAL_LENGTH, Report, run};

const PAYMENTS: u32 = 20_000;

fn main() {
    let report = run(PAYMENTS);
    let Report { prices_read, places_asked, words_read, words_programmed, words_by_load, .. } = report;
    println!("{prices_read} prices read, their place requested {places_asked} times");
    println!(
        "{words_read} words read and {words_programmed} programmed for that; array_load reads {words_by_load} a price"
    );
    let Report { balance, receipts, collections, collected, .. } = report;
    println!("{PAYMENTS} payments, balance {balance}, {receipts} receipts in a journal of {JOURNAL_LENGTH}");
    println!("{collections} collections of {collected} receipts, each when the part was full");
}
