//! `norn card`: Java Cards in directories: made, filled with applets, driven by APDUs, served to PC/SC, shown, checked.

pub mod arguments;
mod bytecodes;
mod script;
mod serve;

use std::cmp::Reverse;
use std::fmt::{self, Display};
use std::path::Path;

use norn_card_image::{CardFailure, CardImage, Installed, Report, Wanted};
use norn_card_linker::Aid;
use norn_flash_sim::Counters;

use crate::table::{Side, table, text};
use arguments::{DeleteArguments, InstallArguments, NewArguments};
use norn_flash_sim::WearSummary;
pub use script::{Sent, send, trace};
pub use serve::serve;

/// Makes a card.
///
/// # Errors
/// When there is something at its place, the part does not serve, or the API cannot be linked.
pub fn create(arguments: &NewArguments) -> Result<String, CardFailure> {
    let NewArguments { card, api, part, nand } = arguments;
    if !api.exists() {
        let message = "the API's classes are not there: `tools/card-jars out/card` makes out/card/card-api.jar";
        return Err(CardFailure::Jar { file: api.clone(), message: message.to_owned() });
    }
    let (_, installed) = CardImage::create(card, part, nand, api)?;
    let (name, part) = (&part.name, part.part);
    let card = card.display();
    Ok(format!(
        "{card}: a card on a {name} of {} units of {} bytes, its packages on a {}\n{}",
        part.unit_count,
        part.unit_size_bytes,
        nand.name,
        Linked(&installed)
    ))
}

/// A package that was linked and installed, for people.
struct Linked<'a>(&'a Installed);

impl Display for Linked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Installed { package, version, sizes, .. } = self.0;
        let whole = sizes.tables + sizes.statics + sizes.classes + sizes.methods;
        let (classes, methods) = sizes.left_out;
        writeln!(
            f,
            "package {package} {version}: {whole} bytes ({} tables, {} static fields, {} classes, {} methods); {classes} \
             classes and {methods} methods that nothing reaches are left out",
            sizes.tables, sizes.statics, sizes.classes, sizes.methods
        )
    }
}

/// Links and installs a package, and makes an instance of each of its applets.
///
/// # Errors
/// When the package is refused, with the place; what was installed before stays.
pub fn install(arguments: &InstallArguments) -> Result<String, CardFailure> {
    let mut card = CardImage::open(&arguments.card)?;
    let mut done = String::new();
    let instances: Vec<(Aid, Aid)> = match arguments.instance {
        Some(instance) => vec![instance],
        None => {
            let package = arguments.aid.map(|aid| (aid, arguments.package_version));
            let wanted = Wanted { package, applets: arguments.applets.clone() };
            let installed = card.install(&arguments.classes, &wanted)?;
            done += &Linked(&installed).to_string();
            let applets = installed.applets.into_iter().filter(|_| !arguments.package_only);
            applets.map(|applet| (applet, applet)).collect()
        }
    };
    for (applet, instance) in instances {
        card.install_applet(applet, instance, &arguments.param.0)?;
        done += &format!("applet {instance} is installed\n");
    }
    Ok(done)
}

/// Deletes an applet or a package.
///
/// # Errors
/// When it is not there, or in use.
pub fn delete(arguments: &DeleteArguments) -> Result<String, CardFailure> {
    let mut card = CardImage::open(&arguments.card)?;
    card.delete(arguments.aid)?;
    Ok(format!("{} is deleted\n", arguments.aid))
}

/// Lists packages and applets.
///
/// # Errors
/// When the card cannot be opened.
pub fn list(card: &Path) -> Result<String, CardFailure> {
    Ok(listing(&CardImage::open_copy(card)?.report()?))
}

fn listing(report: &Report) -> String {
    let columns = [
        ("Package", Side::Left),
        ("Version", Side::Left),
        ("Bytes", Side::Right),
        ("Applet", Side::Left),
        ("Instances", Side::Left),
    ];
    let mut packages = table(columns);
    for (package, version, bytes, applets) in &report.packages {
        let of_package = report.instances.iter().filter(|(_, of)| of == package);
        let instances: Vec<String> = of_package.map(|(instance, _)| instance.to_string()).collect();
        let applets: Vec<String> = applets.iter().map(Aid::to_string).collect();
        packages.add_row([
            package.to_string(),
            version.to_string(),
            bytes.to_string(),
            applets.join(" "),
            instances.join(" "),
        ]);
    }
    let lost: String = report.lost_packages.iter().map(|lost| format!("{lost}\n")).collect();
    text(&packages) + &lost
}

/// A line for each class of objects, those with the most first.
fn by_class(objects: &[(String, usize)]) -> String {
    let mut objects: Vec<_> = objects.iter().collect();
    objects.sort_by_key(|(_, count)| Reverse(*count));
    objects.iter().map(|(class, count)| format!("           {count} {class}\n")).collect()
}

/// Shows what a card holds and takes.
///
/// # Errors
/// When the card cannot be opened.
pub fn show(path: &Path) -> Result<String, CardFailure> {
    let mut card = CardImage::open_copy(path)?;
    let report = card.report()?;
    let part = card.part().sim();
    let counters: Counters = part.counters();
    let (flash, free) = report.flash;
    let (ram, transient) = report.ram;
    let objects: usize = report.objects.iter().map(|(_, count)| count).sum();
    let packages: u32 = report.packages.iter().map(|(_, _, bytes, _)| bytes).sum();
    let (room, rooms, nand) = report.nand;
    let pager = report.pager_ram;
    Ok(format!(
        "{}\nobjects    {objects} on flash\n{}flash      {flash} bytes ({}), {free} of them ready for objects\npackages   {packages} \
         bytes of {rooms} packages of up to {room}\nRAM        {ram} bytes of the virtual machine, {transient} of them for \
         transient arrays; {pager} of the pager; the heap beside them\nNAND       {nand}\nerases     {}\npart       {counters}\n",
        listing(&report),
        by_class(&report.objects),
        part.spec().name,
        WearSummary::of(part.erase_counts()),
    ))
}

/// What is wrong with a card.
///
/// # Errors
/// When the card cannot be opened.
pub fn check(path: &Path) -> Result<Vec<String>, CardFailure> {
    CardImage::open_copy(path)?.check()
}
