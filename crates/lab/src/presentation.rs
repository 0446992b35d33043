//! How measurements are shown: tables, plots, and published values beside ours.

pub use crate::digits::figure;
use crate::plot::Plot;

/// What an experiment shows.
#[derive(Clone, Debug, Default)]
pub struct Presentation {
    /// Published values beside ours.
    pub comparisons: Vec<Comparison>,
    /// Tables of measurements.
    pub tables: Vec<Table>,
    /// Plots; each is drawn as SVG and as PNG.
    pub plots: Vec<Plot>,
    /// Paragraphs of Markdown: what was found, what could not be measured.
    pub remarks: Vec<String>,
}

/// A table of texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// Heads of the columns.
    pub columns: Vec<String>,
    /// As many texts a row as there are columns.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(title: impl Into<String>, columns: &[&str]) -> Table {
        Table { title: title.into(), columns: columns.iter().map(|&text| text.to_owned()).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has not as many texts as there are columns.
    pub fn push(&mut self, row: Vec<String>) {
        assert_eq!(row.len(), self.columns.len(), "a text for each column of {}", self.title);
        self.rows.push(row);
    }

    /// The table in Markdown, its title in front.
    pub fn markdown(&self) -> String {
        let line = |texts: &[String]| format!("| {} |\n", texts.join(" | "));
        let mut text = if self.title.is_empty() { String::new() } else { format!("{}\n\n", self.title) };
        text += &line(&self.columns);
        text += &format!("|{}\n", "---|".repeat(self.columns.len()));
        self.rows.iter().for_each(|row| text += &line(row));
        text
    }
}

/// What a paper published.
#[derive(Clone, Debug, PartialEq)]
pub enum Published {
    /// A number that was measured.
    Value(f64),
    /// A number that follows from an equation and published parameters.
    Computed(f64),
    /// A range.
    Between(f64, f64),
    /// A bound from below.
    AtLeast(f64),
    /// A bound from above.
    AtMost(f64),
    /// A sentence without a number, or with several.
    Claim(String),
}

/// What was measured for it.
#[derive(Clone, Debug, PartialEq)]
pub enum Ours {
    /// A number.
    Value(f64),
    /// Whether the claim holds, and the figures that say so.
    Claim(Verdict, String),
    /// Nothing, and why.
    Missing(String),
}

/// Whether what a paper says is so here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Holds,
    /// It is not.
    Differs,
}

/// A published statement beside what was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What is compared, with its place in the paper.
    pub what: String,
    /// What the paper says.
    pub published: Published,
    /// What was measured.
    pub ours: Ours,
    /// Why they differ, from counters; or nothing.
    pub remark: String,
}

impl Comparison {
    /// A number beside a number; `ours` is missing where nothing was measured.
    pub fn new(what: impl Into<String>, published: Published, ours: Option<f64>) -> Comparison {
        let ours = ours.map_or_else(|| Ours::Missing("not measured".to_owned()), Ours::Value);
        Comparison { what: what.into(), published, ours, remark: String::new() }
    }

    /// A claim beside what was found, with the figures.
    pub fn claim(what: impl Into<String>, claim: &str, found: Option<(bool, String)>) -> Comparison {
        let ours = match found {
            Some((holds, evidence)) => Ours::Claim(if holds { Verdict::Holds } else { Verdict::Differs }, evidence),
            None => Ours::Missing("not measured".to_owned()),
        };
        Comparison { what: what.into(), published: Published::Claim(claim.to_owned()), ours, remark: String::new() }
    }

    /// Adds why the two differ.
    pub fn because(mut self, remark: impl Into<String>) -> Comparison {
        self.remark = remark.into();
        self
    }

    /// Ours divided by what was published, where both are numbers.
    pub fn ratio(&self) -> Option<f64> {
        match (&self.published, &self.ours) {
            (Published::Value(published) | Published::Computed(published), Ours::Value(ours)) => Some(ours / published),
            _ => None,
        }
    }

    /// Whether ours is what was published: a measured number within a tenth of it, a computed one within a thousandth.
    /// `None` if there is nothing to compare.
    pub fn agrees(&self) -> Option<bool> {
        const MEASURED: f64 = 0.1;
        const COMPUTED: f64 = 0.001;
        let near = |ours: f64, published: f64, part: f64| Some((ours - published).abs() <= part * published.abs());
        match (&self.published, &self.ours) {
            (_, Ours::Missing(_)) | (Published::Claim(_), Ours::Value(_)) => None,
            (_, Ours::Claim(verdict, _)) => Some(*verdict == Verdict::Holds),
            (Published::Value(published), Ours::Value(ours)) => near(*ours, *published, MEASURED),
            (Published::Computed(published), Ours::Value(ours)) => near(*ours, *published, COMPUTED),
            _ => Some(self.relation() == "within"),
        }
    }

    /// The last column: a ratio, or on which side of a range ours is, or whether a claim holds.
    fn relation(&self) -> String {
        match (&self.published, &self.ours) {
            (_, Ours::Missing(_)) => String::new(),
            (_, Ours::Claim(Verdict::Holds, _)) => "holds".to_owned(),
            (_, Ours::Claim(Verdict::Differs, _)) => "differs".to_owned(),
            (Published::Value(_) | Published::Computed(_), Ours::Value(_)) => figure(self.ratio().unwrap_or(f64::NAN)),
            (Published::Between(low, _) | Published::AtLeast(low), Ours::Value(ours)) if ours < low => {
                "below".to_owned()
            }
            (Published::Between(_, high) | Published::AtMost(high), Ours::Value(ours)) if ours > high => {
                "above".to_owned()
            }
            (Published::Claim(_), Ours::Value(_)) => String::new(),
            _ => "within".to_owned(),
        }
    }
}

/// Comparisons as a table: published, ours, ours / published, and remarks where there are any.
pub fn comparison_table(title: &str, comparisons: &[Comparison]) -> Table {
    let remarks = comparisons.iter().any(|comparison| !comparison.remark.is_empty());
    let mut columns = vec!["", "published", "ours", "ours / published"];
    columns.extend(remarks.then_some("why"));
    let mut table = Table::new(title, &columns);
    for comparison in comparisons {
        let published = match &comparison.published {
            Published::Value(value) | Published::Computed(value) => figure(*value),
            Published::Between(low, high) => format!("{} to {}", figure(*low), figure(*high)),
            Published::AtLeast(low) => format!("at least {}", figure(*low)),
            Published::AtMost(high) => format!("at most {}", figure(*high)),
            Published::Claim(claim) => claim.clone(),
        };
        let ours = match &comparison.ours {
            Ours::Value(value) => figure(*value),
            Ours::Claim(_, evidence) => evidence.clone(),
            Ours::Missing(why) => why.clone(),
        };
        let mut row = vec![comparison.what.clone(), published, ours, comparison.relation()];
        row.extend(remarks.then(|| comparison.remark.clone()));
        table.push(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_says_on_which_side_ours_is() {
        let relation = |published, ours| Comparison::new("", published, Some(ours)).relation();
        assert_eq!(relation(Published::Value(4.0), 2.0), "0.5");
        assert_eq!(relation(Published::Between(5.0, 10.0), 4.0), "below");
        assert_eq!(relation(Published::Between(5.0, 10.0), 11.0), "above");
        assert_eq!(relation(Published::Between(5.0, 10.0), 7.0), "within");
        assert_eq!(relation(Published::AtLeast(5.0), 4.0), "below");
        assert_eq!(relation(Published::AtMost(5.0), 6.0), "above");
        assert_eq!(Comparison::new("", Published::Value(1.0), None).relation(), "");
    }

    #[test]
    fn what_an_equation_gives_has_to_be_as_published() {
        let agrees = |published, ours| Comparison::new("", published, Some(ours)).agrees();
        assert_eq!(agrees(Published::Value(320.0), 350.0), Some(true), "measured, within a tenth");
        assert_eq!(agrees(Published::Computed(320.0), 350.0), Some(false));
        assert_eq!(agrees(Published::Computed(0.6325), 0.63248), Some(true), "as printed");
    }
}
