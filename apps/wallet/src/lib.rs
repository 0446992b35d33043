//! A shop that is paid from the example purse on a card: its power is cut at random operations of the flash, in the
//! middle of debits and credits. After each cut the shop asks for balance and count, and knows whether it was paid.
//!
//! It keeps its own books. Money is lost or made where the card's balance is not what the books say.
#![forbid(unsafe_code)]

use std::path::Path;

use fastrand::Rng;
use norn_card_image::{CardFailure, CardImage, Wanted, aid_of};
use norn_card_linker::Aid;
use norn_flash_sim::{Counters, Tear};

/// The purse's PIN.
const PIN: [u8; 4] = [1, 2, 3, 4];
/// The instruction of each command.
const VERIFY: u8 = 0x20;
const CREDIT: u8 = 0x30;
const DEBIT: u8 = 0x40;
const BALANCE: u8 = 0x50;
/// What is loaded where too little is left.
const LOADED: u16 = 20_000;
/// An amount at most, and what has to be left for it.
const AMOUNT_MAX: u16 = 50;
/// Operations of the part within which a planned cut comes: a debit takes some twenty.
const OPERATIONS: u64 = 30;
/// A payment in so many is cut.
const CUT_ONE_IN: u32 = 3;

/// What to do.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// Payments to be made.
    pub payments: u32,
    /// Decides amounts and cuts.
    pub seed: u64,
    /// The jar of the card's API.
    pub api: &'a Path,
    /// The jar of the purse.
    pub purse: &'a Path,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Payments that were made.
    pub payments: u32,
    /// Credits.
    pub credits: u32,
    /// Power cuts.
    pub cuts: u32,
    /// What was cut and is there.
    pub found_whole: u32,
    /// What was cut and had to be sent again.
    pub found_undone: u32,
    /// The balance at the end.
    pub balance: u16,
    /// What the shop was paid.
    pub paid: u64,
    /// Where the card and the books disagree.
    pub wrong: Vec<String>,
    /// What the part did for it.
    pub counters: Counters,
    /// Simulated time of the part.
    pub elapsed_ns: u64,
    /// Requests for code.
    pub look_ups: u64,
    /// Pages of the NAND part that were loaded for it, those of recoveries included.
    pub loads: u64,
    /// Simulated time of the NAND part.
    pub nand_ns: u64,
}

/// Balance and count of debits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Books {
    balance: u16,
    debits: u16,
}

/// A shop with a card in its reader.
struct Shop {
    card: CardImage,
    applet: Aid,
    random: Rng,
    report: Report,
}

/// Makes the card where there is none, with the purse on it.
///
/// # Errors
/// When it cannot be made or opened.
pub fn open(path: &Path, job: &Job<'_>, tell: &impl Fn(&str)) -> Result<CardImage, CardFailure> {
    if path.exists() {
        tell(&format!("{}: the card of the last run", path.display()));
        return CardImage::open(path);
    }
    tell(&format!("{}: a new card", path.display()));
    let part = norn_flash_sim::catalogue::tinystore();
    let nand = norn_flash_sim::nand_catalogue::k9f2808();
    let (mut card, api) = CardImage::create(path, &part, &nand, job.api)?;
    tell(&format!("package {} is linked and installed: the API", api.package));
    let purse = card.install(job.purse, &Wanted::default())?;
    tell(&format!("package {} is linked and installed: the purse", purse.package));
    for applet in purse.applets {
        card.install_applet(applet, applet, &PIN)?;
        tell(&format!("applet {applet} is installed"));
    }
    Ok(card)
}

/// Has the shop paid.
///
/// # Errors
/// When the card cannot be used.
pub fn run(path: &Path, job: &Job<'_>, tell: impl Fn(&str)) -> Result<Report, CardFailure> {
    let card = open(path, job, &tell)?;
    let mut shop =
        Shop { card, applet: aid_of("F00000000201")?, random: Rng::with_seed(job.seed), report: Report::default() };
    let (counters, elapsed) = (shop.card.counters(), shop.card.part().sim().elapsed_ns());
    let code = shop.card.code()?;
    let mut books = shop.insert()?;
    for payment in 1..=job.payments {
        if books.balance < AMOUNT_MAX {
            books = shop.change(CREDIT, LOADED, books)?;
            shop.report.credits += 1;
        }
        let amount = shop.random.u16(1..=AMOUNT_MAX);
        books = shop.change(DEBIT, amount, books)?;
        shop.report.paid += u64::from(amount);
        shop.report.payments += 1;
        if payment % (job.payments / 10).max(1) == 0 {
            tell(&format!("{payment} payments, {} power cuts", shop.report.cuts));
        }
    }
    let found = shop.insert()?;
    shop.compare(books, found, "at the end");
    shop.report.balance = found.balance;
    shop.report.counters = shop.card.counters() - counters;
    shop.report.elapsed_ns = shop.card.part().sim().elapsed_ns() - elapsed;
    let after = shop.card.code()?;
    shop.report.look_ups = after.look_ups - code.look_ups;
    shop.report.loads = after.part.loads - code.part.loads;
    shop.report.nand_ns = after.elapsed_ns - code.elapsed_ns;
    Ok(shop.report)
}

impl Shop {
    /// Sends a command of the purse's class; data and status word.
    fn send(&mut self, instruction: u8, data: &[u8]) -> Result<(Vec<u8>, u16), CardFailure> {
        let mut command = vec![0x80, instruction, 0, 0, data.len() as u8];
        command.extend(data);
        self.transmit(&command)
    }

    fn transmit(&mut self, command: &[u8]) -> Result<(Vec<u8>, u16), CardFailure> {
        let mut answer = [0; 258];
        let length = self.card.send(command, &mut answer)?;
        let (data, status) = answer[..length].split_at(length.saturating_sub(2));
        let status = status.first_chunk().map_or(0, |status| u16::from_be_bytes(*status));
        Ok((data.to_vec(), status))
    }

    /// Resets the card, selects the purse, shows the PIN, and asks for balance and count.
    fn insert(&mut self) -> Result<Books, CardFailure> {
        self.card.reset()?;
        let name = self.applet;
        let mut select = vec![0x00, 0xA4, 0x04, 0x00, name.as_bytes().len() as u8];
        select.extend(name.as_bytes());
        let (_, selected) = self.transmit(&select)?;
        let (_, verified) = self.send(VERIFY, &PIN)?;
        let (answer, status) = self.transmit(&[0x80, BALANCE, 0, 0, 4])?;
        if [selected, verified, status] != [0x9000; 3] {
            self.report.wrong.push(format!("selected {selected:04X}, PIN {verified:04X}, balance {status:04X}"));
        }
        let word = |at: usize| answer.get(at..at + 2).map_or(0, |word| u16::from_be_bytes([word[0], word[1]]));
        Ok(Books { balance: word(0), debits: word(2) })
    }

    /// Debits or credits, however often the power is cut, and returns the books then.
    fn change(&mut self, instruction: u8, amount: u16, books: Books) -> Result<Books, CardFailure> {
        let after = match instruction {
            DEBIT => Books { balance: books.balance - amount, debits: books.debits.wrapping_add(1) },
            _ => Books { balance: books.balance + amount, ..books },
        };
        loop {
            if self.random.u32(0..CUT_ONE_IN) == 0 {
                let operations = self.random.u64(0..OPERATIONS);
                self.card.cut_power_after(operations, Tear::draw(&mut self.random));
            }
            match self.send(instruction, &amount.to_be_bytes()) {
                Ok((_, 0x9000)) => {
                    // A cut that has not come does not come.
                    self.card.cut_power_after(u64::MAX, Tear::Nothing);
                    return Ok(after);
                }
                Ok((_, status)) => {
                    self.report.wrong.push(format!("{instruction:02X} of {amount} answered {status:04X}"));
                    return self.insert();
                }
                Err(CardFailure::PowerLost) => {
                    self.report.cuts += 1;
                    let found = self.insert()?;
                    if found == after {
                        self.report.found_whole += 1;
                        return Ok(after);
                    }
                    self.report.found_undone += 1;
                    self.compare(books, found, "after a cut");
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    fn compare(&mut self, books: Books, found: Books, when: &str) {
        if books != found {
            self.report.wrong.push(format!("{when}: the books say {books:?}, the card {found:?}"));
        }
    }
}
