//! A card in a directory.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs;
use std::io;
use std::mem::size_of;
use std::path::{Path, PathBuf};

use norn_card_crypto::System;
use norn_card_linker::{Aid, ExportTable, LinkConfig, Natives, Sizes, Version, link};
use norn_card_package::format;
use norn_card_vm::{
    AppletCard, Card, CardError, ClassId, Code as _, INSTANCES_MAX, InstallError, Journaled, NandPackages,
    PersistentHeap, Protocol, RustCrypto, Stored,
};
use norn_code_pager::policy::Clock;
use norn_code_pager::{Counts, Crc32c, Options};
use norn_flash::{Collected, Nor, NorPartition, Reprogramming};
use norn_flash_sim::{Counters, NandCounters, NandSim, NandSpec, NorSim, PartSpec, Tear, Unfinished};
use norn_object_heap::{Config, Heap, SectorPtr};

use crate::device::SharedNor;
use crate::failure::CardFailure;
use crate::jar::Classes;
use crate::traced::{CardTrace, Traced};

/// Packages that a card holds at most.
const PACKAGES: usize = 16;
/// Frames and bytes of the pager's cache: 2 KiB.
const FRAMES: usize = 32;
const PAGE: usize = 64;
/// Bytes of the part's largest page.
const PART_PAGE: usize = 4096;

/// Erase units that a part may have.
const UNITS_MAX: usize = 256;
/// Bytes of RAM for transient arrays: what applets expect that were written for cards with some kilobytes.
const TRANSIENT: usize = 8192;
/// Cells of frames and operand stacks: 2 KiB.
const CELLS: usize = 512;
/// Bytecodes that a run of an applet's code may take.
const BYTECODES: u32 = 10_000_000;

type FlashHeap = Heap<NorPartition<SharedNor>, UNITS_MAX>;
type CardHeap = Journaled<FlashHeap, NorPartition<SharedNor>>;
type Packages = NandPackages<NandSim, Clock<FRAMES>, PACKAGES, FRAMES, PAGE, PART_PAGE, Crc32c, Counts>;
type Vm<const TRACED: bool> =
    AppletCard<CardHeap, Traced<Packages, TRACED>, RustCrypto<System>, PACKAGES, TRANSIENT, CELLS>;

/// Whether the card's power is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Power {
    /// It is.
    On,
    /// It was cut.
    Lost,
}

/// How a package is to be linked, where the jar's manifest does not say it, or says something else.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The package's AID and version.
    pub package: Option<(Aid, Version)>,
    /// Its applets: AIDs and classes, with slashes in the names.
    pub applets: Vec<(Aid, String)>,
}

/// What fetching code has cost.
#[derive(Clone, Copy, Debug)]
pub struct CodeCost {
    /// Requests of the cache, since the card was opened.
    pub look_ups: u64,
    /// Those that found their page.
    pub hits: u64,
    /// What the NAND part did since it was made.
    pub part: NandCounters,
    /// Simulated time of the NAND part since it was made.
    pub elapsed_ns: u64,
}

/// A package that was linked and installed.
#[derive(Clone, Debug)]
pub struct Installed {
    /// Its AID.
    pub package: Aid,
    /// Its version.
    pub version: Version,
    /// What the bytes of its image are for.
    pub sizes: Sizes,
    /// The AIDs of its applets.
    pub applets: Vec<Aid>,
}

/// A package: AID, version, bytes of the image, AIDs of applets.
pub type Listed = (Aid, Version, u32, Vec<Aid>);

/// What a card holds and takes.
#[derive(Clone, Debug)]
pub struct Report {
    /// Packages.
    pub packages: Vec<Listed>,
    /// Packages whose images are damaged or gone, as [`CardOf::lost_packages`] has them.
    pub lost_packages: Vec<String>,
    /// Instances of applets: AID, and their package's.
    pub instances: Vec<(Aid, Aid)>,
    /// Objects and arrays on flash, by class: what they are, for people, and how many.
    pub objects: Vec<(String, usize)>,
    /// Bytes of the part, and of these that new objects may take before a unit is reclaimed, about.
    pub flash: (u32, u32),
    /// Bytes that a package may have, how many packages there may be, and what the part has done since it was made.
    pub nand: (u32, usize, NandCounters),
    /// Bytes of RAM of the pager: frames, policy, rooms and packages' headers.
    pub pager_ram: usize,
    /// Bytes of RAM: the virtual machine with frames, transient arrays and APDU buffer; of these, the transient arrays.
    pub ram: (usize, usize),
}

/// A card in a directory.
pub type CardImage = CardOf<false>;

/// A card in a directory, whose code is traced when it is asked for.
pub type TracedCard = CardOf<true>;

/// A card in a directory: a [`CardImage`] or a [`TracedCard`].
#[derive(Debug)]
pub struct CardOf<const TRACED: bool> {
    path: PathBuf,
    device: SharedNor,
    vm: Option<Vm<TRACED>>,
    /// A memory has failed: the card has to be reset.
    is_failed: bool,
    protocol: Protocol,
    /// Requests of the cache before the last reset: all, and those that found their page.
    requests: (u64, u64),
}

fn partitions(device: &SharedNor) -> Option<[NorPartition<SharedNor>; 2]> {
    let units = device.part().unit_count;
    let journal = units.checked_sub(1)?;
    let heap = NorPartition::new(device.clone(), 0..journal).ok()?;
    Some([heap, NorPartition::new(device.clone(), journal..units).ok()?])
}

/// The files of the parts of the card in a directory.
fn images(path: &Path) -> Result<(PathBuf, PathBuf), CardFailure> {
    let nor = path.join("nor.img");
    if !path.exists() || path.is_dir() && !nor.exists() {
        return Err(CardFailure::Absent);
    }
    if !path.is_dir() {
        return Err(CardFailure::NoDirectory);
    }
    Ok((nor, path.join("nand.img")))
}

impl<const TRACED: bool> CardOf<TRACED> {
    /// Makes a card with its API, from a jar or directory of the API's classes.
    ///
    /// # Errors
    ///
    /// [`CardFailure`]; nothing is left at the card's place then.
    pub fn create(path: &Path, spec: &PartSpec, nand: &NandSpec, api: &Path) -> Result<(Self, Installed), CardFailure> {
        if path.exists() {
            return Err(CardFailure::Exists(path.to_owned()));
        }
        let part = &spec.part;
        let is_fit = part.reprogramming == Reprogramming::Unlimited
            && (8..=UNITS_MAX as u16).contains(&part.unit_count)
            && part.program_unit_bytes <= 4;
        if !is_fit {
            return Err(CardFailure::Part(spec.name.clone()));
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(CardFailure::file(parent))?;
        }
        // Under another name, until it is whole.
        let unfinished = Unfinished::directory(path).map_err(CardFailure::file(path))?;
        let installed = Self::make(unfinished.temporary(), spec, nand, api)?;
        unfinished.publish().map_err(CardFailure::file(path))?;
        Ok((Self::open(path)?, installed))
    }

    fn make(path: &Path, spec: &PartSpec, nand: &NandSpec, api: &Path) -> Result<Installed, CardFailure> {
        let exports = path.join("exports");
        fs::create_dir(&exports).map_err(CardFailure::file(&exports))?;
        let nand = NandSim::create_image(&path.join("nand.img"), nand.clone())?;
        let device = SharedNor::new(NorSim::create_image(&path.join("nor.img"), spec.clone())?);
        let damaged = CardFailure::Damaged;
        let Some([heap, _]) = partitions(&device) else { return Err(CardFailure::Part(spec.name.clone())) };
        FlashHeap::format(heap, Config::default()).map_err(|error| damaged(error.to_string()))?;
        Self::on(path, device, nand)?.install_package(api, &Wanted::default(), Natives::OfTheApi)
    }

    /// Opens a card, and switches its power on.
    ///
    /// # Errors
    ///
    /// [`CardFailure`].
    pub fn open(path: &Path) -> Result<Self, CardFailure> {
        let (nor, nand) = images(path)?;
        Self::on(path, SharedNor::new(NorSim::open_image(&nor)?), NandSim::open_image(&nand)?)
    }

    /// Opens a copy of a card in memory, and switches its power on: whatever the card does then, such as clearing what
    /// its heap does not know, its files stay as they are, and need not be writable. Cost: the bytes of the NOR part.
    ///
    /// # Errors
    ///
    /// [`CardFailure`].
    pub fn open_copy(path: &Path) -> Result<Self, CardFailure> {
        let (nor, nand) = images(path)?;
        Self::on(path, SharedNor::new(NorSim::read_image(&nor)?), NandSim::read_image(&nand)?)
    }

    fn on(path: &Path, device: SharedNor, nand: NandSim) -> Result<Self, CardFailure> {
        let mut card = Self {
            path: path.to_owned(),
            device,
            vm: None,
            is_failed: false,
            protocol: Protocol::T1,
            requests: (0, 0),
        };
        card.boot(nand)?;
        Ok(card)
    }

    fn damaged(message: impl ToString) -> CardFailure {
        CardFailure::Damaged(message.to_string())
    }

    /// Power after a loss or a failure.
    fn boot_again(&mut self) -> Result<(), CardFailure> {
        let nand = match self.vm.take() {
            Some(vm) => {
                let (_, packages) = vm.into_parts();
                let (mut nand, counts) = packages.into_store().into_parts();
                self.requests.0 += counts.look_ups();
                self.requests.1 += counts.hits;
                nand.power_on();
                nand
            }
            None => NandSim::open_image(&self.path.join("nand.img"))?,
        };
        self.boot(nand)
    }

    fn boot(&mut self, nand: NandSim) -> Result<(), CardFailure> {
        let packages = Packages::mount(nand, Options::default(), Counts::default()).map_err(Self::damaged)?;
        let Some([heap, journal]) = partitions(&self.device) else {
            return Err(Self::damaged("a part of one erase unit"));
        };
        let heap = FlashHeap::mount(heap).map_err(Self::damaged)?;
        let heap = Journaled::mount(heap, journal).map_err(|error| self.lost_or(format!("{error}")))?;
        let mut vm = AppletCard::mount(heap, Traced::new(packages), RustCrypto(System), BYTECODES)
            .map_err(|error| self.lost_or(describe(&error)))?;
        vm.set_protocol(self.protocol);
        self.vm = Some(vm);
        self.is_failed = false;
        Ok(())
    }

    /// A failure of the part: its power is off, or it is damaged.
    fn lost_or(&self, message: String) -> CardFailure {
        if self.power() == Power::Lost { CardFailure::PowerLost } else { Self::damaged(message) }
    }

    /// Says which protocol applets are told of; T=1 before.
    pub fn set_protocol(&mut self, protocol: Protocol) {
        self.protocol = protocol;
        if let Some(vm) = &mut self.vm {
            vm.set_protocol(protocol);
        }
    }

    /// Whether the power is on.
    #[must_use]
    pub fn power(&self) -> Power {
        if self.device.sim().is_powered() { Power::On } else { Power::Lost }
    }

    /// The part, for counters and wear.
    #[must_use]
    pub fn part(&self) -> &SharedNor {
        &self.device
    }

    /// Counters of the part so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.device.sim().counters()
    }

    /// What fetching code has cost.
    ///
    /// # Errors
    ///
    /// [`CardFailure`].
    pub fn code(&mut self) -> Result<CodeCost, CardFailure> {
        let (look_ups, hits) = self.requests;
        let packages = self.vm()?.packages().store();
        let counts = *packages.observer();
        let (part, elapsed_ns) = packages.with_device(|part| (part.counters(), part.elapsed_ns()));
        Ok(CodeCost { look_ups: look_ups + counts.look_ups(), hits: hits + counts.hits, part, elapsed_ns })
    }

    /// Cuts the power at an operation of the part from now on.
    pub fn cut_power_after(&self, operations: u64, tear: Tear) {
        self.device.sim().cut_power_after(operations, tear);
    }

    /// The power goes, if it is there, and comes again.
    ///
    /// # Errors
    ///
    /// [`CardFailure`].
    pub fn reset(&mut self) -> Result<(), CardFailure> {
        if self.power() == Power::Lost || self.is_failed {
            self.device.sim().power_on();
            return self.boot_again();
        }
        let Some(vm) = &mut self.vm else { return self.boot_again() };
        vm.reset().map_err(|error| CardFailure::Damaged(describe(&error)))
    }

    fn vm(&mut self) -> Result<&mut Vm<TRACED>, CardFailure> {
        self.vm.as_mut().filter(|_| !self.is_failed).ok_or(CardFailure::PowerLost)
    }

    /// Carries a command out, and returns the length of its answer.
    ///
    /// # Errors
    ///
    /// [`CardFailure::PowerLost`] where the power was cut; [`CardFailure::Damaged`] where a memory fails. The card has
    /// to be reset then.
    pub fn send(&mut self, command: &[u8], response: &mut [u8]) -> Result<usize, CardFailure> {
        match self.vm()?.process(command, response) {
            Ok(length) => Ok(length),
            Err(error) => {
                self.is_failed = true;
                Err(self.lost_or(describe(&error)))
            }
        }
    }

    fn exports_path(&self, aid: Aid) -> PathBuf {
        self.path.join("exports").join(format!("{aid}.exports"))
    }

    /// The file with the names of a package's classes, one a line in the order of their numbers: for people alone.
    fn names_path(&self, aid: Aid) -> PathBuf {
        self.path.join("exports").join(format!("{aid}.classes"))
    }

    /// What installed packages export.
    fn exports(&mut self) -> Result<Vec<ExportTable>, CardFailure> {
        let installed: Vec<Aid> = self.vm()?.packages().store().packages().map(|(_, package)| package.aid).collect();
        let read = |aid: &Aid| {
            let path = self.exports_path(*aid);
            let text = fs::read_to_string(&path).map_err(CardFailure::file(&path))?;
            ExportTable::from_text(&text).map_err(|message| CardFailure::Jar { file: path, message })
        };
        installed.iter().map(read).collect()
    }

    /// Links a package from a jar or directory, against those that are on the card, and installs it.
    ///
    /// # Errors
    ///
    /// [`CardFailure`].
    pub fn install(&mut self, classes: &Path, wanted: &Wanted) -> Result<Installed, CardFailure> {
        self.install_package(classes, wanted, Natives::Refused)
    }

    fn install_package(&mut self, path: &Path, wanted: &Wanted, natives: Natives) -> Result<Installed, CardFailure> {
        let Classes { classes, manifest } = Classes::read(path)?;
        let Some((aid, version)) = wanted.package.or(manifest.package) else {
            let message = "no manifest says the package's AID and version: give them as options".to_owned();
            return Err(CardFailure::Jar { file: path.to_owned(), message });
        };
        let applets = if wanted.applets.is_empty() { manifest.applets } else { wanted.applets.clone() };
        let config = LinkConfig { aid, version, applets, requires: Vec::new(), natives, previous: None };
        if self.vm()?.packages().store().packages().any(|(_, package)| package.aid == aid) {
            return Err(CardFailure::Install(InstallError::Exists(aid)));
        }
        let imports = self.exports()?;
        let linked = link(&classes, &imports, &config)?;
        let exports =
            linked.exports.to_text().map_err(|message| CardFailure::Jar { file: path.to_owned(), message })?;
        // Before the package: what it exports counts once it is there.
        for (path, text) in [(self.exports_path(aid), exports), (self.names_path(aid), linked.classes.join("\n"))] {
            write_whole(&path, text.as_bytes()).map_err(CardFailure::file(&path))?;
        }
        let installed = self.vm()?.install_package(&linked.image);
        self.installed(installed)?;
        let applets = config.applets.into_iter().map(|(aid, _)| aid).collect();
        Ok(Installed { package: aid, version, sizes: linked.sizes, applets })
    }

    fn installed<H: Display, C: Display>(
        &mut self,
        result: Result<(), InstallError<CardError<H, C>>>,
    ) -> Result<(), CardFailure> {
        match result.map_err(|error| error.map_memory(|error| describe(&error))) {
            Ok(()) => Ok(()),
            Err(InstallError::Memory(message)) => {
                self.is_failed = true;
                Err(self.lost_or(message))
            }
            Err(refusal) => Err(CardFailure::Install(refusal)),
        }
    }

    /// Makes an instance of an applet.
    ///
    /// # Errors
    ///
    /// [`CardFailure`].
    pub fn install_applet(&mut self, applet: Aid, instance: Aid, parameters: &[u8]) -> Result<(), CardFailure> {
        let installed = self.vm()?.install_applet(applet, instance, parameters);
        self.installed(installed)
    }

    /// Deletes an instance of an applet, or a package.
    ///
    /// # Errors
    ///
    /// [`CardFailure`].
    pub fn delete(&mut self, aid: Aid) -> Result<(), CardFailure> {
        let deleted = self.vm()?.delete(aid);
        self.installed(deleted)
    }

    /// What the card holds and takes.
    ///
    /// # Errors
    ///
    /// [`CardFailure`].
    pub fn report(&mut self) -> Result<Report, CardFailure> {
        let damaged = CardFailure::Damaged;
        let size = self.device.part().size_bytes();
        let lost_packages = self.lost_packages()?;
        let vm = self.vm()?;
        let mut packages = Vec::new();
        let numbers: Vec<u8> = vm.packages().store().packages().map(|(number, _)| number).collect();
        for number in numbers {
            let Some((package, image)) = vm.packages().package(number) else { continue };
            let package = *package;
            let applets = (0..package.applets).map(|place| package.applet(image, place).map(|applet| applet.aid));
            let applets = applets.collect::<Result<_, _>>().map_err(|error| damaged(error.to_string()))?;
            packages.push((number, (package.aid, package.version, package.length, applets)));
        }
        let mut instances = Vec::new();
        for number in 1..=INSTANCES_MAX {
            let Some((aid, package)) = vm.instance(number).map_err(|error| damaged(describe(&error)))? else {
                continue;
            };
            let package = packages.iter().find(|(number, _)| *number == package).map_or(aid, |(_, (aid, ..))| *aid);
            instances.push((aid, package));
        }
        let stored = stored(vm.heap().heap()).map_err(|error| damaged(error.to_string()))?;
        let package_room = vm.packages().store().room_bytes();
        let free = u32::try_from(vm.heap().heap().ready_bytes()).unwrap_or(u32::MAX);
        let nand = vm.packages().store().with_device(|part| part.counters());
        let objects = self.named(stored, &packages);
        Ok(Report {
            packages: packages.into_iter().map(|(_, package)| package).collect(),
            lost_packages,
            instances,
            objects,
            flash: (size, free),
            nand: (package_room, PACKAGES, nand),
            ram: (size_of::<Vm<TRACED>>() - size_of::<CardHeap>() - size_of::<Traced<Packages, TRACED>>(), TRANSIENT),
            pager_ram: size_of::<Packages>() - size_of::<NandSim>() - size_of::<Counts>(),
        })
    }

    /// How many there are of each, under names for people: those that were written down when packages were linked.
    fn named(&self, stored: Vec<Stored>, packages: &[(u8, Listed)]) -> Vec<(String, usize)> {
        let names: BTreeMap<u8, Vec<String>> = packages
            .iter()
            .map(|(number, (aid, ..))| {
                let text = fs::read_to_string(self.names_path(*aid)).unwrap_or_default();
                (*number, text.lines().map(|name| name.replace('/', ".")).collect())
            })
            .collect();
        let mut counts = BTreeMap::new();
        for stored in stored {
            *counts.entry(name_of(stored, &names)).or_insert(0) += 1;
        }
        counts.into_iter().collect()
    }

    /// Checks every invariant of the heap; what is violated, with its place.
    ///
    /// # Errors
    ///
    /// [`CardFailure`].
    pub fn check(&mut self) -> Result<Vec<String>, CardFailure> {
        let device = self.device.clone();
        let heap = self.vm()?.heap().heap();
        let mut collected = Collected::<SectorPtr>::default();
        device.sim().freeze_counters();
        let audited = heap.audit(&mut collected);
        device.sim().thaw_counters();
        audited.map_err(|error| CardFailure::Damaged(error.to_string()))?;
        let mut found: Vec<String> =
            collected.violations.iter().map(|found| format!("{}: {}", found.address, found.what)).collect();
        found.extend(self.lost_packages()?);
        let packages = self.vm()?.packages().store();
        let there: Vec<(u8, Aid)> = packages.packages().map(|(number, package)| (number, package.aid)).collect();
        for (number, aid) in there {
            if let Err(error) = packages.verify(number) {
                found.push(format!("package {aid}: {error}"));
            }
        }
        Ok(found)
    }

    /// Installed packages that the card cannot run, for people: the headers of their images are damaged or gone.
    ///
    /// # Errors
    ///
    /// [`CardFailure`].
    pub fn lost_packages(&mut self) -> Result<Vec<String>, CardFailure> {
        let vm = self.vm()?;
        let mut is_lost = |number: &u8| vm.is_installed(*number) && vm.packages().package(*number).is_none();
        let lost = (0..PACKAGES as u8).filter(|number| is_lost(number));
        Ok(lost.map(|number| format!("package {number}: installed, and its image is damaged or gone")).collect())
    }
}

impl TracedCard {
    /// Records which bytecodes are carried out, and what is looked up in packages, until [`TracedCard::take_trace`] or
    /// the next loss of power.
    ///
    /// # Errors
    ///
    /// [`CardFailure::PowerLost`] where there is no power.
    pub fn start_trace(&mut self) -> Result<(), CardFailure> {
        self.vm()?.packages().record();
        Ok(())
    }

    /// What was recorded.
    ///
    /// # Errors
    ///
    /// [`CardFailure::PowerLost`] where there is no power.
    pub fn take_trace(&mut self) -> Result<CardTrace, CardFailure> {
        Ok(self.vm()?.packages().take())
    }
}

/// What each object on a heap is.
fn stored(heap: &mut FlashHeap) -> Result<Vec<Stored>, <FlashHeap as PersistentHeap>::Error> {
    let (mut found, mut after) = (Vec::new(), None);
    while let Some(object) = heap.next_object(after)? {
        found.push(Stored::of(PersistentHeap::header(heap, object)?));
        after = Some(object);
    }
    Ok(found)
}

/// What an object is, by the names of classes of each package.
fn name_of(stored: Stored, names: &BTreeMap<u8, Vec<String>>) -> String {
    let class_name = |ClassId { package, class }| {
        let name = names.get(&package).and_then(|names| names.get(usize::from(class)));
        name.cloned().unwrap_or_else(|| format!("class {class} of package {package}"))
    };
    match stored {
        Stored::Runtime => "the card's own".to_owned(),
        Stored::Object(class) => class_name(class),
        Stored::Array { kind, class, is_transient } => {
            let element = match kind {
                format::BOOLEAN => "boolean".to_owned(),
                format::BYTE => "byte".to_owned(),
                format::SHORT => "short".to_owned(),
                format::INT => "int".to_owned(),
                _ => class_name(class),
            };
            format!("{element}[]{}", if is_transient { ", transient" } else { "" })
        }
    }
}

fn describe<H: Display, C: Display>(error: &CardError<H, C>) -> String {
    match error {
        CardError::Heap(error) => error.to_string(),
        CardError::Packages(error) => error.to_string(),
        CardError::Damaged => "the registry of applets is damaged".to_owned(),
        CardError::NoRoom => "there is no room to undo an installation that the power has cut".to_owned(),
    }
}

/// Writes a file that is there whole or not at all.
fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let part = path.with_extension("part");
    fs::write(&part, bytes)?;
    fs::File::open(&part)?.sync_all()?;
    fs::rename(&part, path)
}
