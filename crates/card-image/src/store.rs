//! Packages in files: an image appears whole, by a rename.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use norn_card_package::{Image, ImageError, Package, check, known_class};
use norn_card_vm::{AddError, Code, PackageStore};

/// Packages that a card holds at most.
pub(crate) const PACKAGES: usize = 32;

/// An image in memory.
#[derive(Debug)]
pub struct Bytes(pub(crate) Vec<u8>);

impl Image for Bytes {
    type Error = StoreError;

    fn window(&mut self, at: u32) -> Result<&[u8], StoreError> {
        Ok(self.0.get(at as usize..).unwrap_or(&[]))
    }
}

/// Why the packages' files cannot be changed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}: {message}", file.display())]
pub struct StoreError {
    file: PathBuf,
    message: String,
}

impl StoreError {
    pub(crate) fn of(file: &Path) -> impl Fn(io::Error) -> StoreError {
        move |error| StoreError { file: file.to_owned(), message: error.to_string() }
    }
}

#[derive(Debug)]
struct Kept {
    package: Package,
    image: Bytes,
    imports: Vec<u8>,
}

/// The packages of a directory.
#[derive(Debug)]
pub(crate) struct FileStore {
    directory: PathBuf,
    kept: Vec<Option<Kept>>,
    object_class: (u8, u8),
}

impl FileStore {
    /// Reads every package. A file that is not whole is an error that names it.
    pub fn open(directory: &Path) -> Result<FileStore, ImageError<StoreError>> {
        let kept = (0..PACKAGES).map(|_| None).collect();
        let mut store = FileStore { directory: directory.to_owned(), kept, object_class: (0, 0) };
        let mut found = Vec::new();
        for number in 0..PACKAGES {
            let path = store.image_path(number);
            match fs::read(&path) {
                Ok(bytes) => found.push((number, bytes)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(ImageError::Read(StoreError::of(&path)(error))),
            }
        }
        // A package may have a lower number than one that it imports.
        while !found.is_empty() {
            let before = found.len();
            let mut waiting = Vec::new();
            for (number, bytes) in found {
                match store.keep(number, bytes.clone()) {
                    Ok(()) => {}
                    Err(AddError::Import(_)) => waiting.push((number, bytes)),
                    Err(AddError::Image(error)) => return Err(error),
                    Err(_) => return Err(store.wrong(number, "a package of an AID that another one has")),
                }
            }
            found = waiting;
            if let Some((number, _)) = found.first().filter(|_| found.len() == before) {
                return Err(store.wrong(*number, "a package that it imports is missing"));
            }
        }
        Ok(store)
    }

    fn wrong(&self, number: usize, what: &str) -> ImageError<StoreError> {
        ImageError::Read(StoreError { file: self.image_path(number), message: what.to_owned() })
    }

    pub fn image_path(&self, number: usize) -> PathBuf {
        self.directory.join(format!("{number:02}.ncp"))
    }

    pub fn exports_path(&self, number: usize) -> PathBuf {
        self.directory.join(format!("{number:02}.exports"))
    }

    /// The packages that are there.
    pub fn packages(&self) -> impl Iterator<Item = (u8, &Package)> {
        (0..).zip(&self.kept).filter_map(|(number, kept)| Some((number, &kept.as_ref()?.package)))
    }

    fn number_of(&self, aid: norn_card_package::Aid) -> Option<u8> {
        self.packages().find(|(_, package)| package.aid == aid).map(|(number, _)| number)
    }

    fn keep(&mut self, number: usize, bytes: Vec<u8>) -> Result<(), AddError<StoreError>> {
        let mut image = Bytes(bytes);
        let package = check(&mut image).map_err(AddError::Image)?;
        if self.number_of(package.aid).is_some() {
            return Err(AddError::Exists(package.aid));
        }
        let mut imports = Vec::new();
        for import in 0..package.imports {
            let import = package.import(&mut image, import).map_err(AddError::Image)?;
            let missing = AddError::Import(import.aid);
            let (found, imported) = self.packages().find(|(_, package)| package.aid == import.aid).ok_or(missing)?;
            if !imported.version.serves(import.version) {
                return Err(AddError::Import(import.aid));
            }
            imports.push(found);
        }
        if package.has_natives {
            let object = known_class("java/lang/Object").unwrap_or(0);
            let object = package.known_class(&mut image, object).map_err(AddError::Image)?;
            self.object_class = (number as u8, object.unwrap_or(0));
        }
        self.kept[number] = Some(Kept { package, image, imports });
        Ok(())
    }
}

impl Code for FileStore {
    type Image = Bytes;

    fn package(&mut self, number: u8) -> Option<(&Package, &mut Bytes)> {
        let kept = self.kept.get_mut(usize::from(number))?.as_mut()?;
        Some((&kept.package, &mut kept.image))
    }

    fn import(&self, package: u8, import: u8) -> Option<u8> {
        self.kept.get(usize::from(package))?.as_ref()?.imports.get(usize::from(import)).copied()
    }

    fn object_class(&self) -> (u8, u8) {
        self.object_class
    }
}

impl PackageStore for FileStore {
    fn add(&mut self, image: &[u8]) -> Result<u8, AddError<StoreError>> {
        let Some(number) = self.kept.iter().position(Option::is_none) else { return Err(AddError::NoRoom) };
        self.keep(number, image.to_vec())?;
        let path = self.image_path(number);
        write_whole(&path, image).map_err(|error| {
            self.kept[number] = None;
            AddError::Image(ImageError::Read(StoreError::of(&path)(error)))
        })?;
        Ok(number as u8)
    }

    fn remove(&mut self, number: u8) -> Result<(), StoreError> {
        let Some(kept) = self.kept.get_mut(usize::from(number)) else { return Ok(()) };
        *kept = None;
        for path in [self.image_path(number.into()), self.exports_path(number.into())] {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(StoreError::of(&path)(error)),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Writes a file that is there whole or not at all.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let part = path.with_extension("part");
    fs::write(&part, bytes)?;
    fs::File::open(&part)?.sync_all()?;
    fs::rename(&part, path)
}
