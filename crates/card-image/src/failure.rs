//! Why a card in a directory cannot be used. Each message names what is concerned.

use std::io;
use std::path::PathBuf;

use norn_card_linker::{LinkError, Refusal};
use norn_card_vm::InstallError;

/// Why a card cannot be made, opened or changed.
#[derive(Debug, thiserror::Error)]
pub enum CardFailure {
    /// A file or directory.
    #[error("{}: {error}", file.display())]
    File {
        /// Which.
        file: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// There is something at the card's place.
    #[error("{} exists, and a card is never made over it", .0.display())]
    Exists(PathBuf),
    /// Nothing is at the card's place, or a directory without a card.
    #[error("there is no card; `norn card new` makes one")]
    Absent,
    /// A file is at the card's place.
    #[error("a card is a directory, and this is a file")]
    NoDirectory,
    /// The part's image.
    #[error(transparent)]
    Image(#[from] norn_flash_sim::ImageError),
    /// The part cannot have a card.
    #[error(
        "a card's objects need a part whose words are programmed several times, of 8 to 256 erase units: {0} is none"
    )]
    Part(String),
    /// What is on the part, or the packages' files.
    #[error("{0}")]
    Damaged(String),
    /// A jar or directory.
    #[error("{}: {message}", file.display())]
    Jar {
        /// Which.
        file: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A class.
    #[error(transparent)]
    Class(#[from] Refusal),
    /// A package.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// A package or an applet.
    #[error("{}", install(.0))]
    Install(InstallError<String>),
    /// Something that is no identifier.
    #[error("{0}: an AID is 5 to 16 bytes as hexadecimal digits")]
    NoAid(String),
    /// The supply was cut, as asked for, in the middle of a command.
    #[error("the power was cut")]
    PowerLost,
}

fn install(error: &InstallError<String>) -> String {
    match error {
        InstallError::Unsupported => "the card cannot do that".to_owned(),
        InstallError::Missing(aid) => format!("no package or applet {aid} is on the card"),
        InstallError::Exists(aid) => format!("{aid} is on the card already"),
        InstallError::Image => "the package is damaged".to_owned(),
        InstallError::Import(aid) => format!("the package needs package {aid}, or another version of it"),
        InstallError::NoRoom => "there is no room on the card".to_owned(),
        InstallError::TooLong(bytes) => format!("the parameters are {bytes} bytes too long"),
        InstallError::Refused(status) => format!("the applet refused its installation: {status:04X}"),
        InstallError::InUse => {
            "it is in use: selected, imported by another package, or others refer to its objects".to_owned()
        }
        InstallError::Memory(message) => message.clone(),
    }
}

impl CardFailure {
    pub(crate) fn file(file: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> CardFailure {
        let file = file.into();
        move |error| CardFailure::File { file, error }
    }
}
