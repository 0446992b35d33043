//! Class files from jars and directories, and what the manifest says of the package.
//!
//! ```text
//! Card-Package: F00000000001 1.0                 its AID and version
//! Card-Applets: F0000000000101 purse.Purse       AID and class of each applet, separated by commas
//! ```

use std::fs;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use norn_card_linker::{Aid, ClassFile, Version};
use zip::ZipArchive;

use crate::failure::CardFailure;

/// The classes of a package, and what its manifest says.
#[derive(Debug)]
pub struct Classes {
    /// The class files.
    pub classes: Vec<ClassFile>,
    /// What the manifest says.
    pub manifest: Manifest,
}

/// An applet by its AID and the name of its class.
pub type AppletOf = (Aid, String);

/// What a manifest says of a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// The package's AID and version.
    pub package: Option<(Aid, Version)>,
    /// Its applets: AIDs and classes.
    pub applets: Vec<AppletOf>,
}

/// Reads an AID from hexadecimal digits.
///
/// # Errors
///
/// [`CardFailure::NoAid`].
pub fn aid_of(text: &str) -> Result<Aid, CardFailure> {
    let digits = text.as_bytes().chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
        u8::from_str_radix(pair, 16).ok()
    });
    let bytes: Option<Vec<u8>> = if text.is_ascii() { digits.collect() } else { None };
    bytes.and_then(|bytes| Aid::new(&bytes)).ok_or_else(|| CardFailure::NoAid(text.to_owned()))
}

impl Manifest {
    /// Reads a manifest's main section; attributes of others are passed over.
    fn read(file: &Path, text: &str) -> Result<Manifest, CardFailure> {
        // A line that begins with a space goes on with the last.
        let text = text.replace("\r\n", "\n").replace("\n ", "");
        let main = text.split("\n\n").next().unwrap_or("");
        let attribute = |name: &str| {
            main.lines().find_map(|line| line.split_once(':').filter(|(key, _)| *key == name).map(|(_, value)| value))
        };
        let wrong = |what: &str, text: &str| CardFailure::Jar {
            file: file.to_owned(),
            message: format!("the manifest says `{}`, which is not {what}", text.trim()),
        };
        let mut manifest = Manifest::default();
        if let Some(text) = attribute("Card-Package") {
            let words: Vec<&str> = text.split_whitespace().collect();
            let [aid, version] = words[..] else { return Err(wrong("an AID and a version", text)) };
            let version = version_of(version).ok_or_else(|| wrong("an AID and a version", text))?;
            manifest.package = Some((aid_of(aid)?, version));
        }
        for text in attribute("Card-Applets").into_iter().flat_map(|text| text.split(',')) {
            let words: Vec<&str> = text.split_whitespace().collect();
            let [aid, class] = words[..] else { return Err(wrong("an AID and a class", text)) };
            manifest.applets.push((aid_of(aid)?, class.replace('.', "/")));
        }
        Ok(manifest)
    }
}

/// A version, as `1.0`.
pub(crate) fn version_of(text: &str) -> Option<Version> {
    let (major, minor) = text.split_once('.')?;
    Some(Version { major: major.parse().ok()?, minor: minor.parse().ok()? })
}

impl Classes {
    /// Reads a jar, or every class file below a directory.
    ///
    /// # Errors
    ///
    /// What cannot be read, or is refused, with its place.
    pub fn read(path: &Path) -> Result<Classes, CardFailure> {
        let mut files = Vec::new();
        if path.is_dir() {
            collect(path, &mut files)?;
        } else {
            files = entries(path)?;
        }
        files.sort();
        let (mut classes, mut manifest) = (Vec::new(), Manifest::default());
        for (name, bytes) in files {
            if name.ends_with("META-INF/MANIFEST.MF") {
                manifest = Manifest::read(path, &String::from_utf8_lossy(&bytes))?;
            } else if name.ends_with(".class") && !name.ends_with("module-info.class") {
                classes.push(ClassFile::read(&bytes, &name)?);
            }
        }
        if classes.is_empty() {
            let message = "there are no class files in it".to_owned();
            return Err(CardFailure::Jar { file: path.to_owned(), message });
        }
        Ok(Classes { classes, manifest })
    }
}

/// Files of a jar: name and contents.
fn entries(path: &Path) -> Result<Vec<(String, Vec<u8>)>, CardFailure> {
    /// Bytes of a class file at most: no card takes more.
    const MOST: u64 = 1 << 24;
    let bytes = fs::read(path).map_err(CardFailure::file(path))?;
    let wrong = |error: &dyn std::fmt::Display| CardFailure::Jar { file: path.to_owned(), message: error.to_string() };
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| wrong(&error))?;
    let mut files = Vec::new();
    for number in 0..archive.len() {
        let entry = archive.by_index(number).map_err(|error| wrong(&error))?;
        let name = entry.name().to_owned();
        let mut contents = Vec::new();
        entry.take(MOST).read_to_end(&mut contents).map_err(|error| wrong(&format!("{name}: {error}")))?;
        files.push((name, contents));
    }
    Ok(files)
}

fn collect(directory: &Path, files: &mut Vec<(String, Vec<u8>)>) -> Result<(), CardFailure> {
    for entry in fs::read_dir(directory).map_err(CardFailure::file(directory))? {
        let path: PathBuf = entry.map_err(CardFailure::file(directory))?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            let bytes = fs::read(&path).map_err(CardFailure::file(&path))?;
            files.push((path.display().to_string(), bytes));
        }
    }
    Ok(())
}
