//! The command line of `norn heap`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use norn_flash_sim::PartSpec;
use norn_heap_image::{Engine, Format, part_by_name};
use norn_object_heap::{Config, DeltaRecords, ErrorDetection, InitializationFlags};

use crate::dump_arguments::DumpArguments;
use crate::error::Error;
use crate::look::{FormArgument, Look};
use crate::opening::Source;

/// The commands on a heap.
#[derive(Debug, Subcommand)]
pub enum HeapCommand {
    /// Make an image file of a simulated part with an empty heap. An existing file is never overwritten.
    Create(CreateArguments),
    /// Check every invariant of the heap. Exit code 1 if one is violated, 2 if the heap does not mount.
    ///
    /// The heap is mounted first, which completes or undoes what a power cut interrupted. This happens in memory: the
    /// file is not changed.
    Check(Look),
    /// Copy a heap to a new image of the other engine: objects, arrays, headers, roots. The old image is not changed.
    ///
    /// Objects keep their references, because fields of other objects hold them. The engine log cannot give references
    /// of slot 0 and of generation 65535, nor to an array of several sections whose next slots are in use. The command
    /// lists such references and makes no image; with --new-references it gives others. If the old heap has error
    /// detection, so has the new one. The copy is audited and compared, object by object, before the new image appears.
    Convert(ConvertArguments),
    /// Write a heap as JSON: classes, objects, arrays, roots. docs/format/heap-json.md describes the format.
    ///
    /// A heap knows the widths of fields but not their types. Fields are exported as numbers or bytes. With --types, a
    /// JSON file gives names and types (u8 to u64, i8 to i64, f32, f64, ref, text16, bytes12) to the fields: each of
    /// its classes is for objects with fields of these widths, and with the class's header if it has one. To make such
    /// a file, export the heap and edit the classes.
    Export(HeapExportArguments),
    /// Make an image with a heap from a JSON file, as `norn heap export` writes it.
    ///
    /// An object named #SLOT.GENERATION gets this reference, any other a free one. Everything is read back and compared
    /// before the image appears.
    Import(HeapImportArguments),
    /// List roots, objects and arrays, and the part's wear and counters.
    ///
    /// The heap is mounted first, which completes or undoes what a power cut interrupted. This happens in memory: the
    /// file is not changed.
    ///
    /// #0.2 is a reference, the name of an object or array: slot 0, generation 2. When an object is deleted, its slot
    /// may be used again, with another generation.
    Show(ShowArguments),
    /// List the use and content of every erase unit, and the log entries; or show one unit with its sectors.
    ///
    /// The heap is mounted first, which completes or undoes what a power cut interrupted. This happens in memory: the
    /// file is not changed. With --raw the heap is not mounted.
    ///
    /// 1:3 is a logical pointer: sector number 3 of logical unit 1.
    ///
    /// On a part with spare units, the units shown are virtual ones and their physical units; --raw shows the headers
    /// of the physical units. --unit shows identity, assignment, and every descriptor or entry of the log.
    ///
    /// For a log-structured heap, the units and the records of the newest log are shown; --unit lists sectors or
    /// records. With --raw it is not known which sectors are live.
    Dump(DumpArguments),
}

impl HeapCommand {
    /// What it opens.
    pub fn source(&self) -> Option<Source> {
        match self {
            HeapCommand::Create(_) | HeapCommand::Import(_) => None,
            HeapCommand::Export(HeapExportArguments { source, .. }) => Some(source.clone()),
            HeapCommand::Convert(ConvertArguments { old, .. }) => Some(Source::of(old)),
            HeapCommand::Check(Look { source, .. })
            | HeapCommand::Show(ShowArguments { source, .. })
            | HeapCommand::Dump(DumpArguments { source, .. }) => Some(source.clone()),
        }
    }
}

/// What to create.
#[derive(Args, Debug)]
pub struct CreateArguments {
    /// Image file to make; it must not exist.
    pub image: PathBuf,
    /// Simulated part that the image is of; `norn parts` lists them.
    #[arg(long, value_name = "NAME", default_value = "tinystore", value_parser = part_by_name)]
    pub part: PartSpec,
    /// How objects are stored: `log` programs each program unit once, and runs on every part; `tinystore` clears single
    /// bits of programmed words, and needs spare units on a part that does not allow this.
    #[arg(long, value_name = "ENGINE", default_value_t = EngineName::DEFAULT)]
    engine: EngineName,
    /// Number of spare erase units, which replace units that fail. 0 by default; with the engine tinystore, a part
    /// whose words can be programmed only once or twice needs at least 1, which is the default there.
    #[arg(long, value_name = "N")]
    pub spares: Option<u16>,
    /// Whether flipped bits are detected, at the cost of space and programmed words: on or off. Off if left out; `heap
    /// import` then takes what the JSON file says.
    #[arg(long, value_name = "on|off", hide_possible_values = true)]
    error_detection: Option<Switch>,
    /// Settings of the engine tinystore.
    #[command(flatten, next_help_heading = "Settings of the engine tinystore")]
    tinystore: TinyStoreArguments,
}

/// The engines by name.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum EngineName {
    Log,
    Tinystore,
}

impl EngineName {
    const DEFAULT: EngineName = match Engine::DEFAULT {
        Engine::Log => EngineName::Log,
        Engine::TinyStore => EngineName::Tinystore,
    };
}

impl std::fmt::Display for EngineName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let engine = match self {
            EngineName::Log => Engine::Log,
            EngineName::Tinystore => Engine::TinyStore,
        };
        engine.fmt(f)
    }
}

/// Settings that only TinyStore's structure has.
#[derive(Args, Debug)]
struct TinyStoreArguments {
    /// Maximum number of records in an object's list, 2 if left out. Longer lists make updates cheaper and objects
    /// larger.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    list_length: Option<u8>,
    /// Whether a flag marks each field that was never set, on if left out. Creating an object then programs no zeros.
    #[arg(long, value_name = "on|off", hide_possible_values = true)]
    initialization_flags: Option<Switch>,
    /// Maximum number of elements of an array that is stored in one piece, and of a section of a longer array; 255 if
    /// left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    array_threshold: Option<u8>,
    /// Maximum number of erase units that the log takes while a transaction is open, from 2 to 8; 2 if left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=8))]
    log_units: Option<u8>,
    /// Wear levelling: reclaim a random erase unit once per N reclamations (0 = off), 64 if left out.
    #[arg(long, value_name = "N")]
    wear_period: Option<u16>,
    /// Whether lists grow by delta records where few fields change, and transactions change objects in place; on if
    /// left out. The published structure has none; with error detection there are none either.
    #[arg(long, value_name = "on|off", hide_possible_values = true)]
    delta_records: Option<Switch>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Switch {
    On,
    Off,
}

impl CreateArguments {
    /// What they ask for; where they do not say whether flipped bits are detected, `stated` does.
    ///
    /// # Errors
    /// [`Error::NoSuchSetting`] for a setting of another engine.
    pub fn format(&self, stated: ErrorDetection) -> Result<Format, Error> {
        let detection = match self.error_detection {
            Some(Switch::On) => ErrorDetection::On,
            Some(Switch::Off) => ErrorDetection::Off,
            None => stated,
        };
        match (self.engine, self.tinystore.first_given()) {
            (EngineName::Tinystore, _) => Ok(Format::TinyStore(self.tinystore.config(detection))),
            (EngineName::Log, None) => Ok(Format::Log(detection)),
            (EngineName::Log, Some(option)) => {
                Err(Error::NoSuchSetting { image: self.image.clone(), option, engine: Engine::Log })
            }
        }
    }
}

impl TinyStoreArguments {
    /// The first setting that was given.
    fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("--list-length", self.list_length.is_some()),
            ("--initialization-flags", self.initialization_flags.is_some()),
            ("--array-threshold", self.array_threshold.is_some()),
            ("--log-units", self.log_units.is_some()),
            ("--wear-period", self.wear_period.is_some()),
            ("--delta-records", self.delta_records.is_some()),
        ];
        given.into_iter().find(|&(_, is_given)| is_given).map(|(option, _)| option)
    }

    fn config(&self, error_detection: ErrorDetection) -> Config {
        Config {
            list_length_max: self.list_length.unwrap_or(2),
            initialization_flags: match self.initialization_flags {
                Some(Switch::On) | None => InitializationFlags::On,
                Some(Switch::Off) => InitializationFlags::Off,
            },
            array_threshold: self.array_threshold.unwrap_or(255),
            log_units: self.log_units.unwrap_or(2),
            wear_period: self.wear_period.unwrap_or(64),
            error_detection,
            delta_records: match self.delta_records {
                Some(Switch::On) | None => DeltaRecords::On,
                Some(Switch::Off) => DeltaRecords::Off,
            },
        }
    }
}

/// What to export, and where to.
#[derive(Args, Debug)]
pub struct HeapExportArguments {
    /// The image.
    #[command(flatten)]
    pub source: Source,
    /// File to make; it must not exist. Standard output if left out.
    pub file: Option<PathBuf>,
    /// JSON file whose classes give names and types to fields.
    #[arg(long, value_name = "FILE")]
    pub types: Option<PathBuf>,
}

/// What to import, and what heap to make of it.
#[derive(Args, Debug)]
pub struct HeapImportArguments {
    /// JSON file.
    pub data: PathBuf,
    /// The heap.
    #[command(flatten)]
    pub create: CreateArguments,
}

/// What to convert.
#[derive(Args, Debug)]
pub struct ConvertArguments {
    /// Image file of a heap. It is not changed.
    pub old: PathBuf,
    /// Image file to make; it must not exist.
    pub new: PathBuf,
    /// Simulated part of the new image; that of the old one if left out.
    #[arg(long, value_name = "NAME", value_parser = part_by_name)]
    pub part: Option<PartSpec>,
    /// Give another reference to what cannot keep its own, and list both. Fields that hold the old one are not changed.
    #[arg(long)]
    pub new_references: bool,
}

/// What to show.
#[derive(Args, Debug)]
pub struct ShowArguments {
    /// The image.
    #[command(flatten)]
    pub source: Source,
    /// Show headers and the values of fields and elements, too, as hexadecimal digits of their bytes.
    #[arg(long)]
    pub fields: bool,
    /// The form.
    #[command(flatten)]
    pub form: FormArgument,
}
