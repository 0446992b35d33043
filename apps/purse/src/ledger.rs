//! The books in plain memory: what the heap should hold, and what it did hold when it was read.
//!
//! Invariants, which [`Ledger::inconsistency`] checks: the balances add up to the money credited minus the money
//! debited; the accounts are those opened and not closed; the ring holds the newest entries, each at the place of its
//! number.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

/// Entries that the bank's log keeps.
pub const RING_LENGTH: usize = 32;

/// An account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// Money in it.
    pub balance: u32,
    /// Its number, which no other account ever has.
    pub number: u32,
    /// How often it received money, modulo 2³².
    pub credits: u32,
    /// How often it paid, modulo 2³².
    pub debits: u32,
}

/// The bank as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Money ever credited from outside.
    pub credited: u64,
    /// Money ever debited to the outside.
    pub debited: u64,
    /// Commands that took effect; also the number of the newest log entry.
    pub sequence: u64,
    /// Those of them that were transfers.
    pub transfers: u64,
    /// Accounts ever opened.
    pub opened: u64,
    /// Accounts ever closed.
    pub closed: u64,
}

/// What a command did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// An account was opened.
    Open,
    /// An account was closed.
    Close,
    /// Money came from outside.
    Credit,
    /// Money went to the outside.
    Debit,
    /// Money went from one account to another.
    Transfer,
}

/// An entry of the bank's log. Accounts are named by their numbers; 0 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What was done.
    pub kind: EntryKind,
    /// The account that paid, or was closed.
    pub from: u16,
    /// The account that received, or was opened.
    pub to: u16,
    /// The money.
    pub amount: u32,
    /// Number of the entry from 1, modulo 2³².
    pub sequence: u32,
}

/// Everything that one command changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Accounts as they are afterwards; `None` for a closed one.
    pub accounts: Vec<(String, Option<Account>)>,
    /// The bank afterwards.
    pub totals: Totals,
    /// What the log says of it.
    pub entry: Entry,
}

/// Books that commands can be decided on: those in memory, and those on flash.
pub trait Books {
    /// Why they could not be read.
    type Error;

    /// The account of this name.
    fn account(&mut self, name: &str) -> Result<Option<Account>, Self::Error>;
    /// The bank.
    fn totals(&mut self) -> Result<Totals, Self::Error>;
    /// Names of the accounts in alphabetical order.
    fn names(&self) -> Vec<String>;
}

/// Accounts, bank and log in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ledger {
    /// The accounts by name.
    pub accounts: BTreeMap<String, Account>,
    /// The bank.
    pub totals: Totals,
    /// The log, a ring of [`RING_LENGTH`] places.
    pub ring: Vec<Option<Entry>>,
}

impl Totals {
    /// Place in the ring of the entry that comes next.
    pub fn next_place(&self) -> usize {
        (self.sequence % RING_LENGTH as u64) as usize
    }
}

impl Entry {
    /// Place of the entry in the ring; the first has number 1 and place 0.
    pub fn place(&self) -> usize {
        self.sequence.wrapping_sub(1) as usize % RING_LENGTH
    }
}

impl Ledger {
    /// The books of a new bank.
    pub fn empty() -> Ledger {
        Ledger { accounts: BTreeMap::new(), totals: Totals::default(), ring: vec![None; RING_LENGTH] }
    }

    /// Takes over what a command changes.
    pub fn apply(&mut self, change: &Change) {
        for (name, account) in &change.accounts {
            match account {
                Some(account) => self.accounts.insert(name.clone(), *account),
                None => self.accounts.remove(name),
            };
        }
        self.totals = change.totals;
        self.ring[change.entry.place()] = Some(change.entry);
    }

    /// Sum of all balances.
    pub fn balance_sum(&self) -> u64 {
        self.accounts.values().map(|account| u64::from(account.balance)).sum()
    }

    /// Whether no money was lost or made.
    pub fn conserves_money(&self) -> bool {
        self.totals.credited.checked_sub(self.totals.debited) == Some(self.balance_sum())
    }

    /// The newest `count` entries of the log, newest last.
    pub fn newest(&self, count: usize) -> Vec<Entry> {
        let newest_first = (1..=RING_LENGTH).map(|back| (self.totals.next_place() + RING_LENGTH - back) % RING_LENGTH);
        let mut entries: Vec<Entry> = newest_first.filter_map(|place| self.ring[place]).take(count).collect();
        entries.reverse();
        entries
    }

    /// The name of the account of number `number`, if it is open.
    pub fn name_of(&self, number: u16) -> Option<&str> {
        let found = self.accounts.iter().find(|(_, account)| account.number == u32::from(number));
        found.map(|(name, _)| name.as_str())
    }

    /// The first invariant that does not hold, as a sentence.
    pub fn inconsistency(&self) -> Option<String> {
        let totals = &self.totals;
        if !self.conserves_money() {
            let sum = self.balance_sum();
            return Some(format!("the balances add up to {sum} and not to {} − {}", totals.credited, totals.debited));
        }
        if totals.closed.checked_add(self.accounts.len() as u64) != Some(totals.opened) {
            let open = self.accounts.len();
            return Some(format!("{open} accounts, where {} were opened and {} closed", totals.opened, totals.closed));
        }
        let numbers: BTreeSet<u32> = self.accounts.values().map(|account| account.number).collect();
        if numbers.len() != self.accounts.len() {
            return Some("two accounts of one number".to_owned());
        }
        self.ring_inconsistency()
    }

    /// The first thing in which these books are not as `expected`, as a sentence.
    pub fn difference(&self, expected: &Ledger) -> Option<String> {
        if self.totals != expected.totals {
            return Some(format!("the bank is {:?} and not {:?}", self.totals, expected.totals));
        }
        for name in self.accounts.keys().chain(expected.accounts.keys()) {
            let (found, expected) = (self.accounts.get(name), expected.accounts.get(name));
            if found != expected {
                return Some(format!("account {name} is {found:?} and not {expected:?}"));
            }
        }
        let place = (0..RING_LENGTH).find(|&place| self.ring[place] != expected.ring[place])?;
        Some(format!("entry {place} of the log is {:?} and not {:?}", self.ring[place], expected.ring[place]))
    }

    fn ring_inconsistency(&self) -> Option<String> {
        let newest = self.totals.sequence;
        for back in 0..RING_LENGTH as u64 {
            let expected = newest.checked_sub(back).filter(|&sequence| sequence > 0);
            let place = (newest + 2 * RING_LENGTH as u64 - 1 - back) as usize % RING_LENGTH;
            let found = self.ring[place].map(|entry| entry.sequence);
            if found != expected.map(|sequence| sequence as u32) {
                return Some(format!("place {place} of the log holds entry {found:?} and not {expected:?}"));
            }
        }
        None
    }
}

impl Books for Ledger {
    type Error = Infallible;

    fn account(&mut self, name: &str) -> Result<Option<Account>, Infallible> {
        Ok(self.accounts.get(name).copied())
    }

    fn totals(&mut self) -> Result<Totals, Infallible> {
        Ok(self.totals)
    }

    fn names(&self) -> Vec<String> {
        self.accounts.keys().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    //! Proves that the checks of the books can fail.
    use super::*;

    fn after_one_credit() -> Ledger {
        let mut ledger = Ledger::empty();
        let account = Account { balance: 0, number: 1, credits: 0, debits: 0 };
        let entry = Entry { kind: EntryKind::Open, from: 0, to: 1, amount: 0, sequence: 1 };
        let totals = Totals { sequence: 1, opened: 1, ..Totals::default() };
        ledger.apply(&Change { accounts: vec![("ann".to_owned(), Some(account))], totals, entry });
        let account = Account { balance: 20, credits: 1, ..account };
        let entry = Entry { kind: EntryKind::Credit, amount: 20, sequence: 2, ..entry };
        let totals = Totals { sequence: 2, credited: 20, ..totals };
        ledger.apply(&Change { accounts: vec![("ann".to_owned(), Some(account))], totals, entry });
        ledger
    }

    #[test]
    fn consistent_books_pass() {
        assert_eq!(Ledger::empty().inconsistency(), None);
        let ledger = after_one_credit();
        assert_eq!(ledger.inconsistency(), None);
        assert_eq!(ledger.newest(1)[0].kind, EntryKind::Credit);
        assert_eq!(ledger.newest(9).len(), 2);
        assert_eq!(ledger.name_of(1), Some("ann"));
    }

    #[test]
    fn lost_money_a_lost_account_and_a_lost_entry_are_found() {
        let mut ledger = after_one_credit();
        ledger.accounts.get_mut("ann").unwrap().balance = 19;
        assert_eq!(ledger.inconsistency().unwrap(), "the balances add up to 19 and not to 20 − 0");

        let mut ledger = after_one_credit();
        ledger.totals.opened = 2;
        assert_eq!(ledger.inconsistency().unwrap(), "1 accounts, where 2 were opened and 0 closed");

        let mut ledger = after_one_credit();
        ledger.ring[1] = None;
        assert_eq!(ledger.inconsistency().unwrap(), "place 1 of the log holds entry None and not Some(2)");
    }

    #[test]
    fn every_difference_is_found() {
        let expected = after_one_credit();
        assert_eq!(expected.difference(&expected), None);
        let changes: [fn(&mut Ledger); 4] = [
            |ledger| ledger.totals.transfers += 1,
            |ledger| ledger.accounts.get_mut("ann").unwrap().debits += 1,
            |ledger| ledger.accounts.clear(),
            |ledger| ledger.ring[0] = None,
        ];
        for change in changes {
            let mut found = expected.clone();
            change(&mut found);
            assert!(found.difference(&expected).is_some());
        }
    }
}
