//! The tables and figures of a paper, and how each of them stands here.

use crate::presentation::{Comparison, Table};

/// A table or figure of a paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhibit {
    /// What comparisons that belong to it begin with: "Figure 14", or "probe table".
    pub name: &'static str,
    /// What it shows.
    pub shows: &'static str,
    /// What it is compared by.
    pub basis: Basis,
}

/// What a table or figure is compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Comparisons whose text begins with the exhibit's name. They say from what was measured why they differ.
    Comparisons,
    /// Comparisons, but only with data that the project does not bring along: what is missing.
    Data(&'static str),
    /// Nothing, and why.
    Nothing(&'static str),
}

impl Exhibit {
    /// One that has no measurement in it.
    pub const fn drawing(name: &'static str, shows: &'static str) -> Exhibit {
        Exhibit { name, shows, basis: Basis::Nothing("a drawing, without a measurement") }
    }

    /// One that is compared.
    pub const fn compared(name: &'static str, shows: &'static str) -> Exhibit {
        Exhibit { name, shows, basis: Basis::Comparisons }
    }

    /// Whether a comparison is of this one: "Figure 1" has "Figure 1a" and not "Figure 14", "Table I" not "Table II".
    fn has(&self, comparison: &Comparison) -> bool {
        let is_longer = |next: char| next.is_ascii_digit() || next.is_ascii_uppercase();
        comparison.what.strip_prefix(self.name).is_some_and(|rest| !rest.starts_with(is_longer))
    }

    fn line(&self, comparisons: &[Comparison]) -> [String; 4] {
        let own: Vec<&Comparison> = comparisons.iter().filter(|comparison| self.has(comparison)).collect();
        let standing = Standing::of(&own);
        let why = match self.basis {
            Basis::Nothing(why) | Basis::Data(why) if standing.compared == 0 => why.to_owned(),
            _ => standing.causes(),
        };
        [self.name.to_owned(), self.shows.to_owned(), standing.text(), why]
    }
}

/// Causes in an exhibit's line, of which each of its comparisons may have one.
const CAUSES_SHOWN: usize = 3;

/// How many comparisons agree.
struct Standing<'a> {
    compared: usize,
    differing: Vec<&'a Comparison>,
}

impl<'a> Standing<'a> {
    fn of(comparisons: &[&'a Comparison]) -> Standing<'a> {
        let compared = comparisons.iter().filter(|comparison| comparison.agrees().is_some()).count();
        let differs = |comparison: &&&Comparison| comparison.agrees() == Some(false);
        Standing { compared, differing: comparisons.iter().filter(differs).copied().collect() }
    }

    fn text(&self) -> String {
        match (self.compared, self.differing.len()) {
            (0, _) => "not comparable".to_owned(),
            (_, 0) => "agrees".to_owned(),
            (compared, differing) => format!("differs in {differing} of {compared}"),
        }
    }

    /// The causes that the comparisons give.
    fn causes(&self) -> String {
        if self.compared == 0 {
            return "nothing was measured yet".to_owned();
        }
        let mut causes: Vec<&str> = Vec::new();
        for comparison in &self.differing {
            let cause = if comparison.remark.is_empty() { "no cause is known" } else { &comparison.remark };
            if !causes.contains(&cause) {
                causes.push(cause);
            }
        }
        let more = causes.len().saturating_sub(CAUSES_SHOWN);
        causes.truncate(CAUSES_SHOWN);
        let text = causes.join("; ");
        if more > 0 { format!("{text}; and {more} more in the next table") } else { text }
    }
}

/// A line for each exhibit, and one for what the paper says beside them.
pub fn standings(exhibits: &[Exhibit], comparisons: &[Comparison]) -> Table {
    let mut table = Table::new("", &["", "shows", "here", "why"]);
    exhibits.iter().for_each(|exhibit| table.push(exhibit.line(comparisons).to_vec()));
    let is_of_text = |comparison: &&Comparison| !exhibits.iter().any(|exhibit| exhibit.has(comparison));
    let standing = Standing::of(&comparisons.iter().filter(is_of_text).collect::<Vec<_>>());
    if standing.compared > 0 {
        let line =
            ["statements", "in the text, and bars of ours", &standing.text(), "each by itself in the next table"];
        table.push(line.map(str::to_owned).to_vec());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presentation::Published;

    const SPEED: Exhibit = Exhibit::compared("Figure 1", "speed");

    fn comparison(what: &str, ours: f64) -> Comparison {
        Comparison::new(what, Published::Value(10.0), Some(ours))
    }

    #[test]
    fn an_exhibit_agrees_only_if_all_of_its_comparisons_do() {
        let all = [comparison("Figure 1a: s", 10.9), comparison("Figure 1b: s", 9.1), comparison("Figure 14: s", 1.0)];
        assert_eq!(SPEED.line(&all)[2..], ["agrees", ""], "Figure 14 is another one");
        let all = [comparison("Figure 1a: s", 11.1).because("a slow part"), comparison("Figure 1b: s", 10.0)];
        assert_eq!(SPEED.line(&all)[2..], ["differs in 1 of 2", "a slow part"]);
    }

    #[test]
    fn what_differs_without_a_cause_is_said_to() {
        let all = [comparison("Figure 1: s", 8.9)];
        assert_eq!(SPEED.line(&all)[2..], ["differs in 1 of 1", "no cause is known"]);
        let all = [
            comparison("Figure 1a: s", 8.9).because("a slow part"),
            comparison("Figure 1b: s", 7.0).because("a slow part"),
        ];
        assert_eq!(SPEED.line(&all)[3], "a slow part", "a cause of several is named once");
    }

    #[test]
    fn a_line_names_few_of_many_causes() {
        let all = ["a", "b", "c", "d", "e"].map(|why| comparison("Figure 1: s", 8.0).because(why));
        assert_eq!(SPEED.line(&all)[2..], ["differs in 5 of 5", "a; b; c; and 2 more in the next table"]);
    }

    #[test]
    fn what_is_not_compared_says_why() {
        let missing = [Comparison::new("Figure 1: s", Published::Value(1.0), None)];
        assert_eq!(SPEED.line(&missing)[2..], ["not comparable", "nothing was measured yet"]);
        assert_eq!(
            Exhibit::drawing("Figure 1", "a tree").line(&[])[2..],
            ["not comparable", "a drawing, without a measurement"]
        );
        let data = Exhibit { basis: Basis::Data("there is no trace"), ..SPEED };
        assert_eq!(data.line(&[])[2..], ["not comparable", "there is no trace"]);
    }

    #[test]
    fn what_belongs_to_no_exhibit_is_counted_apart() {
        let all = [comparison("Figure 1: s", 10.0), comparison("§2: s", 20.0), comparison("§3: s", 10.0)];
        let table = standings(&[SPEED], &all);
        assert_eq!((table.rows.len(), &*table.rows[1][2]), (2, "differs in 1 of 2"));
    }
}
