//! `norn card`: Java Cards in directories: made, filled with applets, driven by APDUs, served to PC/SC, shown, checked.

pub mod arguments;
mod bytecodes;
mod script;
mod serve;

use std::cmp::Reverse;
use std::fmt::{self, Display};
use std::path::Path;

use norn_card_image::{CardFailure, CardImage, Installed, Listed, Report as Held, Wanted};
use norn_card_linker::Aid;
use norn_flash_sim::{Counters, NandCounters, NorSim, WearSummary};
use serde_json::{Value, json};

use crate::report::Report;
use crate::table::{Side, table, text};
use arguments::{DeleteArguments, InstallArguments, NewArguments};
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
            "package {package} {version}: {whole} bytes ({} tables, {} static fields, {} classes, {} methods); \
             {classes} classes and {methods} methods that nothing reaches are left out",
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
pub fn list(card: &Path) -> Result<Report, CardFailure> {
    let held = CardImage::open_copy(card)?.report()?;
    let mut report = Report::default();
    report_packages(&held, &mut report);
    Ok(report)
}

fn report_packages(held: &Held, report: &mut Report) {
    report.text(listing(held)).datum("packages", held.packages.iter().map(package_value).collect::<Vec<_>>());
    let instances = held.instances.iter();
    let instances = instances.map(|(aid, of)| json!({ "aid": aid.to_string(), "package": of.to_string() }));
    report.datum("instances", instances.collect::<Vec<_>>()).datum("lost_packages", texts(&held.lost_packages));
}

/// Texts that say what is wrong, for programs.
fn texts(texts: &[String]) -> Vec<Value> {
    texts.iter().map(|text| json!({ "what": text })).collect()
}

fn package_value((aid, version, bytes, applets): &Listed) -> Value {
    let applets: Vec<String> = applets.iter().map(Aid::to_string).collect();
    json!({ "aid": aid.to_string(), "version": version.to_string(), "bytes": bytes, "applets": applets })
}

fn listing(report: &Held) -> String {
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
pub fn show(path: &Path) -> Result<Report, CardFailure> {
    let mut card = CardImage::open_copy(path)?;
    let held = card.report()?;
    let mut report = Report::new(11);
    report_packages(&held, &mut report);
    report_objects(&held, &mut report);
    report_memory(&held, &card.part().sim(), &mut report);
    Ok(report)
}

fn report_objects(held: &Held, report: &mut Report) {
    let objects: usize = held.objects.iter().map(|(_, count)| count).sum();
    report.measure("objects", objects as u64, " on flash").text(by_class(&held.objects));
    let classes = held.objects.iter().map(|(class, count)| json!({ "class": class, "objects": count }));
    report.datum("classes", classes.collect::<Vec<_>>());
}

fn report_memory(held: &Held, part: &NorSim, report: &mut Report) {
    let (flash, free) = held.flash;
    let (ram, transient) = held.ram;
    let packages: u32 = held.packages.iter().map(|(_, _, bytes, _)| bytes).sum();
    let (room, rooms, nand) = held.nand;
    let (pager, name) = (held.pager_ram, &*part.spec().name);
    report.text(format!("flash      {flash} bytes ({name}), {free} of them ready for objects\n"));
    report.datum("part", name).datum("flash_bytes", flash).datum("flash_bytes_ready", free);
    report.text(format!("packages   {packages} bytes of {rooms} packages of up to {room}\n"));
    report.datum("packages_bytes", packages).datum("packages_max", rooms).datum("package_bytes_max", room);
    report.text(format!(
        "RAM        {ram} bytes of the virtual machine, {transient} of them for transient arrays; {pager} of the \
         pager; the heap beside them\n"
    ));
    report.datum("ram_bytes", ram).datum("ram_bytes_transient", transient).datum("ram_bytes_pager", pager);
    let counters: Counters = part.counters();
    let NandCounters { loads, fetched_bytes, skipped_bytes, programs, copies, erases, .. } = nand;
    let value = json!({
        "pages_loaded": loads,
        "bytes_fetched": fetched_bytes,
        "bytes_skipped": skipped_bytes,
        "pages_programmed": programs,
        "pages_copied": copies,
        "blocks_erased": erases,
    });
    report.described("NAND", nand, value).wear("erases", WearSummary::of(part.erase_counts()));
    report.counters("NOR", counters);
}

/// What is wrong with a card: a report, and how many violations are in it.
///
/// # Errors
/// When the card cannot be opened.
pub fn check(path: &Path) -> Result<(Report, usize), CardFailure> {
    let violations = CardImage::open_copy(path)?.check()?;
    let lines: String = violations.iter().map(|violation| format!("{violation}\n")).collect();
    let (count, mut report) = (violations.len(), Report::default());
    report.text(format!("{lines}violations: {count}\n")).datum("violations", texts(&violations));
    Ok((report, count))
}
