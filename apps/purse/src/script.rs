//! Scripts: what to do with the purses, one command a line.
//!
//! ```text
//! open NAME                  opens an account; nothing happens if there is one
//! credit NAME AMOUNT         puts money into it
//! debit NAME AMOUNT          takes money out
//! transfer FROM TO AMOUNT    moves money
//! close NAME                 closes an empty account
//! random-transfers N         N transfers between random accounts
//! repeat N … end             the lines between, N times; blocks do not nest
//! ```
//!
//! A `#` starts a comment. A script is parsed as a whole before anything is done, so that a mistake in it changes
//! nothing.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::SplitWhitespace;

/// Longest name of an account in bytes.
pub const NAME_BYTES_MAX: usize = 16;
/// Most repetitions of a block, and transfers of one line.
const TIMES_MAX: u32 = 1_000_000;

/// A command, for one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Opens an account.
    Open(String),
    /// Closes an empty account.
    Close(String),
    /// Puts money into an account.
    Credit(String, u32),
    /// Takes money out of an account.
    Debit(String, u32),
    /// Moves money from the first account to the second.
    Transfer(String, String, u32),
    /// Moves a random amount between two random accounts.
    RandomTransfer,
}

/// A command and its position.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Line of the script, from 1.
    pub line: usize,
    /// What to do.
    pub command: &'a Command,
}

/// A script without mistakes in its form.
#[derive(Debug)]
pub struct Script {
    path: PathBuf,
    blocks: Vec<Block>,
}

/// Lines that are run together some number of times.
#[derive(Debug)]
struct Block {
    line: usize,
    times: u32,
    statements: Vec<Statement>,
}

#[derive(Debug)]
struct Statement {
    line: usize,
    times: u32,
    command: Command,
}

/// A mistake in a script, and where it is.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}:{line}: {problem}", path.display())]
pub struct ScriptError {
    path: PathBuf,
    line: usize,
    problem: Problem,
}

/// What is wrong with a line.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The first word is no command.
    #[error("unknown command `{0}`: expected open, close, credit, debit, transfer, random-transfers, repeat or end")]
    UnknownCommand(String),
    /// The line ends too early.
    #[error("`{command}` ends before the {what}: expected `{}`", usage(command))]
    Missing {
        /// The line's command.
        command: &'static str,
        /// What should follow.
        what: Operand,
    },
    /// The line has further words.
    #[error("extra word `{word}`: expected `{}`", usage(command))]
    Extra {
        /// The line's command.
        command: &'static str,
        /// The first word too many.
        word: String,
    },
    /// A word is no number, or not in the range.
    #[error("`{word}` is not a valid {what}: expected a whole number from 1 to {max}")]
    BadNumber {
        /// The word.
        word: String,
        /// What it should be.
        what: Operand,
        /// The largest number allowed.
        max: u32,
    },
    /// A name does not fit its place in the heap.
    #[error("the name `{name}` has {} bytes: expected at most 16", name.len())]
    NameTooLong {
        /// The name.
        name: String,
    },
    /// A transfer from an account to itself.
    #[error("a transfer from `{0}` to itself: expected two different accounts")]
    SameAccount(String),
    /// A block inside a block.
    #[error("`repeat` inside the block of line {outer}: expected `end` first, as blocks do not nest")]
    Nested {
        /// Line of the outer block.
        outer: usize,
    },
    /// A block without an end.
    #[error("`repeat` without its `end`: expected one before the end of the script")]
    Unclosed,
    /// An end without a block.
    #[error("`end` outside a block: expected `repeat N` before it")]
    EndOutside,
    /// An account that does not exist when its turn comes.
    #[error("there is no account `{0}`: expected `open {0}` before")]
    UnknownAccount(String),
}

/// What may follow a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// An account.
    Name,
    /// Where a transfer comes from.
    From,
    /// Where it goes.
    To,
    /// Money.
    Amount,
    /// How often.
    Times,
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operand::Name => "account name",
            Operand::From => "account to take from",
            Operand::To => "account to give to",
            Operand::Amount => "amount",
            Operand::Times => "number of times",
        })
    }
}

fn usage(command: &str) -> &'static str {
    match command {
        "open" => "open NAME",
        "close" => "close NAME",
        "credit" => "credit NAME AMOUNT",
        "debit" => "debit NAME AMOUNT",
        "transfer" => "transfer FROM TO AMOUNT",
        "random-transfers" => "random-transfers N",
        "repeat" => "repeat N",
        _ => "end",
    }
}

impl Script {
    /// Parses `text`; `path` is for messages.
    ///
    /// # Errors
    /// The first mistake, with its line.
    pub fn parse(path: &Path, text: &str) -> Result<Script, ScriptError> {
        let mut parser = Parser::default();
        for (index, line) in text.lines().enumerate() {
            let parsed = parser.take(index + 1, line);
            parsed.map_err(|problem| ScriptError { path: path.to_owned(), line: index + 1, problem })?;
        }
        match parser.open {
            Some(block) => Err(ScriptError { path: path.to_owned(), line: block.line, problem: Problem::Unclosed }),
            None => Ok(Script { path: path.to_owned(), blocks: parser.blocks }),
        }
    }

    /// Every command in the order of execution, repetitions included.
    pub fn steps(&self) -> impl Iterator<Item = Step<'_>> {
        self.blocks.iter().flat_map(Block::steps)
    }

    /// A mistake that shows only when the script runs.
    pub fn error(&self, line: usize, problem: Problem) -> ScriptError {
        ScriptError { path: self.path.clone(), line, problem }
    }
}

impl Block {
    fn steps(&self) -> impl Iterator<Item = Step<'_>> {
        (0..self.times).flat_map(|_| self.statements.iter().flat_map(Statement::steps))
    }
}

impl Statement {
    fn steps(&self) -> impl Iterator<Item = Step<'_>> {
        (0..self.times).map(|_| Step { line: self.line, command: &self.command })
    }
}

/// What has been parsed.
#[derive(Default)]
struct Parser {
    blocks: Vec<Block>,
    open: Option<Block>,
}

impl Parser {
    fn take(&mut self, line: usize, text: &str) -> Result<(), Problem> {
        let text = text.split('#').next().unwrap_or_default();
        let mut words = text.split_whitespace();
        let Some(first) = words.next() else {
            return Ok(());
        };
        let words = Words { command: command_word(first)?, words };
        match words.command {
            "repeat" => self.begin_block(line, words),
            "end" => self.end_block(words),
            _ => {
                let (times, command) = words.command()?;
                self.add(Statement { line, times, command });
                Ok(())
            }
        }
    }

    fn begin_block(&mut self, line: usize, mut words: Words<'_>) -> Result<(), Problem> {
        if let Some(outer) = &self.open {
            return Err(Problem::Nested { outer: outer.line });
        }
        let times = words.number(Operand::Times, TIMES_MAX)?;
        words.end()?;
        self.open = Some(Block { line, times, statements: Vec::new() });
        Ok(())
    }

    fn end_block(&mut self, words: Words<'_>) -> Result<(), Problem> {
        words.end()?;
        self.blocks.push(self.open.take().ok_or(Problem::EndOutside)?);
        Ok(())
    }

    fn add(&mut self, statement: Statement) {
        match &mut self.open {
            Some(block) => block.statements.push(statement),
            None => self.blocks.push(Block { line: statement.line, times: 1, statements: vec![statement] }),
        }
    }
}

/// The command that `word` is, as a word that outlives the script.
fn command_word(word: &str) -> Result<&'static str, Problem> {
    const COMMANDS: [&str; 8] = ["open", "close", "credit", "debit", "transfer", "random-transfers", "repeat", "end"];
    let found = COMMANDS.into_iter().find(|&command| command == word);
    found.ok_or_else(|| Problem::UnknownCommand(word.to_owned()))
}

/// The words after a command.
struct Words<'a> {
    command: &'static str,
    words: SplitWhitespace<'a>,
}

impl Words<'_> {
    /// The whole command, and how many times it is given.
    fn command(mut self) -> Result<(u32, Command), Problem> {
        let mut times = 1;
        let command = match self.command {
            "open" => Command::Open(self.name(Operand::Name)?),
            "close" => Command::Close(self.name(Operand::Name)?),
            "credit" => Command::Credit(self.name(Operand::Name)?, self.number(Operand::Amount, u32::MAX)?),
            "debit" => Command::Debit(self.name(Operand::Name)?, self.number(Operand::Amount, u32::MAX)?),
            "transfer" => self.transfer()?,
            _ => {
                times = self.number(Operand::Times, TIMES_MAX)?;
                Command::RandomTransfer
            }
        };
        self.end()?;
        Ok((times, command))
    }

    fn transfer(&mut self) -> Result<Command, Problem> {
        let (from, to) = (self.name(Operand::From)?, self.name(Operand::To)?);
        if from == to {
            return Err(Problem::SameAccount(from));
        }
        Ok(Command::Transfer(from, to, self.number(Operand::Amount, u32::MAX)?))
    }

    fn word(&mut self, what: Operand) -> Result<&str, Problem> {
        self.words.next().ok_or(Problem::Missing { command: self.command, what })
    }

    fn name(&mut self, what: Operand) -> Result<String, Problem> {
        let name = self.word(what)?.to_owned();
        if name.len() > NAME_BYTES_MAX { Err(Problem::NameTooLong { name }) } else { Ok(name) }
    }

    fn number(&mut self, what: Operand, max: u32) -> Result<u32, Problem> {
        let word = self.word(what)?;
        match word.parse() {
            Ok(number) if (1..=max).contains(&number) => Ok(number),
            _ => Err(Problem::BadNumber { word: word.to_owned(), what, max }),
        }
    }

    fn end(mut self) -> Result<(), Problem> {
        match self.words.next() {
            Some(word) => Err(Problem::Extra { command: self.command, word: word.to_owned() }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    //! Proves that scripts expand in order and that every mistake is found on its line.
    use super::*;

    fn parse(text: &str) -> Result<Script, ScriptError> {
        Script::parse(Path::new("a.txt"), text)
    }

    fn lines(text: &str) -> Vec<usize> {
        parse(text).unwrap().steps().map(|step| step.line).collect()
    }

    fn message(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn commands_comments_and_blank_lines() {
        let script = parse("# purses\n\nopen ann # hers\ncredit ann 20\n  transfer ann bob 5\nclose bob\n").unwrap();
        let commands: Vec<Command> = script.steps().map(|step| step.command.clone()).collect();
        let [ann, bob] = ["ann", "bob"].map(str::to_owned);
        let expected = [
            Command::Open(ann.clone()),
            Command::Credit(ann.clone(), 20),
            Command::Transfer(ann, bob.clone(), 5),
            Command::Close(bob),
        ];
        assert_eq!(commands, expected);
    }

    #[test]
    fn blocks_and_random_transfers_repeat() {
        assert_eq!(lines("open a\nrepeat 2\ncredit a 1\ndebit a 1\nend\nopen b"), [1, 3, 4, 3, 4, 6]);
        assert_eq!(lines("repeat 2\nrandom-transfers 3\nend"), [2; 6]);
        assert_eq!(lines("repeat 5\nend\n"), [] as [usize; 0]);
    }

    #[test]
    fn mistakes_name_line_and_expectation() {
        assert_eq!(
            message("open a\nopne b"),
            "a.txt:2: unknown command `opne`: expected open, close, credit, debit, transfer, random-transfers, repeat \
             or end"
        );
        assert_eq!(message("credit ann"), "a.txt:1: `credit` ends before the amount: expected `credit NAME AMOUNT`");
        assert_eq!(
            message("transfer a"),
            "a.txt:1: `transfer` ends before the account to give to: expected `transfer FROM TO AMOUNT`"
        );
        assert_eq!(message("open a b"), "a.txt:1: extra word `b`: expected `open NAME`");
        assert_eq!(
            message("\ndebit a -3"),
            "a.txt:2: `-3` is not a valid amount: expected a whole number from 1 to 4294967295"
        );
        assert_eq!(
            message("open abcdefghijklmnopq"),
            "a.txt:1: the name `abcdefghijklmnopq` has 17 bytes: expected at most 16"
        );
        assert_eq!(
            message("transfer a a 1"),
            "a.txt:1: a transfer from `a` to itself: expected two different accounts"
        );
    }

    #[test]
    fn numbers_have_bounds() {
        for line in ["credit a 0", "credit a 4294967296", "repeat 0", "repeat 1000001", "random-transfers x"] {
            assert!(message(line).contains("expected a whole number from 1 to"), "{line}");
        }
        assert!(parse("credit a 4294967295").is_ok());
    }

    #[test]
    fn blocks_are_closed_and_do_not_nest() {
        assert_eq!(message("open a\nrepeat 2\nopen b").split(':').nth(1), Some("2"));
        assert!(message("repeat 2\nopen b").contains("without its `end`"));
        assert!(message("end").starts_with("a.txt:1: `end` outside a block"));
        assert!(message("repeat 2\n\nrepeat 3\nend\nend").starts_with("a.txt:3: `repeat` inside the block of line 1"));
        assert!(message("repeat 2\nend now").contains("extra word `now`: expected `end`"));
    }
}
