//! What `norn nbd` fails with.

use std::io;
use std::os::unix::fs::FileTypeExt;

use norn_flash_sim::NandSimError;
use norn_nand_ftl::{FtlError, MountError};
use norn_nbd::Address;

/// What block devices fail with.
#[derive(Debug, thiserror::Error)]
pub enum NbdFailure {
    /// Formatting.
    #[error("cannot be formatted: {}", of_mounting(.0))]
    Format(MountError<NandSimError>),
    /// Mounting.
    #[error("cannot be mounted: {}", of_mounting(.0))]
    Mount(MountError<NandSimError>),
    /// Checking or flushing.
    #[error("{}", told(.0))]
    Ftl(FtlError<NandSimError>),
    /// The requested size is no multiple of a page.
    #[error("{size} bytes are not a multiple of {unit}")]
    Size {
        /// The size.
        size: u64,
        /// Of what it has to be a multiple.
        unit: u64,
    },
    /// The part is too small, or has too many bad blocks.
    #[error("{part} with {bad_blocks} bad blocks has no room for a block device")]
    NoRoom {
        /// The part's name.
        part: String,
        /// Bad blocks that are reckoned with.
        bad_blocks: u16,
    },
    /// The requested size is nothing.
    #[error(
        "a device of 0 bytes holds nothing: give a size from {unit} to {max} bytes, or none for nine tenths of that"
    )]
    Nothing {
        /// What a size is a multiple of.
        unit: u64,
        /// Most bytes.
        max: u64,
    },
    /// The requested size is more than fits.
    #[error("{size} bytes requested; {part} with {bad_blocks} bad blocks has room for {max}")]
    Room {
        /// The size.
        size: u64,
        /// The part's name.
        part: String,
        /// Bad blocks that are reckoned with.
        bad_blocks: u16,
        /// Most bytes.
        max: u64,
    },
    /// The address cannot be listened on.
    #[error("cannot be served at {0}: {why}", why = of_listening(.0, .1))]
    Listen(Address, io::Error),
}

impl NbdFailure {
    /// Whether mounting failed for what the part holds, and not because the device failed.
    pub fn is_refusal(&self) -> bool {
        matches!(self, NbdFailure::Mount(error) if !matches!(error, MountError::Device(_)))
    }
}

/// Why an address cannot be listened on, and what to do where something is there.
fn of_listening(address: &Address, error: &io::Error) -> String {
    match address {
        _ if error.kind() != io::ErrorKind::AddrInUse => error.to_string(),
        Address::Tcp(_) => "another program listens there; port 0 takes one that is free".to_owned(),
        Address::Unix(path) => match path.symlink_metadata() {
            Ok(found) if found.file_type().is_socket() => "another program listens there; name another path".to_owned(),
            _ => "what is there is no socket, and stays as it is; name another path".to_owned(),
        },
    }
}

/// Why a device cannot be mounted; errors of the part are printed in its words.
fn of_mounting(error: &MountError<NandSimError>) -> String {
    match error {
        MountError::Device(error) => error.to_string(),
        error => error.to_string(),
    }
}

/// Why an operation failed; errors of the part are printed in its words.
pub fn told(error: &FtlError<NandSimError>) -> String {
    match error {
        FtlError::Device(error) => error.to_string(),
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_part_refuses_is_told_in_words() {
        let error = NandSimError::MarkedBad { block: norn_flash::Block(58) };
        for told in [of_mounting(&MountError::Device(error.clone())), told(&FtlError::Device(error))] {
            assert!(told.contains("block 58") && !told.contains('{'), "{told}");
        }
    }
}
