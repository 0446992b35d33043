//! A Java Card on a Cortex-M3 with 8 KiB of RAM for the card: its code on NAND through a pager, its objects on NOR, over
//! a serial line.
//!
//! ```text
//! $1 load 0 4E4F...*..                       bytes of a package, from a place on     $1 ok*..
//! $2 package 5120*..                         installs the package of so many bytes   $2 ok*..  or  $2 refused*..
//! $3 applet F00000000201 F00000000201 31*..  an instance: applet, its AID, parameters
//! $4 apdu 00A4040006F00000000201*..          a command                               $4 ok 9000*..
//! $5 cost*..                                 instructions of the last command        $5 ok 81204*..
//! ```
//!
//! Numbers of bytes are decimal, bytes hexadecimal. What was answered is there after every reset; of what a reset hits,
//! all is there or nothing. At each start the card says `$ready`. Instructions are counted as [`counts`](norn_mps2_an385::counts) says.
#![no_std]
#![no_main]

use core::fmt::{self, Write};
use core::mem::MaybeUninit;
use core::panic::PanicInfo;
use core::ptr::addr_of_mut;

use cortex_m_rt::entry;
use norn_board::line::{self, Line};
use norn_card_package::Aid;
use norn_card_vm::{AppletCard, Card, Journaled, NandPackages, NoCrypto};
use norn_embedded::code::Options;
use norn_embedded::code::policy::Clock;
use norn_embedded::flash::{MountError, Reprogramming};
use norn_embedded::tinystore::{Config, HeapIn, LeastFeatures, UnitRow};
use norn_mps2_an385::counts::timer;
use norn_mps2_an385::lasting;
use norn_mps2_an385::ram_nand::RamNand;
use norn_mps2_an385::ram_nor::RamNor;
use norn_mps2_an385::uart::Uart;

/// Erase units of the objects' part; the journal has a part of one.
const UNITS: usize = 16;
const UNIT_BYTES: usize = 4096;
const NAND_BLOCKS: usize = 64;
/// Bytecodes that a run of an applet's code may take.
const BYTECODES: u32 = 200_000;
/// Bytes of the largest package, and of a response.
const PACKAGE_BYTES_MAX: usize = 64 << 10;
const RESPONSE_BYTES_MAX: usize = 258;

type Heap = HeapIn<RamNor, [UnitRow; UNITS], (), LeastFeatures>;
type Packages = NandPackages<RamNand, Clock<32>, 8, 32, 64, 512>;
type Vm = AppletCard<Journaled<Heap, RamNor>, Packages, NoCrypto, 8, 1536, 512>;
/// A command of 261 bytes in hexadecimal digits, and its name.
type CardLine = Line<560>;

/// The card, which is too large for the stack of most boards.
static mut CARD: MaybeUninit<Vm> = MaybeUninit::uninit();
/// A package that comes in pieces.
static mut PACKAGE: [u8; PACKAGE_BYTES_MAX] = [0; PACKAGE_BYTES_MAX];

/// The card, mounted, and formatted at its first start.
fn mount() -> Option<&'static mut Vm> {
    // SAFETY: called once.
    let memory = unsafe { lasting::memory() };
    let (objects, rest) = memory.split_at_mut_checked(UNITS * UNIT_BYTES)?;
    let (journal, rest) = rest.split_at_mut_checked(UNIT_BYTES)?;
    let (packages, _) = rest.split_at_mut_checked(NAND_BLOCKS * RamNand::BLOCK_BYTES)?;
    let nor = |cells| RamNor::new(cells, UNIT_BYTES as u32, 4, Reprogramming::Unlimited);
    let mut heap = Heap::unmounted_in(nor(objects), [UnitRow::UNUSED; UNITS], ());
    let heap = match heap.remount() {
        Err(MountError::NotFormatted) => Heap::format_with(heap.into_device(), Config::tinystore_2006(), ()).ok()?,
        mounted => mounted.ok().map(|()| heap)?,
    };
    let heap = Journaled::mount(heap, nor(journal)).ok()?;
    let packages = Packages::mount(RamNand::new(packages), Options::default(), ()).ok()?;
    // SAFETY: called once.
    let card = unsafe { &mut *addr_of_mut!(CARD) }.write(Vm::off(heap, packages, NoCrypto, BYTECODES));
    card.reset().ok()?;
    Some(card)
}

/// Why a command is not obeyed.
enum Refusal {
    Unknown,
    Refused,
    Failed,
}

/// Reads bytes from hexadecimal digits.
fn bytes_of<'a>(digits: &str, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    let pairs = digits.as_bytes().as_chunks::<2>();
    let bytes = buffer.get_mut(..pairs.0.len()).filter(|_| pairs.1.is_empty())?;
    for (byte, pair) in bytes.iter_mut().zip(pairs.0) {
        *byte = u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

struct Host {
    card: &'static mut Vm,
    package: &'static mut [u8],
    /// Instructions of the last command.
    cost: u32,
}

impl Host {
    fn load(&mut self, at: &str, digits: &str) -> Option<()> {
        let place = self.package.get_mut(at.parse().ok()?..)?;
        bytes_of(digits, place).map(|_| ())
    }

    fn install_package(&mut self, length: &str) -> Result<(), Refusal> {
        let length = length.parse().ok().filter(|length| *length <= self.package.len()).ok_or(Refusal::Unknown)?;
        self.card.install_package(&self.package[..length]).map_err(|_| Refusal::Refused)
    }

    fn install_applet(&mut self, applet: &str, instance: &str, parameters: &str) -> Result<(), Refusal> {
        let aid = |digits| bytes_of(digits, &mut [0; 16]).and_then(Aid::new).ok_or(Refusal::Unknown);
        let mut bytes = [0; 127];
        let parameters = bytes_of(parameters, &mut bytes).ok_or(Refusal::Unknown)?;
        self.card.install_applet(aid(applet)?, aid(instance)?, parameters).map_err(|_| Refusal::Refused)
    }

    fn process(&mut self, digits: &str, answer: &mut CardLine) -> Result<(), Refusal> {
        let (mut command, mut response) = ([0; 261], [0; RESPONSE_BYTES_MAX]);
        let command = bytes_of(digits, &mut command).ok_or(Refusal::Unknown)?;
        let before = timer::now();
        let length = self.card.process(command, &mut response).map_err(|_| Refusal::Failed)?;
        self.cost = timer::instructions_since(before);
        response[..length].iter().for_each(|byte| _ = write!(answer, "{byte:02X}"));
        Ok(())
    }

    /// The answer to a line: its number, and what came of it.
    fn answer(&mut self, line: &CardLine) -> CardLine {
        let (mut words, mut answer, mut response) = (line.words(), CardLine::new(), CardLine::new());
        let number = words.next().unwrap_or_default();
        let command = words.next();
        let mut word = || words.next().unwrap_or_default();
        let outcome = match command {
            Some("load") => self.load(word(), word()).ok_or(Refusal::Unknown),
            Some("package") => self.install_package(word()),
            Some("applet") => self.install_applet(word(), word(), word()),
            Some("apdu") => self.process(word(), &mut response),
            Some("cost") => write!(response, "{}", self.cost).map_err(|_| Refusal::Failed),
            _ => Err(Refusal::Unknown),
        };
        let outcome = match outcome {
            Ok(()) => "ok",
            Err(Refusal::Unknown) => "unknown",
            Err(Refusal::Refused) => "refused",
            Err(Refusal::Failed) => "failed",
        };
        let _ = write!(answer, "{number} {outcome}");
        response.words().filter(|word| !word.is_empty()).for_each(|word| _ = write!(answer, " {word}"));
        answer
    }
}

#[entry]
fn main() -> ! {
    // SAFETY: the only one, and there are no interrupts.
    let mut uart = unsafe { Uart::start() };
    timer::start();
    let Some(card) = mount() else { stop(format_args!("no card")) };
    // SAFETY: nobody else has it.
    let mut host = Host { card, package: unsafe { &mut *addr_of_mut!(PACKAGE) }, cost: 0 };
    line::send(&mut uart, format_args!("ready"));
    line::serve(&mut uart, |line| host.answer(line))
}

/// Says why there is no card, and waits for a reset.
fn stop(why: fmt::Arguments<'_>) -> ! {
    // SAFETY: whoever had the line does not go on.
    line::stop(&mut unsafe { Uart::start() }, why)
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    stop(format_args!("panic {info}"))
}
