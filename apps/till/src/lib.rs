//! A till: large arrays, transactions, collections, and a pointer that stays until notified, in one program.
//!
//! A *purse* object holds the balance and the number of payments. Each payment has a *receipt*, an object of its own; a
//! *journal*, an array of more elements than an erase unit holds, refers to the receipts of the last payments, and
//! overwrites the oldest. A receipt that falls out of the journal is garbage, which is collected when the part is full.
//! A *price list*, an array that changes now and then, is read for each article sold: where it is on flash, whose
//! address is requested again only after a notification. (The balance would be a poor choice for that: each payment
//! moves it.)
//!
//! `cargo run --release -p norn-till`
#![forbid(unsafe_code)]

use norn_flash::Nor;
use norn_flash_sim::{NorSim, catalogue};
use norn_object_heap::{
    AccessError, Config, CreateError, Heap, Layout, Listener, PhysicalPointer, Ref, StoreError, Tracer,
};

/// Payments that the journal remembers.
pub const JOURNAL_LENGTH: usize = 1_200;
const ARTICLES: usize = 100;
/// Articles of a payment.
const BASKET: u32 = 20;
/// A price changes once per this number of payments.
const PRICE_PERIOD: u32 = 200;

const BALANCE: usize = 0;
const COUNT: usize = 1;

/// Where the price list is, until the heap notifies the till.
#[derive(Debug, Default)]
struct Place {
    prices: Option<PhysicalPointer>,
}

impl Listener for Place {
    /// There is one pointer only, so that it does not matter to what.
    fn invalidated(&mut self, _: Ref) {
        self.prices = None;
    }

    fn all_invalidated(&mut self) {
        self.prices = None;
    }
}

type TillHeap = Heap<NorSim, 64, Place>;

/// The till: the heap and what it starts from.
struct Till {
    heap: TillHeap,
    purse: Ref,
    journal: Ref,
    prices: Ref,
}

/// What came of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What the purse holds, and what it should.
    pub balance: u32,
    /// The sum of what was paid.
    pub paid: u32,
    /// Receipts that the journal leads to.
    pub receipts: u32,
    /// Times that garbage was collected.
    pub collections: u32,
    /// Receipts that went with it.
    pub collected: u32,
    /// Prices read.
    pub prices_read: u32,
    /// How often the price list's place was requested.
    pub places_asked: u32,
    /// Words read for prices, the asking included.
    pub words_read: u64,
    /// Words programmed for that.
    pub words_programmed: u64,
    /// Words that reading one price by `array_load` takes.
    pub words_by_load: u64,
}

impl Till {
    fn new() -> Self {
        let device = NorSim::new(catalogue::test_part(32, 4096));
        let mut heap = TillHeap::format_with(device, Config::default(), Place::default()).expect("a blank part");
        let purse = heap.create(Layout::uniform(2, 4).with_header(b"purse")).expect("room");
        let journal = heap.create_array(JOURNAL_LENGTH, 4, b"journal").expect("room");
        let prices = heap.create_array(ARTICLES, 2, b"cents").expect("room");
        for (name, reference) in [(b"purse" as &[u8], purse), (b"journal", journal), (b"prices", prices)] {
            heap.set_root(name, Some(reference)).expect("room");
        }
        Till { heap, purse, journal, prices }
    }

    /// One payment: a receipt, its place in the journal, the new balance and number, all of them or none. Collects
    /// garbage and tries again when there is no room.
    fn pay(&mut self, amount: u32, report: &mut Report) {
        while let Err(error) = self.try_to_pay(amount) {
            assert!(matches!(error, StoreError::Full), "{error}");
            self.heap.abort().expect("what failed is undone");
            let collected = self.collect();
            assert!(collected > 0, "the part is too small for the journal and its receipts");
            (report.collections, report.collected) = (report.collections + 1, report.collected + collected);
        }
    }

    fn try_to_pay(&mut self, amount: u32) -> Result<(), StoreError<<NorSim as Nor>::Error>> {
        let (balance, number) = (self.field(BALANCE) + amount, self.field(COUNT));
        self.heap.begin().expect("no transaction is open");
        let receipt = self.heap.create(Layout::uniform(2, 4)).map_err(|error| match error {
            CreateError::Store(error) => error,
            other => panic!("{other}"),
        })?;
        let changes = [(receipt, 0, number), (receipt, 1, amount), (self.purse, BALANCE, balance)];
        for (object, index, value) in changes.into_iter().chain([(self.purse, COUNT, number + 1)]) {
            self.heap.put_field(object, index, &value.to_le_bytes()).map_err(store_error)?;
        }
        let place = number as usize % JOURNAL_LENGTH;
        self.heap.array_store(self.journal, place, &receipt.bits().to_le_bytes()).map_err(store_error)?;
        self.heap.commit().expect("small enough a transaction");
        Ok(())
    }

    fn field(&mut self, index: usize) -> u32 {
        let mut value = [0; 4];
        self.heap.get_field(self.purse, index, &mut value).expect("a purse");
        u32::from_le_bytes(value)
    }

    /// Deletes the receipts to which the journal does not lead; returns how many.
    fn collect(&mut self) -> u32 {
        let journal = self.journal;
        let trace = |tracer: &mut Tracer<'_, NorSim, 64, Place>, object: Ref| {
            let mut references = [0; 32];
            for first in (0..JOURNAL_LENGTH).step_by(8).filter(|_| object == journal) {
                tracer.heap().array_read(journal, first, &mut references)?;
                for bytes in references.chunks_exact(4) {
                    let bits = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                    if let Some(receipt) = Ref::from_bits(bits) {
                        tracer.reached(receipt)?;
                    }
                }
            }
            Ok(())
        };
        self.heap.collect(&[], trace).expect("a collection needs no room").deleted
    }

    /// A price, read from flash in place.
    fn price(&mut self, article: usize, report: &mut Report) -> u16 {
        let pointer = match self.heap.listener().prices {
            Some(pointer) => pointer,
            None => {
                report.places_asked += 1;
                let pointer = self.heap.array_pointer(self.prices, 0).expect("room for a note");
                self.heap.listener_mut().prices = Some(pointer);
                pointer
            }
        };
        let mut value = [0; 2];
        self.heap.device_mut().read(pointer.address.offset(2 * article as u32), &mut value).expect("the part works");
        u16::from_le_bytes(value)
    }
}

fn store_error<E>(error: AccessError<E>) -> StoreError<E> {
    match error {
        AccessError::Store(error) => error,
        _ => unreachable!("references and indices are right"),
    }
}

/// Payments for pseudo-random articles at prices that change now and then.
///
/// # Panics
/// If a price was not the one that was set last.
pub fn run(payments: u32) -> Report {
    let (mut till, mut report) = (Till::new(), Report::default());
    let mut expected = [0_u16; ARTICLES];
    for number in 0..payments {
        if number % PRICE_PERIOD == 0 {
            let article = number as usize / 7 % ARTICLES;
            expected[article] = number as u16 | 1;
            while till.heap.array_store(till.prices, article, &expected[article].to_le_bytes()).is_err() {
                assert!(till.collect() > 0, "the part is too small");
            }
        }
        let before = till.heap.device().counters();
        let mut amount = 0;
        for item in 0..BASKET {
            let article = (number * BASKET + item).wrapping_mul(0x9E37_79B9) as usize % ARTICLES;
            let price = till.price(article, &mut report);
            assert_eq!(price, expected[article], "the price of article {article} in payment {number}");
            amount += u32::from(price);
        }
        let cost = till.heap.device().counters() - before;
        report.prices_read += BASKET;
        report.words_read += cost.reads();
        report.words_programmed += cost.programs();
        till.pay(amount, &mut report);
        report.paid += amount;
    }
    let before = till.heap.device().counters();
    till.heap.array_load(till.prices, 50, &mut [0; 2]).expect("a price list");
    report.words_by_load = (till.heap.device().counters() - before).reads();
    till.collect();
    report.balance = till.field(BALANCE);
    let mut object = None;
    while let Some(next) = till.heap.next_object(object).expect("a sound heap") {
        report.receipts += u32::from(![till.purse, till.journal, till.prices].contains(&next));
        object = Some(next);
    }
    report
}
