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
    /// Show the image as it is, without mounting it: for one that cannot be mounted, or was not recovered yet.
    #[arg(long)]
    pub raw: bool,
    /// The form.
    #[command(flatten)]
    pub form: FormArgument,
}
