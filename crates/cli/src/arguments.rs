//! The command line: every command, argument and option, with its help.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use norn_code_pager::{RoomName, Standing, Version};
use norn_flash_sim::{NandSpec, PartSpec, nand_catalogue};
use norn_heap_image::part_by_name;
use norn_nbd::Address;

use crate::card::arguments::CardCommand;
use crate::dump_arguments::DumpArguments;
use crate::explore::ExploreArguments;
use crate::heap::arguments::HeapCommand;
use crate::image::arguments::ImageCommand;
use crate::log::Span;
use crate::log::moment::Moment;
use crate::log::picture::Size;
use crate::look::{FormArgument, Look};
use crate::opening::Source;
use crate::opening::explanation::Opener;
use crate::{code, nbd};

const EXAMPLES: &str = "\
Examples:
  norn heap create heap.img --part stm32l4                   a heap on a simulated part
  norn heap create old.img --engine tinystore                one in TinyStore's structure
  norn heap convert heap.img new.img                         its copy with the other engine
  norn heap check heap.img                                   check every invariant of the heap
  norn heap show heap.img --fields                           list objects and their values
  norn heap dump heap.img                                    list erase units and log entries
  norn heap dump heap.img --unit 3                           show erase unit 3 in full
  norn heap check dump.hex --region 0x8078000..0x8080000     a chip's dump: binary, Intel HEX, UF2 or ELF
  norn image export heap.img heap.hex --base 0x8078000       a file for a chip's programmer
  norn explore heap.img                                      a page that shows what is on the chip
  norn nbd create disk.img                                   a block device on a simulated NAND part
  norn nbd serve disk.img --listen unix:disk.sock            for nbdcopy, qemu, fio
  norn code install part.img app.bin --program-version 1.0.0
                                                             a program on a simulated NAND part; code update replaces it
  norn card new my.card                                      a Java Card with its API
  norn card install my.card out/card/purse.jar --param 31323334
                                                             an applet on it; its PIN is 1234
  norn card apdu my.card 00A4040006F00000000201 8050000004   select it, and ask for the balance
  norn card serve my.card --vpcd 127.0.0.1:35963             for pcscd, with the driver vpcd
  norn log append thermo.img readings.csv                    append a sensor's readings
  norn log append thermo.img readings.csv --follow           and those that are written to the file later
  norn log mean thermo.img yesterdayT10:00 yesterdayT11:00   print the mean of a time span

Exit codes:
  0  success
  1  a check failed: the heap, block device or log has violations, or the program that runs is damaged
  2  wrong usage, a mistake in a script or in readings, or an image that cannot be used";

/// Makes, checks, shows and serves images of flash chips: heaps of objects, logs of readings, block devices, programs
/// and Java Cards.
#[derive(Debug, Parser)]
#[command(name = "norn", version, after_help = EXAMPLES)]
pub struct Arguments {
    /// Print only answers, findings and errors; say nothing about what was done.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make, check, show, convert, export and import a heap in an image file.
    #[command(subcommand)]
    Heap(HeapCommand),
    /// Make, check and serve a block device on a simulated NAND part in an image file.
    #[command(subcommand)]
    Nbd(NbdCommand),
    /// Install, update, boot and roll back programs in two rooms of a simulated NAND part in an image file.
    #[command(subcommand)]
    Code(CodeCommand),
    /// Store a sensor's readings by time in an image file, and query them. An example of the sorted map.
    #[command(subcommand)]
    Log(LogCommand),
    /// Make a Java Card, install applets on it, send it commands, and serve it to PC/SC.
    #[command(subcommand)]
    Card(CardCommand),
    /// Identify a file, make an image from a chip's dump, and write a file for a chip's programmer.
    #[command(subcommand)]
    Image(ImageCommand),
    /// Write a page that shows what is on a chip, plays a workload on it, and cuts its power.
    ///
    /// The page needs no network and nothing beside it. It shows erase units and what is in them, down to the line of
    /// the format for each byte, and objects with their fields. It opens other images, too.
    Explore(ExploreArguments),
    /// List the simulated flash parts: geometry, times, and where the figures are from.
    Parts(FormArgument),
    /// Print the script that completes commands and options in a shell.
    #[command(after_help = "Example: norn completions bash > ~/.local/share/bash-completion/completions/norn")]
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Write the manual's pages, one for each command, into a directory.
    #[command(after_help = "Example: norn manual ~/.local/share/man/man1, then man norn-heap-create")]
    Manual {
        /// The directory, which is made if it is not there.
        directory: PathBuf,
    },
}

impl Command {
    /// Whether it goes on until a signal, and says so itself.
    pub fn goes_on(&self) -> bool {
        match self {
            Command::Nbd(NbdCommand::Serve(_)) | Command::Card(CardCommand::Serve(_)) => true,
            Command::Log(LogCommand::Append(AppendArguments { follow, .. })) => *follow,
            Command::Explore(arguments) => arguments.goes_on(),
            _ => false,
        }
    }

    /// What it opens, and as what; of a command that makes an image, nothing.
    pub fn opening(&self) -> Option<(Source, Opener)> {
        let (source, opener) = match self {
            Command::Heap(command) => (command.source()?, Opener::Heap),
            Command::Log(command) => (command.source()?, Opener::Log),
            Command::Nbd(command) => (command.source()?, Opener::Nbd),
            Command::Code(command) => (command.source()?, Opener::Code),
            Command::Image(command) => (command.source(), Opener::Image),
            Command::Card(command) => (Source::of(command.card()), Opener::Card),
            Command::Explore(arguments) => (arguments.source.clone(), Opener::Image),
            Command::Parts(_) | Command::Completions { .. } | Command::Manual { .. } => return None,
        };
        Some((source, opener))
    }
}

/// The commands on block devices.
#[derive(Debug, Subcommand)]
pub enum NbdCommand {
    /// Make an image file of a simulated NAND part with an empty block device. An existing file is never overwritten.
    Create(NbdCreateArguments),
    /// Check every invariant of a block device. Exit code 1 if one is violated, 2 if the device does not mount.
    ///
    /// The device is mounted first, which completes or undoes what a power cut interrupted. This happens in memory: the
    /// file is not changed.
    Check(Look),
    /// Serve a block device to NBD clients until SIGTERM or SIGINT.
    ///
    /// Requests may have any length and alignment. If a request covers only a part of a page, the server reads the
    /// page, changes it and writes it. It answers flushes and writes with FUA when the image file is on the host's
    /// disk. There is neither encryption nor authentication, so the server listens on loopback addresses only.
    ///
    /// It serves up to 64 clients at a time, with at most 33 MiB of memory each; they see each other's writes. When one
    /// more connects, the server closes the connection that has been idle longest, unless a request is under way on it.
    /// A client has 10 seconds for its handshake, 30 seconds for each request from its first byte to its last, and 30
    /// seconds to take each reply; then its connection is closed. Between requests it may be silent for any time.
    Serve(NbdServeArguments),
}

impl NbdCommand {
    fn source(&self) -> Option<Source> {
        match self {
            NbdCommand::Create(_) => None,
            NbdCommand::Check(look) => Some(look.source.clone()),
            NbdCommand::Serve(NbdServeArguments { image, .. }) => Some(Source::of(image)),
        }
    }
}

/// What block device to make.
#[derive(Args, Debug)]
pub struct NbdCreateArguments {
    /// Image file to make; it must not exist. It is sparse: twice the part's size, of which only what is
    /// written takes room.
    pub image: PathBuf,
    /// Simulated NAND part that the image is of; `norn parts` lists them.
    #[arg(long, value_name = "NAME", default_value = "k9f2808", value_parser = nand_catalogue::named)]
    pub part: NandSpec,
    /// Bytes of the device, such as 12M: nine tenths of what fits if left out. The smaller, the less is copied for a
    /// page written.
    #[arg(long, value_name = "BYTES", value_parser = nbd::bytes)]
    pub size: Option<u64>,
    /// Blocks that are bad from the start.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub bad_blocks: u16,
    /// Decides which blocks are bad.
    #[arg(long, value_name = "N", default_value_t = 2006)]
    pub seed: u64,
}

impl NbdCreateArguments {
    /// The device that they ask for.
    pub fn plan(&self) -> nbd::Plan {
        nbd::Plan { part: self.part.clone(), size: self.size, bad_blocks: self.bad_blocks, seed: self.seed }
    }
}

/// What to serve, and where.
#[derive(Args, Debug)]
pub struct NbdServeArguments {
    /// Image file of a simulated NAND part with a block device in it.
    pub image: PathBuf,
    /// Where to listen: `127.0.0.1:10809`, `[::1]:10809`, with port 0 for a free one, or `unix:PATH` for a socket in
    /// the file system.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:10809")]
    pub listen: Address,
}

/// The commands on programs.
#[derive(Debug, Subcommand)]
pub enum CodeCommand {
    /// Make an image file of a simulated NAND part for programs. An existing file is never overwritten.
    Create(CodeCreateArguments),
    /// Write a part's first program, which boots run from then on.
    Install(ProgramArguments),
    /// Write a program to the room that does not run, and switch to it.
    ///
    /// Until the switch, boots run the old program. A power cut at any time leaves either the old program or the new
    /// one. The new program is on trial: if it is not confirmed within --boots boots, the next boot goes back to the
    /// old program. With --confirmed there is no trial.
    Update(UpdateArguments),
    /// Choose the program that runs, as a boot loader does.
    ///
    /// Every byte of the program is checked. If it is damaged, or its trial is over, the program in the other room runs
    /// from now on.
    Boot(ImageArgument),
    /// Make the program that runs stay, and end its trial.
    Confirm(ImageArgument),
    /// Go back to the program in the other room, if that is whole.
    Rollback(ImageArgument),
    /// Show both rooms, every byte of them checked, and which one runs. Exit code 1 if the program that runs is not
    /// whole.
    Status(Look),
    /// Copy a program from its room to a file. Every byte is checked, and bit errors are corrected.
    Read(ReadArguments),
}

impl CodeCommand {
    fn source(&self) -> Option<Source> {
        Some(match self {
            CodeCommand::Create(_) => return None,
            CodeCommand::Status(Look { source, .. }) | CodeCommand::Read(ReadArguments { source, .. }) => {
                source.clone()
            }
            CodeCommand::Install(ProgramArguments { image, .. })
            | CodeCommand::Update(UpdateArguments { program: ProgramArguments { image, .. }, .. })
            | CodeCommand::Boot(ImageArgument { image })
            | CodeCommand::Confirm(ImageArgument { image })
            | CodeCommand::Rollback(ImageArgument { image }) => Source::of(image),
        })
    }
}

/// Which program to copy, and where to.
#[derive(Args, Debug)]
pub struct ReadArguments {
    /// The image.
    #[command(flatten)]
    pub source: Source,
    /// File to make; it must not exist.
    pub file: PathBuf,
    /// The program's room; the one that runs if left out.
    #[arg(long, value_name = "A|B", value_parser = room)]
    pub room: Option<RoomName>,
}

fn room(name: &str) -> Result<RoomName, String> {
    match name {
        "a" | "A" => Ok(RoomName::A),
        "b" | "B" => Ok(RoomName::B),
        _ => Err("a part has room A and room B".to_owned()),
    }
}

/// What part to make.
#[derive(Args, Debug)]
pub struct CodeCreateArguments {
    /// Image file to make; it must not exist.
    pub image: PathBuf,
    /// Simulated NAND part that the image is of; `norn parts` lists them.
    #[arg(long, value_name = "NAME", default_value = "k9f2808", value_parser = nand_catalogue::named)]
    pub part: NandSpec,
    /// Blocks that are bad from the start.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub bad_blocks: u16,
    /// Decides which blocks are bad.
    #[arg(long, value_name = "N", default_value_t = 2006)]
    pub seed: u64,
}

impl CodeCreateArguments {
    /// The part that they ask for.
    pub fn plan(&self) -> code::Plan {
        code::Plan { part: self.part.clone(), bad_blocks: self.bad_blocks, seed: self.seed }
    }
}

/// What program to write.
#[derive(Args, Debug)]
pub struct ProgramArguments {
    /// Image file of a simulated NAND part for programs.
    pub image: PathBuf,
    /// File with the program's bytes, of any format.
    pub file: PathBuf,
    /// Version of the program: three numbers, such as 1.4.0.
    #[arg(long, value_name = "VERSION")]
    pub program_version: Version,
}

/// What program to write, and whether it stays.
#[derive(Args, Debug)]
pub struct UpdateArguments {
    /// The program.
    #[command(flatten)]
    pub program: ProgramArguments,
    /// Boots that the program has to be confirmed in.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..))]
    boots: u8,
    /// No trial: the program stays.
    #[arg(long, conflicts_with = "boots")]
    confirmed: bool,
}

impl UpdateArguments {
    /// Whether the program stays.
    pub fn standing(&self) -> Standing {
        if self.confirmed { Standing::Confirmed } else { Standing::Trial { boots_left: self.boots } }
    }
}

const LOG_HELP: &str = "\
The span starts with FROM and ends before TO. Without them it has all readings. FROM and TO are each one of
  seconds since 1970
  a time        2026-11-20T10:00, in UTC, or with an offset such as +01:00
  a day         2026-11-20
  today, yesterday, yesterdayT10:00: today is the day of the newest reading

The whole log is checked before the answer. If it is damaged, readings may be missing from the answer,
and the exit code is 1.";

/// The commands on a log of readings.
#[derive(Debug, Subcommand)]
pub enum LogCommand {
    /// Make an image file of a simulated part with an empty log. An existing file is never overwritten.
    Create(LogCreateArguments),
    /// Append the readings of a CSV file (a timestamp and a value on each line) or of an Arrow IPC file. Each reading
    /// is durable when it is appended. If the command was interrupted, append the same file again.
    #[command(visible_alias = "import")]
    Append(AppendArguments),
    /// Write the readings of a span of time to a new file: CSV, or Arrow IPC.
    #[command(after_help = LOG_HELP)]
    Export(ExportArguments),
    /// Print the mean of the readings of a span of time, how many they are, the least and the greatest.
    #[command(after_help = LOG_HELP)]
    Mean(MeanArguments),
    /// Print the readings of a span of time as CSV.
    #[command(after_help = LOG_HELP)]
    Range(SpanArguments),
    /// Plot the readings of a span of time, in the terminal or as a PNG or SVG: each column is a mean.
    #[command(after_help = LOG_HELP)]
    Plot(PlotArguments),
    /// List the readings by days, how full the log is, and the part's wear and counters.
    ///
    /// The log is mounted first, which completes what a power cut interrupted. This happens in memory: the file is not
    /// changed. Then the log is checked: exit code 1 if it is damaged.
    Show(Look),
    /// List the use and content of every erase unit; or show one unit with its cells.
    ///
    /// The log is mounted first, which completes what a power cut interrupted. This happens in memory: the file is not
    /// changed. With --raw it is not mounted. docs/format/ordered-index.md explains the terms.
    Dump(DumpArguments),
    /// Check every invariant of the log. Exit code 1 if one is violated, 2 if the log does not mount.
    Check(Look),
}

impl LogCommand {
    fn source(&self) -> Option<Source> {
        Some(match self {
            LogCommand::Create(_) => return None,
            LogCommand::Append(AppendArguments { image, .. }) => Source::of(image),
            LogCommand::Export(ExportArguments { source, .. })
            | LogCommand::Dump(DumpArguments { source, .. })
            | LogCommand::Show(Look { source, .. })
            | LogCommand::Mean(MeanArguments { of: SpanArguments { source, .. }, .. })
            | LogCommand::Range(SpanArguments { source, .. })
            | LogCommand::Plot(PlotArguments { of: SpanArguments { source, .. }, .. })
            | LogCommand::Check(Look { source, .. }) => source.clone(),
        })
    }
}

/// What log to create.
#[derive(Args, Debug)]
pub struct LogCreateArguments {
    /// Image file to make; it must not exist.
    pub image: PathBuf,
    /// Simulated part that the image is of; `norn parts` lists them. Its words have to take any number of programs.
    #[arg(long, value_name = "NAME", default_value = "w25q80", value_parser = part_by_name)]
    pub part: PartSpec,
}

/// What to append.
#[derive(Args, Debug)]
pub struct AppendArguments {
    /// Image file of a simulated part with a log in it.
    pub image: PathBuf,
    /// CSV file, or an Arrow IPC file with the columns timestamp and value, if norn is built with the feature arrow.
    /// Timestamps are seconds since 1970 or times such as 2026-11-21T10:00:00Z; values are kept to three decimals. A
    /// first line timestamp,value is skipped. A second reading of the same second replaces the first.
    pub file: PathBuf,
    /// Append the file's readings, then those that are written to it later, until SIGINT or SIGTERM.
    ///
    /// A line counts when it ends with a line feed. If the file is replaced by another one of its name, the old one is
    /// read to its end and the new one from its start; if it becomes shorter, it is read from its start again. A line
    /// that is no reading ends the command, after the lines before it are appended.
    #[arg(long, conflicts_with = "cut_power")]
    pub follow: bool,
    /// Cut the power again and again, at operations and in ways that derive from this number, and check after each cut
    /// that nothing acknowledged is lost.
    #[arg(long, value_name = "SEED")]
    pub cut_power: Option<u64>,
    /// Mean number of words programmed and units erased between two power cuts.
    #[arg(long, value_name = "N", default_value_t = 2000, requires = "cut_power")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub cuts_every: u32,
}

/// Readings of a span of time.
#[derive(Args, Debug)]
pub struct SpanArguments {
    /// The image.
    #[command(flatten)]
    pub source: Source,
    /// The first second.
    pub from: Option<Moment>,
    /// The second after the last.
    pub to: Option<Moment>,
}

impl SpanArguments {
    /// The span that they name.
    pub fn span(&self) -> Span {
        Span { from: self.from.clone(), to: self.to.clone() }
    }
}

/// Of which readings to print the mean, and how.
#[derive(Args, Debug)]
pub struct MeanArguments {
    /// Of which readings.
    #[command(flatten)]
    pub of: SpanArguments,
    /// The form.
    #[command(flatten)]
    pub form: FormArgument,
}

/// What to write, and where.
#[derive(Args, Debug)]
pub struct ExportArguments {
    /// The image.
    #[command(flatten)]
    pub source: Source,
    /// File to make; it must not exist. Its ending says what it is: .csv, or .arrow, if norn is built
    /// with the feature arrow.
    pub file: PathBuf,
    /// The first second.
    pub from: Option<Moment>,
    /// The second after the last.
    pub to: Option<Moment>,
}

impl ExportArguments {
    /// The span that they name.
    pub fn span(&self) -> Span {
        Span { from: self.from.clone(), to: self.to.clone() }
    }
}

/// What to plot.
#[derive(Args, Debug)]
pub struct PlotArguments {
    /// Of which readings.
    #[command(flatten)]
    pub of: SpanArguments,
    /// Picture to make instead of a plot in the terminal, with the ending .png or .svg; it must not exist.
    /// Takes a norn that is built with the feature plots.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["columns", "rows"])]
    pub out: Option<PathBuf>,
    /// Size of the picture in pixels.
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1000x420", requires = "out")]
    pub size: Size,
    /// Width of the plot in characters.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u8).range(4..))]
    pub columns: u8,
    /// Height in lines.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u8).range(2..))]
    pub rows: u8,
}

/// An image file.
#[derive(Args, Debug)]
pub struct ImageArgument {
    /// Image file of a simulated part.
    pub image: PathBuf,
}
