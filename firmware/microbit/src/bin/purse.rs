//! A purse of eight accounts in the flash of a micro:bit, over its serial line.
//!
//! ```text
//! $1 credit 3 500*6B          puts 500 into account 3          $1 ok*..
//! $2 transfer 3 4 200*..      moves 200 from 3 to 4             $2 ok*..  or  $2 poor*..
//! $3 shift 1*..               moves 1 on from each account to the next, in one transaction
//! $4 tidy*..                  does housekeeping, until there is none
//! $5 show*..                  eight balances, transfers, boots  $5 show 0 0 0 300 200 0 0 0 1 1*..
//! ```
//!
//! What was answered with `ok` is there after every reset; of what a reset hits, all is there or nothing. At each start
//! the purse says `$ready` with the number of its starts, which it keeps too.
#![no_std]
#![no_main]

use core::fmt::{self, Write};
use core::panic::PanicInfo;

use cortex_m_rt::entry;
use norn_board::line::{self, Line};
use norn_embedded::flash::{EmbeddedNor, MountError, NorRangeError};
use norn_embedded::heap::{AccessError, CreateError, Layout, LogHeap, Ref, StoreError, TransactionError};
use norn_microbit::nvmc::Nvmc;
use norn_microbit::uart::Uart;

type Heap = LogHeap<EmbeddedNor<Nvmc>, 16>;
type DeviceError = NorRangeError<<Nvmc as embedded_storage::nor_flash::ErrorType>::Error>;

const ACCOUNTS: usize = 8;
/// The fields of the purse after its accounts: transfers, and starts of the program.
const TRANSFERS: usize = ACCOUNTS;
const STARTS: usize = ACCOUNTS + 1;
const FIELDS: usize = ACCOUNTS + 2;

/// Why a command is not obeyed. Nothing has changed then.
enum Refusal {
    Unknown,
    Poor,
    Heap,
}

impl From<AccessError<DeviceError>> for Refusal {
    fn from(_: AccessError<DeviceError>) -> Self {
        Refusal::Heap
    }
}

impl From<TransactionError<DeviceError>> for Refusal {
    fn from(_: TransactionError<DeviceError>) -> Self {
        Refusal::Heap
    }
}

impl From<CreateError<DeviceError>> for Refusal {
    fn from(_: CreateError<DeviceError>) -> Self {
        Refusal::Heap
    }
}

impl From<StoreError<DeviceError>> for Refusal {
    fn from(_: StoreError<DeviceError>) -> Self {
        Refusal::Heap
    }
}

struct Purse {
    heap: Heap,
    object: Ref,
}

impl Purse {
    /// Finds the purse, or makes an empty one.
    fn open(mut heap: Heap) -> Result<Self, Refusal> {
        let object = match heap.root(b"purse").map_err(|_| Refusal::Heap)? {
            Some(object) => object,
            None => Self::create(&mut heap)?,
        };
        let mut purse = Purse { heap, object };
        purse.add(STARTS, 1)?;
        Ok(purse)
    }

    fn create(heap: &mut Heap) -> Result<Ref, Refusal> {
        heap.begin()?;
        let object = heap.create(Layout::uniform(FIELDS, 4))?;
        heap.set_root(b"purse", Some(object)).map_err(|_| Refusal::Heap)?;
        heap.commit()?;
        Ok(object)
    }

    fn get(&mut self, field: usize) -> Result<u32, Refusal> {
        let mut bytes = [0; 4];
        self.heap.get_field(self.object, field, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn put(&mut self, field: usize, value: u32) -> Result<(), Refusal> {
        Ok(self.heap.put_field(self.object, field, &value.to_le_bytes())?)
    }

    fn add(&mut self, field: usize, amount: u32) -> Result<(), Refusal> {
        let sum = self.get(field)?.checked_add(amount).ok_or(Refusal::Unknown)?;
        self.put(field, sum)
    }

    /// Makes all that `change` does one change.
    fn whole(&mut self, change: impl FnOnce(&mut Self) -> Result<(), Refusal>) -> Result<(), Refusal> {
        self.heap.begin()?;
        match change(self) {
            Ok(()) => Ok(self.heap.commit()?),
            Err(refusal) => {
                self.heap.abort()?;
                Err(refusal)
            }
        }
    }

    fn transfer(&mut self, from: usize, to: usize, amount: u32) -> Result<(), Refusal> {
        self.whole(|purse| {
            let rest = purse.get(from)?.checked_sub(amount).ok_or(Refusal::Poor)?;
            purse.put(from, rest)?;
            purse.add(to, amount)?;
            purse.add(TRANSFERS, 1)
        })
    }

    /// Moves an amount on from each account to the next, one after the other: as many transfers as accounts.
    fn shift(&mut self, amount: u32) -> Result<(), Refusal> {
        self.whole(|purse| {
            for from in 0..ACCOUNTS {
                let rest = purse.get(from)?.checked_sub(amount).ok_or(Refusal::Poor)?;
                purse.put(from, rest)?;
                purse.add((from + 1) % ACCOUNTS, amount)?;
                purse.add(TRANSFERS, 1)?;
            }
            Ok(())
        })
    }

    fn tidy(&mut self) -> Result<(), Refusal> {
        while self.heap.reclaim_step(1)? {}
        Ok(self.heap.rest()?)
    }

    fn show(&mut self, text: &mut Line) -> Result<(), Refusal> {
        for field in 0..FIELDS {
            let value = self.get(field)?;
            let _ = write!(text, " {value}");
        }
        Ok(())
    }

    /// Obeys a command, and writes what it answers besides its name.
    fn obey<'a>(&mut self, mut words: impl Iterator<Item = &'a str>, answer: &mut Line) -> Result<(), Refusal> {
        let command = words.next();
        let mut number = || words.next().and_then(|word| word.parse::<u32>().ok()).ok_or(Refusal::Unknown);
        let account = |number: u32| if number < ACCOUNTS as u32 { Ok(number as usize) } else { Err(Refusal::Unknown) };
        match command {
            Some("credit") => self.add(account(number()?)?, number()?),
            Some("transfer") => self.transfer(account(number()?)?, account(number()?)?, number()?),
            Some("shift") => self.shift(number()?),
            Some("tidy") => self.tidy(),
            Some("show") => self.show(answer),
            _ => Err(Refusal::Unknown),
        }
    }

    /// The answer to a line: its number, and what came of it.
    fn answer(&mut self, line: &Line) -> Line {
        let (mut words, mut answer, mut values) = (line.words(), Line::new(), Line::new());
        let number = words.next().unwrap_or_default();
        let outcome = match self.obey(words, &mut values) {
            Ok(()) => "ok",
            Err(Refusal::Poor) => "poor",
            Err(Refusal::Unknown) => "unknown",
            Err(Refusal::Heap) => "failed",
        };
        let _ = write!(answer, "{number} {outcome}");
        values.words().skip(1).for_each(|value| _ = write!(answer, " {value}"));
        answer
    }
}

/// The heap on the chip's flash, which is formatted if there is none.
fn mount() -> Result<Heap, MountError<DeviceError>> {
    // SAFETY: called once; the heap before is gone when the part is formatted.
    let device = || EmbeddedNor::new(unsafe { Nvmc::new() }).expect("16 pages of 1 KB are a part");
    match Heap::mount(device()) {
        Err(MountError::NotFormatted) => Heap::format(device()),
        mounted => mounted,
    }
}

#[entry]
fn main() -> ! {
    // SAFETY: the only one, and there are no interrupts.
    let mut uart = unsafe { Uart::start() };
    let Ok(heap) = mount() else { stop(format_args!("no heap")) };
    let Ok(mut purse) = Purse::open(heap) else { stop(format_args!("no purse")) };
    let starts = purse.get(STARTS).unwrap_or(0);
    line::send(&mut uart, format_args!("ready {starts}"));
    line::serve(&mut uart, |line| purse.answer(line))
}

/// Says why there is no purse, and waits for a reset.
fn stop(why: fmt::Arguments<'_>) -> ! {
    // SAFETY: whoever had the line does not go on.
    line::stop(&mut unsafe { Uart::start() }, why)
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    stop(format_args!("panic {info}"))
}
