//! The command line of `norn card`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use norn_card_image::aid_of;
use norn_card_linker::{Aid, Version};
use norn_flash_sim::{NandSpec, PartSpec, nand_catalogue};

use norn_heap_image::part_by_name;

use crate::look::FormArgument;

/// The commands on a card.
#[derive(Debug, Subcommand)]
pub enum CardCommand {
    /// Make a card with its API in a new directory. An existing directory is never changed.
    ///
    /// The API is a jar of java/card-api: `tools/card-jars out/card` makes out/card/card-api.jar and the example
    /// applets.
    New(NewArguments),
    /// Link a package from a jar or a directory of class files, install it, and make an instance of each applet in it.
    ///
    /// Compile it with javac of any release from 8 to 25: `javac -source 8 -target 8 -bootclasspath card-api.jar`, or
    /// `javac --release 8 -cp card-api.jar`. Packages that it imports have to be on the card. AIDs are in the jar's
    /// manifest (`Card-Package: AID VERSION`, `Card-Applets: AID CLASS, …`) or given as options.
    Install(InstallArguments),
    /// Delete an applet, or a package that has no applets on the card.
    Delete(DeleteArguments),
    /// List packages and applets.
    Ls(CardLook),
    /// Send commands, and print the answers. The card is switched on before the first and off after the last.
    ///
    /// After a power cut the card is reset, and the next command follows.
    Apdu(ApduArguments),
    /// Send commands, and record which bytecodes are carried out and what is looked up in packages.
    ///
    /// The trace has records of 8 bytes, little-endian, as `norn-lab trace replay` reads them: offset (4), bytes (2),
    /// instructions (2); packages are one after the other from multiples of 4,096. A look-up of the cache is a byte
    /// without instructions.
    Trace(TraceArguments),
    /// Serve the card to pcscd's virtual reader, or to readers that connect, until SIGINT or SIGTERM.
    Serve(ServeArguments),
    /// Show packages, applets, objects, and what the card takes of flash and RAM.
    Show(CardLook),
    /// Check every invariant of the card's heap. Exit code 1 if one is violated.
    Check(CardLook),
}

impl CardCommand {
    /// The directory of the card.
    pub fn card(&self) -> &PathBuf {
        match self {
            CardCommand::New(NewArguments { card, .. })
            | CardCommand::Install(InstallArguments { card, .. })
            | CardCommand::Delete(DeleteArguments { card, .. })
            | CardCommand::Ls(CardLook { card, .. })
            | CardCommand::Apdu(ApduArguments { commands: Commands { card, .. }, .. })
            | CardCommand::Trace(TraceArguments { commands: Commands { card, .. }, .. })
            | CardCommand::Serve(ServeArguments { card, .. })
            | CardCommand::Show(CardLook { card, .. })
            | CardCommand::Check(CardLook { card, .. }) => card,
        }
    }
}

/// A card that is looked at, and how the report is printed.
#[derive(Debug, Args)]
pub struct CardLook {
    /// Directory of the card.
    pub card: PathBuf,
    /// The form.
    #[command(flatten)]
    pub form: FormArgument,
}

/// A card to be made.
#[derive(Debug, Args)]
pub struct NewArguments {
    /// Directory of the card; it must not exist.
    pub card: PathBuf,
    /// Jar or directory of the API's classes.
    #[arg(long, value_name = "JAR", default_value = "out/card/card-api.jar")]
    pub api: PathBuf,
    /// The NOR part that its objects are on: one of unlimited reprogramming, of `norn parts`.
    #[arg(long, value_name = "NAME", default_value = "tinystore", value_parser = part_by_name)]
    pub part: PartSpec,
    /// The NAND part that its packages are on: one of `norn parts`.
    #[arg(long, value_name = "NAME", default_value = "k9f2808", value_parser = nand_catalogue::named)]
    pub nand: NandSpec,
}

/// A package to be installed.
#[derive(Debug, Args)]
pub struct InstallArguments {
    /// Directory of the card.
    pub card: PathBuf,
    /// Jar or directory of the package's classes.
    pub classes: PathBuf,
    /// The package's AID, in hexadecimal digits.
    #[arg(long, value_name = "AID", value_parser = aid)]
    pub aid: Option<Aid>,
    /// The package's version.
    #[arg(long, value_name = "MAJOR.MINOR", default_value = "1.0", requires = "aid", value_parser = version)]
    pub package_version: Version,
    /// An applet, by AID and class, as F00000000201=purse.Purse; once for each.
    #[arg(long = "applet", value_name = "AID=CLASS", value_parser = applet)]
    pub applets: Vec<(Aid, String)>,
    /// Parameters of `install`, in hexadecimal digits.
    #[arg(long, value_name = "HEX", default_value = "", value_parser = bytes)]
    pub param: Bytes,
    /// Install the package alone; its applets later, by --instance.
    #[arg(long, conflicts_with = "instance")]
    pub package_only: bool,
    /// Make only this instance of an applet of a package that is on the card, as APPLET-AID=INSTANCE-AID; CLASSES is
    /// not read.
    #[arg(long, value_name = "AID=AID", value_parser = instance)]
    pub instance: Option<(Aid, Aid)>,
}

/// What is to be deleted.
#[derive(Debug, Args)]
pub struct DeleteArguments {
    /// Directory of the card.
    pub card: PathBuf,
    /// The AID of an applet or a package, in hexadecimal digits.
    #[arg(value_parser = aid)]
    pub aid: Aid,
}

/// Commands for a card.
#[derive(Debug, Args)]
pub struct Commands {
    /// Directory of the card.
    pub card: PathBuf,
    /// Commands in hexadecimal digits, spaces within one allowed if it is quoted; or files with a command on each line:
    /// `= 9000` after one expects a status word (exit code 1 if another comes), `reset` resets the card, `#` begins a
    /// remark.
    #[arg(value_name = "HEX|SCRIPT", value_parser = given, required_unless_present = "script")]
    pub commands: Vec<Given>,
    /// A file with commands, also where its name consists of hexadecimal digits.
    #[arg(long, value_name = "FILE", conflicts_with = "commands")]
    pub script: Option<PathBuf>,
}

/// Commands for a card whose code is traced.
#[derive(Debug, Args)]
pub struct TraceArguments {
    /// What is sent.
    #[command(flatten)]
    pub commands: Commands,
    /// The file of the trace. It is replaced.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Commands for a card whose power may fail.
#[derive(Debug, Args)]
pub struct ApduArguments {
    /// What is sent.
    #[command(flatten)]
    pub commands: Commands,
    /// Cut the power at random operations of the part, drawn from this seed.
    #[arg(long, value_name = "SEED")]
    pub cut_power: Option<u64>,
    /// On average one cut in this many words programmed and units erased.
    #[arg(long, value_name = "N", default_value_t = 200, requires = "cut_power")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub cuts_every: u32,
}

/// How a card is served.
#[derive(Debug, Args)]
pub struct ServeArguments {
    /// Directory of the card.
    pub card: PathBuf,
    /// Where vpcd, pcscd's driver, listens; 127.0.0.1:35963 unless its configuration says otherwise.
    #[arg(long, value_name = "HOST:PORT", required_unless_present = "tcp", conflicts_with = "tcp")]
    pub vpcd: Option<SocketAddr>,
    /// Listen at this port of the loopback interface, for one reader after the other; 0 for a free one.
    #[arg(long, value_name = "PORT")]
    pub tcp: Option<u16>,
    /// The protocol that the card's answer to reset offers.
    #[arg(long, value_enum, default_value_t = Protocol::T1)]
    pub protocol: Protocol,
}

/// A protocol between card and reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Protocol {
    /// Blocks: whole commands of any length.
    T1,
    /// Bytes: short commands; answers are fetched by GET RESPONSE.
    T0,
}

/// What is to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// A command.
    Command(Bytes),
    /// A file with commands.
    Script(PathBuf),
}

/// A command, or else a file that is there.
fn given(text: &str) -> Result<Given, String> {
    match bytes(text) {
        Ok(command) => Ok(Given::Command(command)),
        Err(_) if Path::new(text).is_file() => Ok(Given::Script(text.into())),
        Err(message) => Err(format!("{message}, and no file has this name")),
    }
}

/// Bytes of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

/// Bytes in hexadecimal digits, between which there may be spaces.
pub fn bytes(text: &str) -> Result<Bytes, String> {
    let digits: String = text.chars().filter(|character| !character.is_whitespace()).collect();
    let pair = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
        u8::from_str_radix(pair, 16).ok()
    };
    let is_hexadecimal = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let bytes: Option<Vec<u8>> = if is_hexadecimal { digits.as_bytes().chunks(2).map(pair).collect() } else { None };
    bytes.map(Bytes).ok_or_else(|| format!("`{text}` is not a sequence of bytes in hexadecimal digits"))
}

fn aid(text: &str) -> Result<Aid, String> {
    aid_of(text).map_err(|failure| failure.to_string())
}

fn version(text: &str) -> Result<Version, String> {
    let parsed = text
        .split_once('.')
        .and_then(|(major, minor)| Some(Version { major: major.parse().ok()?, minor: minor.parse().ok()? }));
    parsed.ok_or_else(|| "a version is two numbers up to 255, as 1.0".to_owned())
}

fn applet(text: &str) -> Result<(Aid, String), String> {
    let (name, class) = text.split_once('=').ok_or("an applet is an AID and a class, as F00000000201=purse.Purse")?;
    Ok((aid(name)?, class.replace('.', "/")))
}

fn instance(text: &str) -> Result<(Aid, Aid), String> {
    let (applet, instance) = text.split_once('=').ok_or("an instance is the applet's AID and its own: AID=AID")?;
    Ok((aid(applet)?, aid(instance)?))
}
