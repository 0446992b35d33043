//! The checker: walks a whole image and proves what a reader relies on.
//!
//! 1. The sections follow each other without gap, and the image has its length.
//! 2. Every reference inside the package leads to a class, interface, method or static field that is there; every
//!    reference to another package names an import.
//! 3. Class records have known kinds; a class above, within the package, has a smaller number or another place in a
//!    line that ends; slots of interfaces are within the method table.
//! 4. Every method's code consists of whole bytecodes, with local variables that exist and branches and handlers that
//!    lead to the start of one ([`code_check`](crate::code_check)).
//!
//! It proves no types: those the linker proves, and the interpreter checks what damage could break.

use crate::code_check::check_code;
use crate::error::{ImageError, Wrong};
use crate::format::{METHOD_HEAD_BYTES, NONE};
use crate::image::{Image, wrong};
use crate::known::{KNOWN_CLASSES, KNOWN_METHODS, known_class};
use crate::native::NATIVES;
use crate::package::{Class, ClassPlace, MethodPlace, Package, Start};

type Checked<I> = Result<(), ImageError<<I as Image>::Error>>;

/// Checks a whole image. RAM: none beside the stack. Cost: reads the image once, and each method's code once more for
/// each branch in it.
///
/// # Errors
///
/// The first thing that is wrong, with its place.
pub fn check<I: Image>(image: &mut I) -> Result<Package, ImageError<I::Error>> {
    let package = Package::open(image)?;
    let end = package.length;
    if !image.window(end.saturating_sub(1)).map_err(ImageError::Read)?.is_empty() {
        Checker { package, image }.check()?;
        return Ok(package);
    }
    wrong(end, Wrong::Ends)
}

/// An image that is being checked.
struct Checker<'a, I> {
    package: Package,
    image: &'a mut I,
}

impl<I: Image> Checker<'_, I> {
    fn check(&mut self) -> Checked<I> {
        for number in 0..self.package.imports {
            self.package.import(self.image, number)?;
        }
        for number in 0..self.package.applets {
            self.applet(number)?;
        }
        self.starts()?;
        for number in 0..self.package.classes {
            self.class(number)?;
        }
        for number in 0..self.package.methods {
            self.method(number)?;
        }
        self.known()
    }

    /// What the virtual machine knows of the API: classes and slots that are there.
    fn known(&mut self) -> Checked<I> {
        if !self.package.has_natives {
            return Ok(());
        }
        for place in 0..KNOWN_CLASSES.len() as u8 {
            if let Some(class) = self.package.known_class(self.image, place)? {
                self.package.class(self.image, class)?;
            }
        }
        for (place, (class, _, _)) in (0..).zip(KNOWN_METHODS) {
            let Some(slot) = self.package.known_slot(self.image, place)? else { continue };
            let class = known_class(class).map(|place| self.package.known_class(self.image, place)).transpose()?;
            let Some(Some(class)) = class else { return wrong(self.package.known_at, Wrong::Class) };
            if slot >= self.package.class(self.image, class)?.slots {
                return wrong(self.package.known_at, Wrong::Method);
            }
        }
        Ok(())
    }

    fn applet(&mut self, number: u8) -> Checked<I> {
        let applet = self.package.applet(self.image, number)?;
        let class = self.package.class(self.image, applet.class)?;
        let install = self.package.method(self.image, applet.install)?;
        if class.is_interface() || class.is_abstract() {
            return wrong(class.at, Wrong::Class);
        }
        if !install.is_static() || install.arguments != 3 || install.has_value() {
            return wrong(install.code - METHOD_HEAD_BYTES, Wrong::Method);
        }
        Ok(())
    }

    fn starts(&mut self) -> Checked<I> {
        let package = self.package;
        for slot in 0..package.statics {
            package.static_kind(self.image, slot)?;
        }
        let mut at = package.first_array();
        for _ in 0..package.arrays {
            at = package.array(self.image, at)?.next();
        }
        if package.arrays_end() != Some(at) {
            return wrong(at, Wrong::Place);
        }
        for number in 0..package.starts {
            let (slot, start) = package.start(self.image, number)?;
            let is_reference = package.static_kind(self.image, slot)? == crate::format::REFERENCE;
            let fits = match start {
                Start::Int(_) => !is_reference,
                Start::Array(array) => is_reference && array < package.arrays,
            };
            if !fits {
                return wrong(package.records_at, Wrong::Static);
            }
        }
        Ok(())
    }

    fn class(&mut self, number: u8) -> Checked<I> {
        let class = self.package.class(self.image, number)?;
        if class.first_interface() > self.package.length {
            return wrong(class.at, Wrong::Ends);
        }
        self.line(number, class)?;
        for slot in 0..class.fields {
            self.package.field_kind(self.image, &class, slot)?;
        }
        if !class.is_interface() {
            for slot in 0..class.slots {
                self.entry(&class, slot)?;
            }
        }
        self.interfaces(&class)
    }

    /// The classes above, within the package: the line ends.
    fn line(&mut self, number: u8, class: Class) -> Checked<I> {
        let (mut above, mut left) = (class, self.package.classes);
        while let Some(place) = above.parent {
            if place.package != 0 {
                return self.import(place.package, class.at);
            }
            above = self.package.class(self.image, place.class)?;
            left -= 1;
            if above.is_interface() || place.class == number || left == 0 {
                return wrong(class.at, Wrong::Class);
            }
        }
        Ok(())
    }

    fn import(&self, package: u8, at: u32) -> Checked<I> {
        if package == NONE || package > self.package.imports {
            return wrong(at, Wrong::Class);
        }
        Ok(())
    }

    fn entry(&mut self, class: &Class, slot: u8) -> Checked<I> {
        match self.package.entry(self.image, class, slot)? {
            None if class.is_abstract() => Ok(()),
            None => wrong(class.at, Wrong::Method),
            Some(MethodPlace { package: 0, method }) => {
                let method = self.package.method(self.image, method)?;
                if method.is_static() || method.arguments == 0 {
                    return wrong(class.at, Wrong::Method);
                }
                Ok(())
            }
            Some(place) => self.import(place.package, class.at),
        }
    }

    fn interfaces(&mut self, class: &Class) -> Checked<I> {
        let mut at = class.first_interface();
        for _ in 0..class.interfaces {
            let table = self.package.interface(self.image, at)?;
            self.interface(table.interface, at)?;
            for method in 0..table.methods {
                if class.is_interface() || table.slot(self.image, method)? >= class.slots {
                    return wrong(at, Wrong::Method);
                }
            }
            if let (ClassPlace { package: 0, class: number }, false) = (table.interface, class.is_interface())
                && self.package.class(self.image, number)?.slots != table.methods
            {
                return wrong(at, Wrong::Count);
            }
            at = table.next();
        }
        Ok(())
    }

    fn interface(&mut self, place: ClassPlace, at: u32) -> Checked<I> {
        if place.package != 0 {
            return self.import(place.package, at);
        }
        if !self.package.class(self.image, place.class)?.is_interface() {
            return wrong(at, Wrong::Class);
        }
        Ok(())
    }

    fn method(&mut self, number: u16) -> Checked<I> {
        let method = self.package.method(self.image, number)?;
        if !method.is_native() {
            return check_code(&self.package, self.image, &method);
        }
        if !self.package.has_natives || usize::from(self.package.native(self.image, &method)?) >= NATIVES.len() {
            return wrong(method.code, Wrong::Native);
        }
        Ok(())
    }
}
