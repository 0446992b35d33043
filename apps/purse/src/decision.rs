//! What a command changes, or why it is refused: decided on any books, before anything is written.

use crate::ledger::{Account, Books, Change, Entry, EntryKind, Totals};
use crate::script::Command;

/// Most money that a random transfer moves.
const RANDOM_AMOUNT_MAX: u32 = 50;
/// Start of every random sequence of transfers.
const RANDOM_SEED: u64 = 0x4E4F_524E;

/// What becomes of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It takes effect.
    Change(Change),
    /// There is nothing to do: the account is open already.
    Nothing,
    /// It is refused, and nothing changes.
    Refused(Refusal),
    /// The script names an account that does not exist.
    UnknownAccount(String),
}

/// Why a command is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Refusal {
    /// The account that pays holds less.
    #[error("insufficient balance")]
    InsufficientBalance,
    /// The account that receives would exceed what a balance can hold.
    #[error("balance over 4294967295")]
    BalanceLimit,
    /// An account that is to be closed holds money.
    #[error("account to close not empty")]
    NotEmpty,
    /// A random transfer needs two accounts.
    #[error("fewer than two accounts")]
    TooFewAccounts,
    /// Account numbers are used up.
    #[error("65535 accounts were opened")]
    NoNumbers,
}

/// An account in the middle of a decision.
struct Party {
    name: String,
    account: Account,
}

/// Why there is no change; becomes a [`Decision`].
enum Obstacle<E> {
    Decided(Decision),
    Books(E),
}

impl<E> From<E> for Obstacle<E> {
    fn from(error: E) -> Self {
        Obstacle::Books(error)
    }
}

/// Decides on `command`, step number `step` of its run; a random transfer follows from that and the books alone.
///
/// # Errors
/// When the books cannot be read.
pub fn decide<B: Books>(books: &mut B, command: &Command, step: u64) -> Result<Decision, B::Error> {
    match change(books, command, step) {
        Ok(change) => Ok(Decision::Change(change)),
        Err(Obstacle::Decided(decision)) => Ok(decision),
        Err(Obstacle::Books(error)) => Err(error),
    }
}

fn change<B: Books>(books: &mut B, command: &Command, step: u64) -> Result<Change, Obstacle<B::Error>> {
    match command {
        Command::Open(name) => open(books, name),
        Command::Close(name) => close(books, name),
        Command::Credit(name, amount) => {
            let to = credited(party(books, name)?, *amount)?;
            settle(books, EntryKind::Credit, None, Some(to), *amount)
        }
        Command::Debit(name, amount) => {
            let from = debited(party(books, name)?, *amount)?;
            settle(books, EntryKind::Debit, Some(from), None, *amount)
        }
        Command::Transfer(from, to, amount) => transfer(books, from, to, *amount),
        Command::RandomTransfer => {
            let (from, to, amount) = draw(books, step)?;
            transfer(books, &from, &to, amount)
        }
    }
}

fn open<B: Books>(books: &mut B, name: &str) -> Result<Change, Obstacle<B::Error>> {
    if books.account(name)?.is_some() {
        return Err(Obstacle::Decided(Decision::Nothing));
    }
    let number = books.totals()?.opened + 1;
    let number = u16::try_from(number).map_err(|_| refused(Refusal::NoNumbers))?;
    let account = Account { balance: 0, number: u32::from(number), credits: 0, debits: 0 };
    settle(books, EntryKind::Open, None, Some(Party { name: name.to_owned(), account }), 0)
}

fn close<B: Books>(books: &mut B, name: &str) -> Result<Change, Obstacle<B::Error>> {
    let party = party(books, name)?;
    if party.account.balance > 0 {
        return Err(refused(Refusal::NotEmpty));
    }
    let mut change = settle(books, EntryKind::Close, Some(party), None, 0)?;
    change.accounts[0].1 = None;
    Ok(change)
}

fn transfer<B: Books>(books: &mut B, from: &str, to: &str, amount: u32) -> Result<Change, Obstacle<B::Error>> {
    let (from, to) = (party(books, from)?, party(books, to)?);
    let (from, to) = (debited(from, amount)?, credited(to, amount)?);
    settle(books, EntryKind::Transfer, Some(from), Some(to), amount)
}

/// Two different accounts and an amount.
fn draw<B: Books>(books: &mut B, step: u64) -> Result<(String, String, u32), Obstacle<B::Error>> {
    let mut names = books.names();
    if names.len() < 2 {
        return Err(refused(Refusal::TooFewAccounts));
    }
    // The step goes in, too, lest a refused transfer be drawn again and again.
    let sequence = books.totals()?.sequence;
    let mut random = fastrand::Rng::with_seed(RANDOM_SEED ^ sequence.rotate_left(32) ^ step);
    let from = names.swap_remove(random.usize(..names.len()));
    let to = names.swap_remove(random.usize(..names.len()));
    Ok((from, to, random.u32(1..=RANDOM_AMOUNT_MAX)))
}

fn party<B: Books>(books: &mut B, name: &str) -> Result<Party, Obstacle<B::Error>> {
    match books.account(name)? {
        Some(account) => Ok(Party { name: name.to_owned(), account }),
        None => Err(Obstacle::Decided(Decision::UnknownAccount(name.to_owned()))),
    }
}

fn credited<E>(mut party: Party, amount: u32) -> Result<Party, Obstacle<E>> {
    let balance = party.account.balance.checked_add(amount);
    party.account.balance = balance.ok_or_else(|| refused(Refusal::BalanceLimit))?;
    party.account.credits = party.account.credits.wrapping_add(1);
    Ok(party)
}

fn debited<E>(mut party: Party, amount: u32) -> Result<Party, Obstacle<E>> {
    let balance = party.account.balance.checked_sub(amount);
    party.account.balance = balance.ok_or_else(|| refused(Refusal::InsufficientBalance))?;
    party.account.debits = party.account.debits.wrapping_add(1);
    Ok(party)
}

fn refused<E>(refusal: Refusal) -> Obstacle<E> {
    Obstacle::Decided(Decision::Refused(refusal))
}

/// The change that leaves the accounts `from` and `to` as they are given, with what the bank and its log say of it.
fn settle<B: Books>(
    books: &mut B,
    kind: EntryKind,
    from: Option<Party>,
    to: Option<Party>,
    amount: u32,
) -> Result<Change, Obstacle<B::Error>> {
    let totals = counted(books.totals()?, kind, amount);
    let number = |party: &Option<Party>| party.as_ref().map_or(0, |party| party.account.number as u16);
    let entry = Entry { kind, from: number(&from), to: number(&to), amount, sequence: totals.sequence as u32 };
    let accounts = from.into_iter().chain(to).map(|party| (party.name, Some(party.account))).collect();
    Ok(Change { accounts, totals, entry })
}

fn counted(mut totals: Totals, kind: EntryKind, amount: u32) -> Totals {
    totals.sequence += 1;
    match kind {
        EntryKind::Open => totals.opened += 1,
        EntryKind::Close => totals.closed += 1,
        EntryKind::Credit => totals.credited += u64::from(amount),
        EntryKind::Debit => totals.debited += u64::from(amount),
        EntryKind::Transfer => totals.transfers += 1,
    }
    totals
}

#[cfg(test)]
mod tests {
    //! Proves what is refused, and that commands conserve money on the books in memory.
    use super::*;
    use crate::ledger::Ledger;

    fn run(ledger: &mut Ledger, command: Command) -> Decision {
        let Ok(decision) = decide(ledger, &command, 0);
        if let Decision::Change(change) = &decision {
            ledger.apply(change);
        }
        assert_eq!(ledger.inconsistency(), None, "after {command:?}");
        decision
    }

    #[test]
    fn refusals_change_nothing() {
        let mut ledger = Ledger::empty();
        let [ann, bob] = ["ann", "bob"].map(str::to_owned);
        assert_eq!(run(&mut ledger, Command::RandomTransfer), Decision::Refused(Refusal::TooFewAccounts));
        assert_eq!(run(&mut ledger, Command::Credit(ann.clone(), 1)), Decision::UnknownAccount(ann.clone()));
        run(&mut ledger, Command::Open(ann.clone()));
        run(&mut ledger, Command::Open(bob.clone()));
        run(&mut ledger, Command::Credit(ann.clone(), u32::MAX));
        run(&mut ledger, Command::Credit(bob.clone(), 7));
        let before = ledger.clone();
        let transfer = |from: &str, to: &str, amount| Command::Transfer(from.to_owned(), to.to_owned(), amount);
        for (command, refusal) in [
            (Command::Debit(bob.clone(), 8), Refusal::InsufficientBalance),
            (Command::Credit(ann.clone(), 1), Refusal::BalanceLimit),
            (transfer("bob", "ann", 1), Refusal::BalanceLimit),
            (transfer("bob", "ann", 8), Refusal::InsufficientBalance),
            (Command::Close(bob.clone()), Refusal::NotEmpty),
        ] {
            assert_eq!(run(&mut ledger, command), Decision::Refused(refusal));
        }
        assert_eq!(run(&mut ledger, Command::Open(ann)), Decision::Nothing);
        assert_eq!(ledger, before);
    }

    #[test]
    fn an_emptied_account_can_be_closed_and_its_number_is_not_used_again() {
        let mut ledger = Ledger::empty();
        let ann = "ann".to_owned();
        for command in [
            Command::Open(ann.clone()),
            Command::Credit(ann.clone(), 5),
            Command::Debit(ann.clone(), 5),
            Command::Close(ann.clone()),
            Command::Open(ann.clone()),
        ] {
            assert!(matches!(run(&mut ledger, command), Decision::Change(_)));
        }
        assert_eq!(ledger.accounts["ann"].number, 2);
    }

    #[test]
    fn random_transfers_differ_from_step_to_step_and_repeat_exactly() {
        let mut ledger = Ledger::empty();
        for name in ["a", "b", "c"] {
            run(&mut ledger, Command::Open(name.to_owned()));
            run(&mut ledger, Command::Credit(name.to_owned(), 1000));
        }
        let mut at = |step| decide(&mut ledger, &Command::RandomTransfer, step).unwrap();
        assert_eq!(at(1), at(1));
        assert!((2..10).any(|step| at(step) != at(1)));
    }
}
