//! Packages in memory, as a card's store keeps them.

use std::convert::Infallible;

use norn_card_package::{Package, check};
use norn_card_vm::{AddError, Code, PackageStore};

/// A package, its image, and the numbers of what it imports.
#[derive(Clone)]
struct Kept {
    package: Package,
    image: &'static [u8],
    imports: Vec<u8>,
}

/// Packages by number.
#[derive(Clone, Default)]
pub struct Store {
    kept: Vec<Option<Kept>>,
    object_class: (u8, u8),
}

impl Code for Store {
    type Image = &'static [u8];

    fn package(&mut self, number: u8) -> Option<(&Package, &mut &'static [u8])> {
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

impl PackageStore for Store {
    fn add(&mut self, image: &[u8]) -> Result<u8, AddError<Infallible>> {
        let mut image: &'static [u8] = Box::leak(image.to_vec().into_boxed_slice());
        let package = check(&mut image).map_err(AddError::Image)?;
        let with = |store: &Store, aid| {
            let is_it = |kept: &Option<Kept>| kept.as_ref().is_some_and(|kept| kept.package.aid == aid);
            store.kept.iter().position(is_it)
        };
        if with(self, package.aid).is_some() {
            return Err(AddError::Exists(package.aid));
        }
        let mut imports = Vec::new();
        for number in 0..package.imports {
            let import = package.import(&mut image, number).map_err(AddError::Image)?;
            let found = with(self, import.aid).ok_or(AddError::Import(import.aid))?;
            let version = self.kept[found].as_ref().unwrap().package.version;
            if !version.serves(import.version) {
                return Err(AddError::Import(import.aid));
            }
            imports.push(found as u8);
        }
        let number = self.kept.iter().position(Option::is_none).unwrap_or(self.kept.len());
        if number == self.kept.len() {
            self.kept.push(None);
        }
        if package.has_natives {
            let object = package.known_class(&mut image, 0).map_err(AddError::Image)?;
            self.object_class = (number as u8, object.unwrap());
        }
        self.kept[number] = Some(Kept { package, image, imports });
        Ok(number as u8)
    }

    fn remove(&mut self, number: u8) -> Result<(), Infallible> {
        if let Some(kept) = self.kept.get_mut(usize::from(number)) {
            *kept = None;
        }
        Ok(())
    }
}
