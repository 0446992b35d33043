//! The arguments of commands that report what a file holds.

use clap::Args;

use crate::opening::Source;
use crate::report::Form;

/// What is looked at, and how the report is printed.
#[derive(Args, Debug)]
pub struct Look {
    /// The image.
    #[command(flatten)]
    pub source: Source,
    /// The form.
    #[command(flatten)]
    pub form: FormArgument,
}

/// How a report is printed.
#[derive(Args, Clone, Copy, Debug)]
pub struct FormArgument {
    /// Print JSON, for programs.
    #[arg(long)]
    json: bool,
}

impl FormArgument {
    /// The form.
    pub fn form(self) -> Form {
        if self.json { Form::Json } else { Form::Text }
    }
}
