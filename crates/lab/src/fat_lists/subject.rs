//! The index under measurement: one of four structures, two of them with pages of two sizes, with keys and values of
//! four bytes, on K8C1215ETM with as many blocks as the size asks for.

use norn_baselines::MuTree;
use norn_flash::{Address, EraseUnit, Nor, NorPart};
use norn_flash_sim::{NorSim, PartSpec, catalogue};
use norn_ordered_index::fat_list::Probes;
use norn_ordered_index::fat_list::format::{IDENTITY_BYTES, Identity};
use norn_ordered_index::{FatList, FatListOf, Fixed, OrderedIndex, Settings};
use serde::{Deserialize, Serialize};

use crate::error::JobError;

/// A structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Structure {
    /// Objects with many keys.
    FatList,
    /// Objects with one key.
    SoftList,
    /// Pages of 512 bytes, each with a path.
    MuTree,
    /// A B⁺-tree with logged leaves: pages of 1,024 bytes, 320 of them for the log.
    LoggedTree,
    /// A µ-tree with pages of 1,024 bytes: 512 hold no more than some 29,000 keys, since a node has half of what its
    /// child has.
    MuTreeOfLargePages,
    /// A B⁺-tree with logged leaves: pages of 4,096 bytes, 1,280 of them for the log.
    LoggedTreeOfLargePages,
}

impl Structure {
    /// Those of the paper's experiments.
    pub const ALL: [Structure; 4] = [Structure::FatList, Structure::SoftList, Structure::MuTree, Structure::LoggedTree];

    /// Its name in tables and plots.
    pub fn name(self) -> &'static str {
        match self {
            Structure::FatList => "fat list",
            Structure::SoftList => "soft list",
            Structure::MuTree => "µ-tree",
            Structure::LoggedTree => "logged B+-tree",
            Structure::MuTreeOfLargePages => "µ-tree, 1 KB pages",
            Structure::LoggedTreeOfLargePages => "logged B+-tree, 4 KB pages",
        }
    }
}

/// An index whose device can be looked at.
pub trait Subject: OrderedIndex<4, 4, Device = NorSim> + Sized {
    /// Its device.
    fn sim(&self) -> &NorSim;

    /// Ends the work in the way that makes the next mount fast, if there is one.
    fn stop(&mut self) -> Result<(), JobError>;

    /// Mounts a device and gives it back.
    fn mount(device: NorSim) -> Result<NorSim, JobError>;

    /// The outcome of pointers that were followed, where there are such.
    fn probes(&self) -> Option<Probes>;

    /// Makes the next mounts of a device draw other random numbers, where they draw any.
    fn vary(_device: &mut NorSim, _number: u32) {}
}

impl<const WITHOUT: u8> Subject for FatListOf<NorSim, Fixed<4, 4, WITHOUT>> {
    fn sim(&self) -> &NorSim {
        self.device()
    }

    fn stop(&mut self) -> Result<(), JobError> {
        self.stop().map_err(JobError::while_doing("stopping"))
    }

    fn mount(device: NorSim) -> Result<NorSim, JobError> {
        Self::mount(device).map(Self::into_device).map_err(JobError::while_doing("mounting"))
    }

    fn probes(&self) -> Option<Probes> {
        Some(self.probes())
    }

    /// The erase count of the first block decides the numbers.
    fn vary(device: &mut NorSim, number: u32) {
        let first = device.part().start_of(EraseUnit(0));
        let bytes: [u8; IDENTITY_BYTES] = device.peek(first, IDENTITY_BYTES).try_into().expect("as long as asked for");
        if let Some(Ok(identity)) = Identity::decode(&bytes) {
            device.poke(Address(0), &Identity { erase_count: identity.erase_count + number, ..identity }.encode());
        }
    }
}

impl<const PAGE: usize, const LOG: usize> Subject for MuTree<NorSim, 4, 4, PAGE, LOG> {
    fn sim(&self) -> &NorSim {
        self.device()
    }

    fn stop(&mut self) -> Result<(), JobError> {
        Ok(())
    }

    fn mount(device: NorSim) -> Result<NorSim, JobError> {
        Self::mount(device).map(Self::into_device).map_err(JobError::while_doing("mounting"))
    }

    fn probes(&self) -> Option<Probes> {
        None
    }
}

/// What is to be done with an index, whichever it is.
pub trait Task {
    /// What comes of it.
    type Answer;

    /// Does it.
    fn carry_out<I: Subject>(self, index: I) -> Result<Self::Answer, JobError>;
}

/// The paper's part with the given number of megabytes.
pub fn part(megabytes: u16) -> PartSpec {
    let mut spec = catalogue::k8c1215etm();
    spec.part = NorPart { unit_count: 16 * megabytes, ..spec.part };
    spec
}

/// Carries out a task on an empty index; `settings` are those of a list, and of no concern to a tree.
pub fn on_fresh_index<T: Task>(
    structure: Structure,
    megabytes: u16,
    settings: Settings,
    task: T,
) -> Result<T::Answer, JobError> {
    let device = NorSim::new(part(megabytes));
    match structure {
        Structure::FatList | Structure::SoftList => {
            task.carry_out(FatList::<_, 4, 4>::format(device, settings).map_err(failed)?)
        }
        Structure::MuTree => task.carry_out(MuTree::<_, 4, 4, 512>::format(device).map_err(failed)?),
        Structure::LoggedTree => task.carry_out(MuTree::<_, 4, 4, 1024, 320>::format(device).map_err(failed)?),
        Structure::MuTreeOfLargePages => task.carry_out(MuTree::<_, 4, 4, 1024>::format(device).map_err(failed)?),
        Structure::LoggedTreeOfLargePages => {
            task.carry_out(MuTree::<_, 4, 4, 4096, 1280>::format(device).map_err(failed)?)
        }
    }
}

/// Carries out a task on an empty list that was made without what `WITHOUT` says.
pub fn on_fresh_list_without<const WITHOUT: u8, T: Task>(
    megabytes: u16,
    settings: Settings,
    task: T,
) -> Result<T::Answer, JobError> {
    let device = NorSim::new(part(megabytes));
    task.carry_out(FatListOf::<_, Fixed<4, 4, WITHOUT>>::format(device, settings).map_err(failed)?)
}

fn failed(error: impl std::fmt::Debug) -> JobError {
    JobError::Failed(format!("formatting: {error:?}"))
}
