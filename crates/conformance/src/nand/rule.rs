//! The rules that a NAND part keeps.

use core::fmt;

/// What a device promises by [`Nand`](norn_flash::Nand), and what a good driver does besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NandRule {
    /// The description is that of a possible part.
    PossiblePart,
    /// No more blocks are marked bad than the part says, the first is good, and another one is.
    GoodBlocks,
    /// A block is marked bad, or is not, each time that it is asked.
    BadMarks,
    /// The pages of an erased block read as ones, out-of-band areas included.
    EraseSetsAll,
    /// A program puts its pieces of data in their places, and ones elsewhere.
    ProgramWrites,
    /// A program puts its pieces in the out-of-band area, too.
    OutOfBand,
    /// A program changes no other page of its block.
    ProgramKeepsOthers,
    /// An erase changes no other block.
    EraseKeepsOthers,
    /// Every block has cells of its own: the part is as large as it says.
    BlocksApart,
    /// Pages may be left out; they stay erased.
    SkippedPages,
    /// A program without pieces leaves ones, and a fetch of no bytes fetches none.
    EmptyCalls,
    /// The register keeps a page through fetches and seeks.
    RegisterKeeps,
    /// Where the part allows it, the position goes backwards.
    SeeksAnywhere,
    /// A load changes nothing: the next one brings the same.
    LoadsRepeat,
    /// What was loaded can be programmed elsewhere, changed by pieces.
    ProgramLoaded,
    /// A copy does so in one call, and leaves the first page as it was.
    Copies,
    /// What was programmed outlives a restart of the device.
    Restart,
    /// A defence: blocks, pages and columns that there are not are refused.
    RefusesOutside,
    /// A defence: a page is not programmed twice, nor after a later one of its block.
    RefusesPageOrder,
    /// The description stays the same.
    SamePart,
}

impl NandRule {
    /// All of them, in the order in which they are tried.
    pub const ALL: [NandRule; 20] = [
        NandRule::PossiblePart,
        NandRule::GoodBlocks,
        NandRule::BadMarks,
        NandRule::EraseSetsAll,
        NandRule::ProgramWrites,
        NandRule::OutOfBand,
        NandRule::ProgramKeepsOthers,
        NandRule::EraseKeepsOthers,
        NandRule::BlocksApart,
        NandRule::SkippedPages,
        NandRule::EmptyCalls,
        NandRule::RegisterKeeps,
        NandRule::SeeksAnywhere,
        NandRule::LoadsRepeat,
        NandRule::ProgramLoaded,
        NandRule::Copies,
        NandRule::Restart,
        NandRule::RefusesOutside,
        NandRule::RefusesPageOrder,
        NandRule::SamePart,
    ];

    /// The rule in words.
    pub const fn text(self) -> &'static str {
        match self {
            NandRule::PossiblePart => "the part's description is possible",
            NandRule::GoodBlocks => "the part has as many good blocks as it says",
            NandRule::BadMarks => "marks of bad blocks stay",
            NandRule::EraseSetsAll => "an erased block reads as ones",
            NandRule::ProgramWrites => "a program puts its pieces in their places",
            NandRule::OutOfBand => "a program puts pieces in the out-of-band area",
            NandRule::ProgramKeepsOthers => "a program changes no other page",
            NandRule::EraseKeepsOthers => "an erase changes no other block",
            NandRule::BlocksApart => "every block has cells of its own",
            NandRule::SkippedPages => "pages that are left out stay erased",
            NandRule::EmptyCalls => "calls with no bytes do nothing",
            NandRule::RegisterKeeps => "the register keeps a page",
            NandRule::SeeksAnywhere => "the register's position goes backwards",
            NandRule::LoadsRepeat => "a load changes nothing",
            NandRule::ProgramLoaded => "a page that was loaded can be programmed elsewhere",
            NandRule::Copies => "a copy has what the page has",
            NandRule::Restart => "what was programmed outlives a restart",
            NandRule::RefusesOutside => "calls outside of the part are refused",
            NandRule::RefusesPageOrder => "programs of earlier pages of a block are refused",
            NandRule::SamePart => "the part's description stays the same",
        }
    }

    /// Whether the contract does not ask for it.
    pub const fn is_defence(self) -> bool {
        matches!(self, NandRule::RefusesOutside | NandRule::RefusesPageOrder)
    }
}

impl fmt::Display for NandRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}
