//! What is linked, what it is to be, and why it cannot be.

use std::error::Error;
use std::fmt;

use norn_card_package::{Aid, Version};

use super::exports::ExportTable;
use super::natives::Natives;
use crate::class_file::ClassFile;
use crate::refusal::Refusal;
use crate::world::World;

/// What a package is to be.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// The package's identifier.
    pub aid: Aid,
    /// The package's version.
    pub version: Version,
    /// Its applets: identifier and class, with slashes in the name.
    pub applets: Vec<(Aid, String)>,
    /// The versions of other packages that it was written against.
    pub requires: Vec<(Aid, Version)>,
    /// Whether it is the API.
    pub natives: Natives,
    /// What its last version of the same major version exported: numbers stay.
    pub previous: Option<ExportTable>,
}

/// Why a package cannot be linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkError {
    /// A class is refused.
    Refused(Refusal),
    /// An imported package has a version that does not serve.
    Version {
        /// The package that imports.
        importer: Aid,
        /// The package that is imported.
        imported: Aid,
        /// The version that the first was written against.
        wanted: Version,
        /// The version that is there.
        found: Version,
    },
    /// An imported package is needed whose export table is not given.
    Missing(Aid),
    /// What is wrong with the package as a whole.
    Package(String),
}

impl fmt::Display for LinkError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkError::Refused(refusal) => refusal.fmt(out),
            LinkError::Version { importer, imported, wanted, found } => write!(
                out,
                "package {importer} was made for version {wanted} of package {imported}, and {found} is there: \
                 the major version has to be the same, and the minor not lower"
            ),
            LinkError::Missing(aid) => write!(out, "the export table of package {aid} is missing"),
            LinkError::Package(what) => out.write_str(what),
        }
    }
}

impl Error for LinkError {}

impl From<Refusal> for LinkError {
    fn from(refusal: Refusal) -> LinkError {
        LinkError::Refused(refusal)
    }
}

/// What the steps of linking share.
pub(super) struct Package<'a> {
    pub classes: &'a [ClassFile],
    pub imports: &'a [&'a ExportTable],
    pub world: World,
    pub config: &'a LinkConfig,
}

impl<'a> Package<'a> {
    /// A class of the package itself.
    pub fn own(&self, name: &str) -> Option<(usize, &'a ClassFile)> {
        self.classes.iter().enumerate().find(|(_, class)| class.shape.name == name)
    }
}
