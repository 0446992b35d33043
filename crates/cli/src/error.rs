//! What the commands fail with. Each message names the file that is concerned.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use norn_card_image::CardFailure;
use norn_flash::MountError;
use norn_flash_sim::{ImageError, SimError};
use norn_heap_image::convert::ConversionError;
use norn_heap_image::{Engine, HeapFailure, HeapImageError};

use crate::code::failure::CodeFailure;
use crate::explore::failure::ExploreError;
use crate::heap::data::document::DataError;
use crate::log::failure::{LogError, LogFailure};
use crate::nbd::failure::NbdFailure;
use crate::opening::failure::DumpFailure;

/// The message of an error. Where the host's own words end with a number of its, as those of the standard library do,
/// that is left out: `No space left on device (os error 28)`.
pub fn words_of(error: &impl std::fmt::Display) -> String {
    const NUMBER: &str = " (os error ";
    let text = error.to_string();
    let mut words = text.as_str();
    let mut message = String::new();
    while let Some((before, after)) = words.split_once(NUMBER) {
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        message += before;
        // A name may have such words, too, but mostly goes on after them.
        let ends = |rest: &&str| digits > 0 && (rest.is_empty() || rest.starts_with([':', ';', ',', '\n']));
        words = match after[digits..].strip_prefix(')').filter(ends) {
            Some(rest) => rest,
            None => {
                message += NUMBER;
                after
            }
        };
    }
    message + words
}

/// Why a file could not be made.
#[derive(Debug, thiserror::Error)]
pub enum NewFileError {
    /// There is one.
    #[error("there is such a file; it is never overwritten")]
    Exists,
    /// The host refuses.
    #[error("{0}")]
    Io(io::Error),
}

impl From<io::Error> for NewFileError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::AlreadyExists { NewFileError::Exists } else { NewFileError::Io(error) }
    }
}

/// Why a command could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A sensor log failed.
    #[error(transparent)]
    Log(#[from] LogError),
    /// There is no page or picture of an image.
    #[error(transparent)]
    Explore(#[from] ExploreError),
    /// The image file could not be made or opened.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The heap in an image failed.
    #[error(transparent)]
    Heap(#[from] HeapImageError),
    /// A heap could not be converted.
    #[error(transparent)]
    Conversion(#[from] ConversionError),
    /// A heap differs from what was to be in it.
    #[error("{}: the heap differs from its contents: {what}", image.display())]
    Differs {
        /// The image that was to be made.
        image: PathBuf,
        /// Where.
        what: String,
    },
    /// A document of a heap is none.
    #[error("{}: {failure}", file.display())]
    Data {
        /// The file.
        file: PathBuf,
        /// What is wrong, and where.
        failure: DataError,
    },
    /// References cannot be kept by a conversion.
    #[error(
        "{}: the engine {engine} cannot give these references, {count} of them: nothing was made; --new-references \
         gives others, but changes no field that holds such a reference",
        image.display()
    )]
    ReferencesNotKept {
        /// The old image.
        image: PathBuf,
        /// The new image's engine.
        engine: Engine,
        /// How many.
        count: usize,
    },
    /// A chip's dump cannot be opened.
    #[error("{}: {failure}", image.display())]
    Dump {
        /// The dump.
        image: PathBuf,
        /// Why not.
        failure: DumpFailure,
    },
    /// A file that is made by a command.
    #[error("{}: {source}", file.display())]
    NewFile {
        /// The file.
        file: PathBuf,
        /// Why it cannot be made.
        source: NewFileError,
    },
    /// A setting that the engine does not have.
    #[error("{}: {option} is not a setting of the engine {engine}", image.display())]
    NoSuchSetting {
        /// The image that was to be made.
        image: PathBuf,
        /// The option.
        option: &'static str,
        /// The engine.
        engine: Engine,
    },
    /// The block device in the image failed.
    #[error("{}: {failure}", image.display())]
    Nbd {
        /// The image file.
        image: PathBuf,
        /// What failed.
        failure: NbdFailure,
    },
    /// The programs in the image failed.
    #[error("{}: {failure}", image.display())]
    Code {
        /// The image file.
        image: PathBuf,
        /// What failed.
        failure: CodeFailure,
    },
    /// A card failed.
    #[error("{}: {failure}", card.display())]
    Card {
        /// The card.
        card: PathBuf,
        /// What failed.
        failure: Box<CardFailure>,
    },
    /// The manual's pages could not be written.
    #[error("{}: the manual's pages cannot be written: {source}", directory.display())]
    Manual {
        /// Where they were to be.
        directory: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The requested unit does not exist on the part.
    #[error("{}: {source}", image.display())]
    NoSuchUnit {
        /// The image file.
        image: PathBuf,
        /// Which unit, and how many there are.
        source: SimError,
    },
    /// The units have no room for a header.
    #[error("{}: units of {unit_size_bytes} bytes have no room for the header of a heap's unit", image.display())]
    TinyUnits {
        /// The image file.
        image: PathBuf,
        /// Their size.
        unit_size_bytes: u32,
    },
    /// An image was refused, and what it holds is known.
    #[error("{error}; {explanation}")]
    Refused {
        /// The command's error.
        error: Box<Error>,
        /// What the image holds, and which command opens it.
        explanation: String,
    },
    /// The answer could not be printed.
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
}

impl Error {
    /// What to do where a part does not suit a store, or a file is in use.
    pub fn advice(&self) -> Option<Cow<'static, str>> {
        if let Some(ImageError::Locked { path }) = self.image_error() {
            return Some(Cow::Owned(format!(
                "`lsof {}` shows which; stop it, or wait until it has ended. Commands that only look share a file with \
                 each other, not with one that changes it",
                path.display()
            )));
        }
        self.advice_on_part().map(Cow::Borrowed)
    }

    fn advice_on_part(&self) -> Option<&'static str> {
        match self {
            Error::Heap(HeapImageError::Heap { failure, .. })
            | Error::Conversion(ConversionError::Image(HeapImageError::Heap { failure, .. })) => match failure {
                HeapFailure::LogFormat(MountError::Unsuitable(_)) => {
                    Some("--part NAME:UNITS has another number of erase units, --engine tinystore other limits")
                }
                HeapFailure::Format(MountError::Unsuitable(_)) => {
                    Some("--part NAME:UNITS has another number of erase units, --engine log other limits")
                }
                _ => None,
            },
            Error::Log(LogError::Image { failure: LogFailure::Format(MountError::Unsuitable(_)), .. }) => Some(
                "a log needs a part of unlimited reprogramming: `norn parts` lists them, and --part NAME takes one",
            ),
            _ => None,
        }
    }

    /// What is wrong with an image file, whichever command opened it.
    fn image_error(&self) -> Option<&ImageError> {
        match self {
            Error::Image(error)
            | Error::Heap(HeapImageError::Image(error))
            | Error::Conversion(ConversionError::Image(HeapImageError::Image(error))) => Some(error),
            Error::Card { failure, .. } => match &**failure {
                CardFailure::Image(error) => Some(error),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the file was read, and is not what the command opens.
    pub fn is_refusal(&self) -> bool {
        match self {
            Error::Image(error) => error.is_refusal(),
            Error::Heap(error) | Error::Conversion(ConversionError::Image(error)) => error.is_refusal(),
            Error::Log(LogError::Image { failure, .. }) => failure.is_refusal(),
            Error::Nbd { failure, .. } => failure.is_refusal(),
            Error::Code { failure, .. } => failure.is_refusal(),
            Error::Card { failure, .. } => matches!(**failure, CardFailure::NoDirectory),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::words_of;

    #[test]
    fn messages_have_no_numbers_of_the_host() {
        for (text, words) in [
            ("a: No space left on device (os error 28)", "a: No space left on device"),
            ("b (os error 2): c (os error 13); d", "b: c; d"),
            ("a (os error x)", "a (os error x)"),
            ("a (os error 5)x.img: no file (os error 2)", "a (os error 5)x.img: no file"),
            ("a (os error )", "a (os error )"),
        ] {
            assert_eq!(words_of(&text), words);
        }
    }
}
