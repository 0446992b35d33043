//! Hints for searches in delta tables: without them each search starts at the beginning of the group's path.

use norn_flash::EraseUnit;

/// Where searches for some groups may start: at the group's last record, or where the search for it ended.
#[derive(Clone, Debug)]
pub(crate) struct Hints([Hint; HINTS]);

#[derive(Clone, Copy, Debug)]
struct Hint {
    home: u16,
    group: u16,
    index: u16,
}

/// Groups whose searches are remembered.
const HINTS: usize = 16;
const NO_HINT: Hint = Hint { home: u16::MAX, group: 0, index: 0 };

impl Hints {
    pub const NONE: Hints = Hints([NO_HINT; HINTS]);

    /// Where the search for a group starts.
    pub fn start(&self, home: EraseUnit, group: u16) -> u32 {
        let hint = self.0[Self::slot(home, group)];
        if (hint.home, hint.group) == (home.0, group) { u32::from(hint.index) } else { 0 }
    }

    /// Takes note of where the search for a group is to start.
    pub fn put(&mut self, home: EraseUnit, group: u16, index: u32) {
        self.0[Self::slot(home, group)] = Hint { home: home.0, group, index: index as u16 };
    }

    /// Forgets what a home held.
    pub fn forget(&mut self, home: EraseUnit) {
        self.0.iter_mut().filter(|hint| hint.home == home.0).for_each(|hint| *hint = NO_HINT);
    }

    fn slot(home: EraseUnit, group: u16) -> usize {
        usize::from(home.0.wrapping_mul(5) ^ group ^ group >> 4) % HINTS
    }
}
