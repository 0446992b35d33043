//! What `norn code` fails with.

use std::io;
use std::path::PathBuf;

use norn_code_pager::{ImageError, ProgramError, ReadError, RoomName};
use norn_flash_sim::NandSimError;

/// What programs fail with.
#[derive(Debug, thiserror::Error)]
pub enum CodeFailure {
    /// A program could not be chosen, written, confirmed or rolled back.
    #[error("{}", explained(.0))]
    Program(ProgramError<NandSimError>),
    /// The file with the program cannot be read, or not be made.
    #[error("{}: {error}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The file with the program has no bytes, or more than any part.
    #[error("{}: a file of {bytes} bytes is not a program", file.display())]
    Length {
        /// The file.
        file: PathBuf,
        /// Its length.
        bytes: u64,
    },
    /// A room has no whole program to copy.
    #[error("{room}: {}", in_room(.error))]
    NotRead {
        /// The room.
        room: RoomName,
        /// Why not.
        error: ImageError<NandSimError>,
    },
    /// A page of a program that was whole cannot be read.
    #[error("{room}: {error}")]
    Page {
        /// The program's room.
        room: RoomName,
        /// Why not.
        error: ReadError<NandSimError>,
    },
    /// The part's pages are too small for cache pages.
    #[error("{0}")]
    Room(ImageError<std::convert::Infallible>),
    /// There is a program that runs.
    #[error("{0} has a program that runs: `norn code update` replaces it, and keeps it to go back to")]
    Installed(RoomName),
    /// More than half of the part's blocks are to be bad.
    #[error("{bad_blocks} bad blocks of {blocks}: no part is sold with more than half of its blocks bad")]
    BadBlocks {
        /// Those that were asked for.
        bad_blocks: u16,
        /// Blocks of the part.
        blocks: u16,
    },
    /// What the part holds would be overwritten.
    #[error("not blank: `norn code create` makes an image for programs")]
    NotBlank,
}

impl From<ProgramError<NandSimError>> for CodeFailure {
    fn from(error: ProgramError<NandSimError>) -> Self {
        CodeFailure::Program(error)
    }
}

impl CodeFailure {
    /// Whether the command failed for what the part holds, and not because the device failed.
    pub fn is_refusal(&self) -> bool {
        use ProgramError::{NewerSwitch, NoProgram, NothingRuns, OtherRooms, Rooms};
        match self {
            CodeFailure::Program(error) => {
                matches!(
                    error,
                    NothingRuns { .. } | NoProgram { .. } | OtherRooms { .. } | NewerSwitch { .. } | Rooms(_)
                )
            }
            CodeFailure::NotBlank => true,
            _ => false,
        }
    }
}

/// Why there is no program in a room.
pub fn in_room(error: &ImageError<NandSimError>) -> String {
    match error {
        ImageError::NoImage { .. } => "no program".to_owned(),
        error => error.to_string(),
    }
}

/// Why a program failed, and what helps; errors of the part are printed in its words.
fn explained(error: &ProgramError<NandSimError>) -> String {
    match error {
        ProgramError::Image(ImageError::Device(error)) => error.to_string(),
        ProgramError::NothingRuns { .. } => "no program is installed; `norn code install` installs one".to_owned(),
        ProgramError::OnTrial { room } => {
            format!("the program in {room} is on trial: `norn code confirm` or `norn code rollback` ends that")
        }
        error => error.to_string(),
    }
}
