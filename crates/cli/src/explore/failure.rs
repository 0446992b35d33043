//! Why an image has no page or picture, or nothing is served.

use std::net::SocketAddr;
use std::path::PathBuf;

use norn_explorer::page::NoProgram;

/// Why there is no page or picture.
#[derive(Debug, thiserror::Error)]
pub enum ExploreError {
    /// The command has no page.
    #[error("{0}")]
    NoProgram(NoProgram),
    /// What is on the part cannot be shown.
    #[error("{}: {why}", .image.display())]
    NoPicture {
        /// The file.
        image: PathBuf,
        /// Why not.
        why: String,
    },
    /// What is read again and again has to be a file.
    #[error("{}: no regular file", .0.display())]
    NoFile(PathBuf),
    /// Nothing can be served.
    #[error("{address}: {source}")]
    Serve {
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: std::io::Error,
    },
}
