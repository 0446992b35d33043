//! A card in a directory.

use std::fmt::Display;
use std::fs;
use std::mem::size_of;
use std::path::{Path, PathBuf};

use norn_card_linker::{Aid, ExportTable, LinkConfig, Natives, Sizes, Version, link};
use norn_card_vm::{AppletCard, Card, CardError, INSTANCES_MAX, InstallError, Journaled, Protocol};
use norn_flash::{Collected, Nor, NorPartition, Reprogramming};
use norn_flash_sim::{Counters, NorSim, PartSpec, Tear};
use norn_object_heap::{Config, Heap, SectorPtr};

use crate::device::SharedNor;
use crate::failure::CardFailure;
use crate::jar::Classes;
use crate::store::{FileStore, PACKAGES, write_whole};

/// Erase units that a part may have.
const UNITS_MAX: usize = 256;
/// Bytes of RAM for transient arrays.
const TRANSIENT: usize = 1536;
/// Cells of frames and operand stacks: 2 KiB.
const CELLS: usize = 512;
/// Bytecodes that a run of an applet's code may take.
const BYTECODES: u32 = 10_000_000;

type FlashHeap = Heap<NorPartition<SharedNor>, UNITS_MAX>;
type CardHeap = Journaled<FlashHeap, NorPartition<SharedNor>>;
type Vm = AppletCard<CardHeap, FileStore, PACKAGES, TRANSIENT, CELLS>;

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

/// What a card holds and takes.
#[derive(Clone, Debug)]
pub struct Report {
    /// Packages: AID, version, bytes of the image, AIDs of applets.
    pub packages: Vec<(Aid, Version, u32, Vec<Aid>)>,
    /// Instances of applets: AID, and their package's.
    pub instances: Vec<(Aid, Aid)>,
    /// Objects and arrays on flash.
    pub objects: usize,
    /// Bytes of the part, and of these that new objects may take before a unit is reclaimed, about.
    pub flash: (u32, u32),
    /// Bytes of RAM: the virtual machine with frames, transient arrays and APDU buffer; of these, the transient arrays.
    pub ram: (usize, usize),
}

/// A card in a directory.
#[derive(Debug)]
pub struct CardImage {
    path: PathBuf,
    device: SharedNor,
    vm: Option<Vm>,
    protocol: Protocol,
}

fn partitions(device: &SharedNor) -> Option<[NorPartition<SharedNor>; 2]> {
    let units = device.part().unit_count;
    let journal = units.checked_sub(1)?;
    let heap = NorPartition::new(device.clone(), 0..journal).ok()?;
    Some([heap, NorPartition::new(device.clone(), journal..units).ok()?])
}

impl CardImage {
    /// Makes a card with its API, from a jar or directory of the API's classes.
    ///
    /// # Errors
    ///
    /// [`CardFailure`]; nothing is left at the card's place then.
    pub fn create(path: &Path, spec: &PartSpec, api: &Path) -> Result<(CardImage, Installed), CardFailure> {
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
        // Under another name, until it is whole.
        let making = path.with_extension("part");
        if making.exists() {
            fs::remove_dir_all(&making).map_err(CardFailure::file(&making))?;
        }
        let made = CardImage::make(&making, spec, api);
        match made {
            Ok(installed) => {
                fs::rename(&making, path).map_err(CardFailure::file(path))?;
                Ok((CardImage::open(path)?, installed))
            }
            Err(failure) => {
                // What is left is of no use, and the first error is the one to tell.
                let _ = fs::remove_dir_all(&making);
                Err(failure)
            }
        }
    }

    fn make(path: &Path, spec: &PartSpec, api: &Path) -> Result<Installed, CardFailure> {
        let packages = path.join("packages");
        fs::create_dir_all(&packages).map_err(CardFailure::file(&packages))?;
        let device = SharedNor::new(NorSim::create_image(&path.join("nor.img"), spec.clone())?);
        let damaged = CardFailure::Damaged;
        let Some([heap, _]) = partitions(&device) else { return Err(CardFailure::Part(spec.name.clone())) };
        FlashHeap::format(heap, Config::default()).map_err(|error| damaged(error.to_string()))?;
        let mut card = CardImage { path: path.to_owned(), device, vm: None, protocol: Protocol::T1 };
        card.boot()?;
        card.install_package(api, &Wanted::default(), Natives::OfTheApi)
    }

    /// Opens a card, and switches its power on.
    ///
    /// # Errors
    ///
    /// [`CardFailure`].
    pub fn open(path: &Path) -> Result<CardImage, CardFailure> {
        let device = SharedNor::new(NorSim::open_image(&path.join("nor.img"))?);
        let mut card = CardImage { path: path.to_owned(), device, vm: None, protocol: Protocol::T1 };
        card.boot()?;
        Ok(card)
    }

    fn damaged(message: impl ToString) -> CardFailure {
        CardFailure::Damaged(message.to_string())
    }

    fn boot(&mut self) -> Result<(), CardFailure> {
        self.vm = None;
        let packages = FileStore::open(&self.path.join("packages")).map_err(Self::damaged)?;
        let Some([heap, journal]) = partitions(&self.device) else {
            return Err(Self::damaged("a part of one erase unit"));
        };
        let heap = FlashHeap::mount(heap).map_err(Self::damaged)?;
        let heap = Journaled::mount(heap, journal).map_err(|error| self.lost_or(format!("{error}")))?;
        let mut vm = AppletCard::mount(heap, packages, BYTECODES).map_err(|error| self.lost_or(describe(&error)))?;
        vm.set_protocol(self.protocol);
        self.vm = Some(vm);
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
        if self.power() == Power::Lost || self.vm.is_none() {
            self.device.sim().power_on();
            return self.boot();
        }
        let Some(vm) = &mut self.vm else { return self.boot() };
        vm.reset().map_err(|error| CardFailure::Damaged(describe(&error)))
    }

    fn vm(&mut self) -> Result<&mut Vm, CardFailure> {
        self.vm.as_mut().ok_or(CardFailure::PowerLost)
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
                self.vm = None;
                Err(self.lost_or(describe(&error)))
            }
        }
    }

    /// What installed packages export.
    fn exports(&mut self) -> Result<Vec<ExportTable>, CardFailure> {
        let store = self.vm()?.packages();
        let paths: Vec<PathBuf> = store.packages().map(|(number, _)| store.exports_path(number.into())).collect();
        let read = |path: &PathBuf| {
            let text = fs::read_to_string(path).map_err(CardFailure::file(path))?;
            ExportTable::from_text(&text).map_err(|message| CardFailure::Jar { file: path.clone(), message })
        };
        paths.iter().map(read).collect()
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
        if self.vm()?.packages().packages().any(|(_, package)| package.aid == aid) {
            return Err(CardFailure::Install(InstallError::Exists(aid)));
        }
        let imports = self.exports()?;
        let linked = link(&classes, &imports, &config)?;
        let exports =
            linked.exports.to_text().map_err(|message| CardFailure::Jar { file: path.to_owned(), message })?;
        let installed = self.vm()?.install_package(&linked.image);
        self.installed(installed)?;
        let store = self.vm()?.packages();
        let number = store.packages().find(|(_, package)| package.aid == aid).map(|(number, _)| number);
        if let Some(number) = number {
            let path = store.exports_path(number.into());
            write_whole(&path, exports.as_bytes()).map_err(CardFailure::file(&path))?;
        }
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
                self.vm = None;
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
        let vm = self.vm()?;
        let mut packages = Vec::new();
        let numbers: Vec<u8> = vm.packages().packages().map(|(number, _)| number).collect();
        for number in numbers {
            use norn_card_vm::Code as _;
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
        let (mut objects, mut after) = (0, None);
        let heap = vm.heap().heap();
        while let Some(object) = heap.next_object(after).map_err(|error| damaged(error.to_string()))? {
            (objects, after) = (objects + 1, Some(object));
        }
        let free = u32::try_from(heap.ready_bytes()).unwrap_or(u32::MAX);
        Ok(Report {
            packages: packages.into_iter().map(|(_, package)| package).collect(),
            instances,
            objects,
            flash: (size, free),
            ram: (size_of::<Vm>() - size_of::<CardHeap>() - size_of::<FileStore>(), TRANSIENT),
        })
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
        Ok(collected.violations.iter().map(|found| format!("{}: {}", found.address, found.what)).collect())
    }
}

fn describe<H: Display, C: Display>(error: &CardError<H, C>) -> String {
    match error {
        CardError::Heap(error) => error.to_string(),
        CardError::Packages(error) => error.to_string(),
        CardError::Damaged => "the registry of applets is damaged".to_owned(),
    }
}
