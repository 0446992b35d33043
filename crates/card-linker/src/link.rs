//! Linking one package: verified classes in, an image and an export table out.
//!
//! 1. The world is the package's own classes and the shapes in the export tables of those it imports (`needed`);
//!    versions fit.
//! 2. Every class is verified, and native methods are left to the API (`natives`).
//! 3. What cannot be reached is left out (`reach`).
//! 4. `<clinit>` is evaluated (`class_start`).
//! 5. Classes, fields, methods and static fields get numbers, those of exported ones for as long as the major version
//!    lasts (`plan`).
//! 6. Code is written with numbers in place of names (`emit`), and the image around it (`write`).
//!
//! Source: chapters 4 and 6 of the Virtual Machine Specification, Java Card Platform, Classic Edition 3.0.5.

mod class_start;
mod emit;
mod exports;
mod layout;
mod natives;
mod needed;
mod package;
mod plan;
mod reach;
mod write;

use std::collections::BTreeMap;

use self::emit::Imports;
pub use self::exports::ExportTable;
pub use self::layout::{ClassLayout, MemberKey, Slot};
pub use self::natives::Natives;
use self::package::Package;
pub use self::package::{LinkConfig, LinkError};
pub use self::write::Sizes;
use crate::class_file::ClassFile;
use crate::refusal::{Reason, Refusal};
use crate::verify::verify;
use crate::world::World;

/// A package that is ready to be installed.
#[derive(Clone, Debug)]
pub struct LinkedPackage {
    /// The image.
    pub image: Vec<u8>,
    /// What others are linked against.
    pub exports: ExportTable,
    /// What the image's bytes are for.
    pub sizes: Sizes,
    /// The names of its classes, with slashes, by their numbers: what a card itself does not know.
    pub classes: Vec<String>,
}

/// Links a package against the export tables of those that it imports. Others may be among `imports`, and are left out.
/// Cost: that of the verifier; linear in the code otherwise.
///
/// # Errors
///
/// The first thing that a card refuses, with class, method and line where it has them.
pub fn link(classes: &[ClassFile], imports: &[ExportTable], config: &LinkConfig) -> Result<LinkedPackage, LinkError> {
    let imports = &*needed::needed(classes, imports, config)?;
    check_versions(imports, config)?;
    let world = world(classes, imports)?;
    for class in classes {
        verify(class, &world)?;
        natives::check(class, config.natives)?;
    }
    let package = Package { classes, imports, world, config };
    let reached = reach::reach(&package)?;
    let plan = plan::plan(&package, &reached)?;
    let starts = class_start::starts(&package, &reached)?;
    let mut used = Imports::new(&package);
    let code = emit::code(&package, &plan, &mut used)?;
    let (image, sizes) = write::image(&package, &plan, &starts, &code, &mut used)?;
    let exports = plan.exports(config, used.versions());
    match norn_card_package::check(&mut &image[..]) {
        Ok(_) => Ok(LinkedPackage { image, exports, sizes, classes: plan.classes }),
        Err(error) => Err(LinkError::Package(format!("the linker has written a wrong image: {error}"))),
    }
}

fn check_versions(imports: &[&ExportTable], config: &LinkConfig) -> Result<(), LinkError> {
    let own = config.requires.iter().map(|(imported, wanted)| (config.aid, *imported, *wanted));
    let theirs =
        imports.iter().flat_map(|table| table.imports.iter().map(|(imported, wanted)| (table.aid, *imported, *wanted)));
    for (importer, imported, wanted) in own.chain(theirs) {
        let table = imports.iter().find(|table| table.aid == imported).ok_or(LinkError::Missing(imported))?;
        if !table.version.serves(wanted) {
            return Err(LinkError::Version { importer, imported, wanted, found: table.version });
        }
    }
    let Some(previous) = &config.previous else { return Ok(()) };
    if previous.aid != config.aid || !config.version.serves(previous.version) {
        let (aid, version) = (previous.aid, previous.version);
        return Err(LinkError::Package(format!("version {} cannot follow {version} of package {aid}", config.version)));
    }
    Ok(())
}

/// All classes by name; no package of Java's belongs to two packages of the card, so that none gets at what another
/// keeps to its package.
fn world(classes: &[ClassFile], imports: &[&ExportTable]) -> Result<World, LinkError> {
    let mut world = World::default();
    let mut taken = BTreeMap::new();
    for table in imports {
        for class in &table.classes {
            let refused = |reason| Refusal::of_class(&class.shape.name, reason);
            world.add(class.shape.clone()).map_err(refused)?;
            taken.insert(class.shape.package(), table.aid);
        }
    }
    for class in classes {
        let refused = |reason| Refusal::of_class(&class.shape.name, reason);
        if let Some(aid) = taken.get(class.shape.package()) {
            let room = match class.shape.package() {
                "" => "classes without a package of Java's".to_owned(),
                room => room.replace('/', "."),
            };
            return Err(refused(Reason::Unresolved(format!("the imported package {aid} has {room} already"))).into());
        }
        world.add(class.shape.clone()).map_err(refused)?;
    }
    Ok(world)
}
