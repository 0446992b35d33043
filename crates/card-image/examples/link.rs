//! Links packages for a card that is not on this host: `link OUT JAR...` links the jars one after the other, each
//! against those before it, the card's API first, and writes `OUT/NAME.image` for each.
#![forbid(unsafe_code)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use norn_card_image::Classes;
use norn_card_linker::{ExportTable, LinkConfig, LinkedPackage, Natives, link};

/// Links the package of a jar. The API alone has native methods.
fn link_jar(jar: &Path, imports: &[ExportTable]) -> Result<LinkedPackage, Box<dyn Error>> {
    let Classes { classes, manifest } = Classes::read(jar)?;
    let (aid, version) = manifest.package.ok_or("no manifest says the package's AID and version")?;
    let natives = if imports.is_empty() { Natives::OfTheApi } else { Natives::Refused };
    let config = LinkConfig { aid, version, applets: manifest.applets, requires: Vec::new(), natives, previous: None };
    Ok(link(&classes, imports, &config)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let out = arguments.next().ok_or("usage: link OUT JAR...")?;
    fs::create_dir_all(&out)?;
    let mut exports = Vec::new();
    for jar in arguments {
        let linked = link_jar(&jar, &exports).map_err(|error| format!("{}: {error}", jar.display()))?;
        let name = jar.file_stem().ok_or("a jar without a name")?;
        fs::write(out.join(name).with_extension("image"), &linked.image)?;
        exports.push(linked.exports);
    }
    Ok(())
}
