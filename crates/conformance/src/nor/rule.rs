//! The rules that a NOR part keeps.

use core::fmt;

/// What a device promises by [`Nor`](norn_flash::Nor), and what a good driver does besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NorRule {
    /// The description is that of a possible part: whole program units in a unit, 32 bits of addresses.
    PossiblePart,
    /// An erased unit reads as ones, from its first byte to its last.
    EraseSetsAll,
    /// A program changes nothing outside of its range, in its unit and in the ones beside it.
    ProgramKeepsOthers,
    /// An erase changes no other unit.
    EraseKeepsOthers,
    /// A program clears the bits that are 0 in its bytes, and no others of its range.
    ProgramWrites,
    /// Every unit has cells of its own: the part is as large as it says.
    UnitsApart,
    /// A single program unit can be programmed, wherever it is.
    SmallestProgram,
    /// A program may cross the borders of a chip's pages and of erase units.
    LongPrograms,
    /// The bytes to program may be anywhere in memory: at odd addresses, and in read-only memory.
    ProgramsFromAnywhere,
    /// Calls with no bytes succeed, and do nothing.
    EmptyCalls,
    /// A program unit can be programmed as often as the part says, each time clearing more.
    Reprogramming,
    /// A read changes nothing: the next one returns the same.
    ReadsRepeat,
    /// Reads of any address and length return what is there, over borders of units as well.
    ReadsAnywhere,
    /// Memory of a mapped part shows what was programmed and erased.
    Mapped,
    /// What was programmed outlives a restart of the device.
    Restart,
    /// A defence: what begins or ends outside of the part is refused, and changes nothing.
    RefusesOutside,
    /// A defence: a program that is not made of whole program units is refused.
    RefusesMisaligned,
    /// A defence: a program unit that was programmed as often as it may be is not programmed again.
    RefusesOverBudget,
    /// The description stays the same.
    SamePart,
}

impl NorRule {
    /// All of them, in the order in which they are tried.
    pub const ALL: [NorRule; 19] = [
        NorRule::PossiblePart,
        NorRule::EraseSetsAll,
        NorRule::ProgramKeepsOthers,
        NorRule::EraseKeepsOthers,
        NorRule::ProgramWrites,
        NorRule::UnitsApart,
        NorRule::SmallestProgram,
        NorRule::LongPrograms,
        NorRule::ProgramsFromAnywhere,
        NorRule::EmptyCalls,
        NorRule::Reprogramming,
        NorRule::ReadsRepeat,
        NorRule::ReadsAnywhere,
        NorRule::Mapped,
        NorRule::Restart,
        NorRule::RefusesOutside,
        NorRule::RefusesMisaligned,
        NorRule::RefusesOverBudget,
        NorRule::SamePart,
    ];

    /// The rule in words.
    pub const fn text(self) -> &'static str {
        match self {
            NorRule::PossiblePart => "the part's description is possible",
            NorRule::EraseSetsAll => "an erased unit reads as ones",
            NorRule::ProgramWrites => "a program clears the bits that are 0 in its bytes",
            NorRule::ProgramKeepsOthers => "a program changes nothing outside of its range",
            NorRule::EraseKeepsOthers => "an erase changes no other unit",
            NorRule::UnitsApart => "every unit has cells of its own",
            NorRule::SmallestProgram => "a single program unit can be programmed",
            NorRule::LongPrograms => "a program may cross borders of pages and units",
            NorRule::ProgramsFromAnywhere => "the bytes to program may be anywhere in memory",
            NorRule::EmptyCalls => "calls with no bytes do nothing",
            NorRule::Reprogramming => "a program unit can be programmed as often as the part says",
            NorRule::ReadsAnywhere => "reads of any address and length return what is there",
            NorRule::ReadsRepeat => "a read changes nothing",
            NorRule::Mapped => "mapped memory shows what is there",
            NorRule::Restart => "what was programmed outlives a restart",
            NorRule::RefusesOutside => "calls outside of the part are refused",
            NorRule::RefusesMisaligned => "programs of parts of a program unit are refused",
            NorRule::RefusesOverBudget => "programs beyond the budget are refused",
            NorRule::SamePart => "the part's description stays the same",
        }
    }

    /// Whether the contract does not ask for it.
    pub const fn is_defence(self) -> bool {
        matches!(self, NorRule::RefusesOutside | NorRule::RefusesMisaligned | NorRule::RefusesOverBudget)
    }
}

impl fmt::Display for NorRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}
