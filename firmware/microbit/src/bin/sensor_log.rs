//! A sensor log in the flash of a micro:bit, over its serial line: readings by the second, of which the oldest make room.
//!
//! ```text
//! $1 add 60 215*..            a reading of 215 at second 60     $1 ok 0*..      no old readings were dropped for it
//! $2 sum 0 3600*..            the readings of an hour           $2 ok 1 215 215 215*..  how many, sum, least, greatest
//! $3 span*..                  the first second, and the last    $3 ok 60 60*..
//! $4 drop 30*..               drops what is older than 30       $4 ok 0*..      none was
//! $5 remove 60*..             removes one reading               $5 ok*..
//! ```
//!
//! What was answered with `ok` is there after every reset. A reading that a reset hits is there or not; old readings may
//! have been dropped for it.
#![no_std]
#![no_main]

use core::fmt::{self, Write};
use core::ops::Bound;
use core::panic::PanicInfo;

use cortex_m_rt::entry;
use norn_board::line::{self, Line};
use norn_embedded::flash::{EmbeddedNor, NorRangeError};
use norn_embedded::index::{IndexError, LeafMap, MountError, OrderedIndex};
use norn_microbit::nvmc::Nvmc;
use norn_microbit::uart::Uart;

/// Seconds, big-endian so that they sort as numbers, and what the sensor read then.
type Log = LeafMap<EmbeddedNor<Nvmc>, 4, 4>;
type DeviceError = NorRangeError<<Nvmc as embedded_storage::nor_flash::ErrorType>::Error>;

/// Why a command is not obeyed. Nothing has changed then.
enum Refusal {
    Unknown,
    There,
    Absent,
    Old,
    Log,
}

impl From<IndexError<DeviceError>> for Refusal {
    fn from(error: IndexError<DeviceError>) -> Self {
        match error {
            IndexError::KeyExists => Refusal::There,
            IndexError::KeyAbsent => Refusal::Absent,
            IndexError::BelowRing => Refusal::Old,
            _ => Refusal::Log,
        }
    }
}

/// Readings of a span of time in short.
struct Summary {
    count: u32,
    sum: i64,
    least: i32,
    greatest: i32,
}

fn summary(log: &mut Log, from: u32, to: u32) -> Result<Summary, Refusal> {
    let mut summary = Summary { count: 0, sum: 0, least: i32::MAX, greatest: i32::MIN };
    let mut readings = log.range(Bound::Included(from.to_be_bytes()), Bound::Excluded(to.to_be_bytes()));
    while let Some((_, value)) = readings.next_entry()? {
        let value = i32::from_le_bytes(value);
        summary = Summary {
            count: summary.count + 1,
            sum: summary.sum + i64::from(value),
            least: summary.least.min(value),
            greatest: summary.greatest.max(value),
        };
    }
    Ok(summary)
}

fn second((key, _): ([u8; 4], [u8; 4])) -> u32 {
    u32::from_be_bytes(key)
}

/// Obeys a command, and writes what it answers besides `ok`.
fn obey<'a>(log: &mut Log, mut words: impl Iterator<Item = &'a str>, answer: &mut Line) -> Result<(), Refusal> {
    let command = words.next();
    let mut number = || words.next().and_then(|word| word.parse::<u32>().ok()).ok_or(Refusal::Unknown);
    let _ = match command {
        Some("add") => {
            let (at, value) = (number()?.to_be_bytes(), number()?.to_le_bytes());
            write!(answer, " {}", log.insert_in_ring(&at, &value)?)
        }
        Some("sum") => {
            let Summary { count, sum, least, greatest } = summary(log, number()?, number()?)?;
            if count == 0 { write!(answer, " 0") } else { write!(answer, " {count} {sum} {least} {greatest}") }
        }
        Some("span") => match (log.first()?, log.last()?) {
            (Some(first), Some(last)) => write!(answer, " {} {}", second(first), second(last)),
            _ => Ok(()),
        },
        Some("drop") => write!(answer, " {}", log.remove_below(&number()?.to_be_bytes())?),
        Some("remove") => {
            log.remove(&number()?.to_be_bytes())?;
            Ok(())
        }
        _ => return Err(Refusal::Unknown),
    };
    Ok(())
}

/// The answer to a line: its number, and what came of it.
fn answer(log: &mut Log, line: &Line) -> Line {
    let (mut words, mut answer, mut values) = (line.words(), Line::new(), Line::new());
    let number = words.next().unwrap_or_default();
    let outcome = match obey(log, words, &mut values) {
        Ok(()) => "ok",
        Err(Refusal::Unknown) => "unknown",
        Err(Refusal::There) => "there",
        Err(Refusal::Absent) => "absent",
        Err(Refusal::Old) => "old",
        Err(Refusal::Log) => "failed",
    };
    let _ = write!(answer, "{number} {outcome}");
    values.words().skip(1).for_each(|value| _ = write!(answer, " {value}"));
    answer
}

/// The log on the chip's flash, which is formatted if there is none.
fn mount() -> Result<Log, MountError<DeviceError>> {
    // SAFETY: called once; the log before is gone when the part is formatted.
    let device = || EmbeddedNor::new(unsafe { Nvmc::new() }).expect("16 pages of 1 KB are a part");
    match Log::mount(device()) {
        Err(MountError::NotFormatted) => Log::format(device()),
        mounted => mounted,
    }
}

#[entry]
fn main() -> ! {
    // SAFETY: the only one, and there are no interrupts.
    let mut uart = unsafe { Uart::start() };
    let Ok(mut log) = mount() else { stop(format_args!("no log")) };
    line::send(&mut uart, format_args!("ready"));
    line::serve(&mut uart, |line| answer(&mut log, line))
}

/// Says why there is no log, and waits for a reset.
fn stop(why: fmt::Arguments<'_>) -> ! {
    // SAFETY: whoever had the line does not go on.
    line::stop(&mut unsafe { Uart::start() }, why)
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    stop(format_args!("panic {info}"))
}
