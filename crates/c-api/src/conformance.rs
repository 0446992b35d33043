//! The conformance suite: whether a part behind functions of the caller's keeps its contract.

use core::ffi::{c_char, c_int, c_void};

use norn_conformance::{BufferTooSmall, Defences, Outcome, RuleCounts, check_nand, check_nor};
use norn_flash::{Address, Nand, PageAddress};

use crate::device::{Device, norn_nor};
use crate::error::Failure;
use crate::error::norn_error::*;
use crate::memory;
use crate::nand::{NandDevice, NandFailure, norn_nand};

/// Bytes of memory for `norn_nor_check`, at least.
pub const NORN_NOR_CHECK_BYTES: usize = 64;

const _: () = assert!(NORN_NOR_CHECK_BYTES >= norn_conformance::NOR_BUFFER_BYTES_MIN);

/// The part keeps the rule, as far as was tried.
pub const NORN_RULE_KEPT: u32 = 0;
/// It does not: `expected` should be at `place`, `found` is.
pub const NORN_RULE_BROKEN: u32 = 1;
/// A call that the contract allows failed: `found` is what the function returned.
pub const NORN_RULE_FAILED: u32 = 2;
/// The rule was not tried.
pub const NORN_RULE_NOT_TRIED: u32 = 3;

/// What became of a rule.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct norn_finding {
    /// The rule in words: `rule_bytes` bytes, without a zero at the end (`%.*s`).
    pub rule: *const c_char,
    /// The bytes of `rule`.
    pub rule_bytes: usize,
    /// `NORN_RULE_KEPT`, `NORN_RULE_BROKEN`, `NORN_RULE_FAILED` or `NORN_RULE_NOT_TRIED`.
    pub outcome: u32,
    /// Where that shows first: an address of a NOR part, a page of a NAND part.
    pub place: u32,
    /// The byte that was to be there, or what else the rule compares.
    pub expected: u32,
    /// What is there.
    pub found: u32,
}

/// Takes what became of a rule, which it may not keep.
pub type norn_rule_report = Option<unsafe extern "C" fn(context: *mut c_void, finding: *const norn_finding)>;

/// Where findings go.
#[derive(Clone, Copy)]
struct Listener {
    report: norn_rule_report,
    context: *mut c_void,
}

impl Listener {
    fn tell(self, rule: &'static str, outcome: u32, place: u32, [expected, found]: [u32; 2]) {
        let Some(report) = self.report else { return };
        let (text, rule_bytes) = (rule.as_ptr().cast(), rule.len());
        let finding = norn_finding { rule: text, rule_bytes, outcome, place, expected, found };
        // SAFETY: the header's rules on pointers, which the caller's function is called with.
        unsafe { report(self.context, &raw const finding) }
    }

    fn tell_outcome<P, E>(
        self,
        rule: &'static str,
        outcome: &Outcome<P, E>,
        place: impl Fn(&P) -> u32,
        number: impl Fn(&E) -> c_int,
    ) {
        match outcome {
            Outcome::Kept => self.tell(rule, NORN_RULE_KEPT, 0, [0; 2]),
            Outcome::NotTried(_) => self.tell(rule, NORN_RULE_NOT_TRIED, 0, [0; 2]),
            Outcome::Broken { place: at, expected, found } => {
                self.tell(rule, NORN_RULE_BROKEN, place(at), [*expected, *found]);
            }
            Outcome::Failed { place: at, error } => {
                self.tell(rule, NORN_RULE_FAILED, place(at), [0, number(error) as u32]);
            }
        }
    }
}

/// The result of a suite.
fn concluded(counts: Result<RuleCounts, BufferTooSmall>) -> Result<(), Failure> {
    match counts {
        Ok(counts) if counts.all_kept() => Ok(()),
        Ok(_) => Err(NORN_ERROR_VIOLATION.into()),
        Err(BufferTooSmall { needed }) => Err(Failure::limited(NORN_ERROR_MEMORY, needed as u32)),
    }
}

fn number(result: Result<(), Failure>) -> c_int {
    result.map_or_else(Failure::number, |()| NORN_OK as c_int)
}

/// Tries every rule that a NOR part has to keep, and calls `report`, which may be NULL, with what became of each.
/// **What the part held is lost.** `memory` has `memory_bytes` bytes of any alignment, `NORN_NOR_CHECK_BYTES` or more.
/// Run it on the board, before anything is kept there.
///
/// It calls `read` and `program` also with `bytes` of 0 at an address of the part, for which they have to return 0 and
/// do nothing: a driver that refuses them breaks "calls with no bytes do nothing".
///
/// Cost: an erase of each unit, and some twenty of three of them, which are programmed and read about as often.
///
/// Errors: `NORN_ERROR_VIOLATION` if a rule is broken; `NORN_ERROR_PART`, `NORN_ERROR_NULL`, `NORN_ERROR_MEMORY`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_nor_check(
    nor: *const norn_nor,
    memory: *mut c_void,
    memory_bytes: usize,
    report: norn_rule_report,
    context: *mut c_void,
) -> c_int {
    let listener = Listener { report, context };
    // SAFETY: the header's rules on pointers.
    number(unsafe { memory::lent_mut(memory, memory_bytes) }.and_then(|buffer| {
        // SAFETY: the same.
        let mut device = unsafe { Device::new(memory::value(nor)?) }?;
        concluded(check_nor(&mut device, buffer, Defences::Leave, |finding| {
            listener.tell_outcome(finding.rule.text(), &finding.outcome, |&Address(place)| place, |&number| number);
        }))
    }))
}

/// Tries every rule that a NAND part has to keep: as `norn_nor_check`. `memory` has as many bytes as a page with its
/// out-of-band area. **What the part held is lost**, in all blocks that are not marked bad.
///
/// A block that fails (`NORN_NAND_BLOCK_FAILED`) fails the rule that was being tried, and is neither programmed nor
/// erased again; the rules after it try another block. The suite does not mark it: the next check tries it again,
/// unless the driver has marked it.
///
/// Cost: an erase of each good block, and some twenty of two of them, whose pages are programmed and loaded about as
/// often.
///
/// Errors: as `norn_nor_check`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_nand_check(
    nand: *const norn_nand,
    memory: *mut c_void,
    memory_bytes: usize,
    report: norn_rule_report,
    context: *mut c_void,
) -> c_int {
    let listener = Listener { report, context };
    // SAFETY: the header's rules on pointers.
    number(unsafe { memory::lent_mut(memory, memory_bytes) }.and_then(|buffer| {
        // SAFETY: the same.
        let mut device = unsafe { NandDevice::new(memory::value(nand)?) }?;
        let part = device.part();
        let place = |&page: &PageAddress| part.number_of(page).0;
        let summary = check_nand(&mut device, buffer, Defences::Leave, |finding| {
            listener.tell_outcome(finding.rule.text(), &finding.outcome, place, |&NandFailure(number)| number);
        });
        concluded(summary.map(|summary| summary.counts))
    }))
}
