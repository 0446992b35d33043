//! The arguments of the commands that dump a heap or a log.

use clap::Args;

use crate::look::FormArgument;
use crate::opening::Source;

/// What to dump.
#[derive(Args, Debug)]
pub struct DumpArguments {
    /// The image.
    #[command(flatten)]
    pub source: Source,
    /// Show this erase unit in full.
    #[arg(long, value_name = "N")]
    pub unit: Option<u16>,
    /// Show the image as it is, without mounting it: if it cannot be mounted, or to see what a power cut left.
    #[arg(long)]
    pub raw: bool,
    /// The form.
    #[command(flatten)]
    pub form: FormArgument,
}
