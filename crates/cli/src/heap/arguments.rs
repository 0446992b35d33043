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
    /// The heap is mounted first, which completes or undoes what a power cut interrupted: in memory, the file stays as
    /// it is.
    Check(Look),
    /// Copy a heap to a new image of the other engine: objects, arrays, headers, roots. The old image is left as it is.
    ///
    /// Objects keep their references, because they hold each other's. The engine log cannot give references of slot 0
    /// and of generation 65535, nor to an array of several sections whose next slots are in use. These are listed, and
    /// nothing is made, except with --new-references. The copy is audited and compared, object by object, before the
    /// new image appears, complete.
    Convert(ConvertArguments),
    /// Write a heap as JSON: classes, objects, arrays, roots.
    ///
    /// A heap knows widths, and no types. Fields are exported as numbers or bytes, except with --types: a JSON file
    /// whose classes give names and types (u8 to u64, i8 to i64, f32, f64, ref, text16, bytes12) to objects whose
    /// fields have these widths. A class with a header is of objects with that header. A document that was exported
    /// serves, once its classes are edited.
    Export(HeapExportArguments),
    /// Make an image with a heap of what a JSON file says, as exported.
    ///
    /// Objects called #SLOT.GENERATION get this reference, others a free one. Everything is read back and compared
    /// before the image appears.
    Import(HeapImportArguments),
    /// List roots, objects and arrays, and the part's wear and counters.
    ///
    /// The heap is mounted first, which completes or undoes what a power cut interrupted: in memory, the file stays as
    /// it is.
    ///
    /// #0.2 is a reference, the name of an object or array: slot 0, generation 2. A slot is used again after its object
    /// was deleted, with another generation.
    Show(ShowArguments),
    /// List the use and content of every erase unit, and the log entries; or show one unit with its sectors.
    ///
    /// The heap is mounted first, which completes or undoes what a power cut interrupted: in memory, the file stays as
    /// it is. With --raw the heap is not mounted.
    ///
    /// 1:3 is a logical pointer: sector number 3 of logical unit 1.
    ///
    /// On a part with spare units, the units shown are virtual ones and their physical units; --raw shows the headers
    /// of the physical units. --unit shows identity, assignment, and every descriptor or entry of the log.
    ///
    /// Of a log-structured heap, units and records of the newest log are shown, and --unit lists sectors or records;
    /// which sectors are live is not known with --raw.
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
    /// What keeps the objects: log, whose program units are programmed once, for parts of every kind; or tinystore,
    /// which clears single bits of programmed words, and needs spare units where a part does not allow that.
    #[arg(long, value_name = "ENGINE", default_value_t = EngineName::DEFAULT)]
    engine: EngineName,
    /// Spare erase units: 0 for the part as it is; from 1 on, units that fail are replaced. With the engine tinystore,
    /// a part whose words can be programmed once or twice takes 1 at least, which is the default there; 0 elsewhere.
    #[arg(long, value_name = "N")]
    pub spares: Option<u16>,
    /// Settings of the engine tinystore.
    #[command(flatten)]
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
    /// larger. This and what follows are settings of the engine tinystore.
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
    /// Whether flipped bits are detected, at the cost of space and programmed words; off if left out.
    #[arg(long, value_name = "on|off", hide_possible_values = true)]
    error_detection: Option<Switch>,
    /// Whether lists grow by delta records where few fields change, and transactions change objects in place, on if
    /// left out; off is TinyStore's structure, and so it is with error detection.
    #[arg(long, value_name = "on|off", hide_possible_values = true)]
    delta_records: Option<Switch>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Switch {
    On,
    Off,
}

impl CreateArguments {
    /// What they ask for.
    ///
    /// # Errors
    /// [`Error::NoSuchSetting`] for a setting of another engine.
    pub fn format(&self) -> Result<Format, Error> {
        match (self.engine, self.tinystore.first_given()) {
            (EngineName::Tinystore, _) => Ok(Format::TinyStore(self.tinystore.config())),
            (EngineName::Log, None) => Ok(Format::Log),
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
            ("--error-detection", self.error_detection.is_some()),
            ("--delta-records", self.delta_records.is_some()),
        ];
        given.into_iter().find(|&(_, is_given)| is_given).map(|(option, _)| option)
    }

    fn config(&self) -> Config {
        Config {
            list_length_max: self.list_length.unwrap_or(2),
            initialization_flags: match self.initialization_flags {
                Some(Switch::On) | None => InitializationFlags::On,
                Some(Switch::Off) => InitializationFlags::Off,
            },
            array_threshold: self.array_threshold.unwrap_or(255),
            log_units: self.log_units.unwrap_or(2),
            wear_period: self.wear_period.unwrap_or(64),
            error_detection: match self.error_detection {
                Some(Switch::On) => ErrorDetection::On,
                Some(Switch::Off) | None => ErrorDetection::Off,
            },
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
    /// Image file of a heap, which is left as it is.
    pub old: PathBuf,
    /// Image file to make; it must not exist.
    pub new: PathBuf,
    /// Simulated part of the new image; that of the old one if left out.
    #[arg(long, value_name = "NAME", value_parser = part_by_name)]
    pub part: Option<PartSpec>,
    /// Give what cannot keep its reference another one, and list both. References to it in fields are not changed.
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
    #[arg(long, conflicts_with = "json")]
    pub fields: bool,
    /// The form.
    #[command(flatten)]
    pub form: FormArgument,
}
