//! A page-mapped block device on raw NAND flash, with real-time garbage collection.
//!
//! [`Ftl`] maps logical pages to pages of a NAND part. It corrects a wrong bit in each code word, leaves bad blocks
//! alone and retires those that fail, levels wear, and survives a loss of power at any operation: what returned is on
//! flash, a page is old or new. It neither allocates nor keeps anything outside the memory that the caller gives.
//!
//! ```
//! use norn_flash_sim::{NandSim, nand_catalogue};
//! use norn_nand_ftl::{Ftl, FtlConfig, Lba, max_logical_pages};
//!
//! let part = NandSim::new(nand_catalogue::k9f2808()); // a board implements `norn_flash::Nand`
//! let geometry = nand_catalogue::k9f2808().part;
//! let config = FtlConfig { logical_pages: max_logical_pages(&geometry, 20) / 10 * 9 };
//! let bytes = Ftl::<NandSim, Vec<u8>>::memory_bytes(&geometry, config.logical_pages); // or an array in a static
//!
//! let mut ftl = Ftl::format(part, vec![0; bytes], config).unwrap();
//! ftl.write(Lba(7), &[1; 2 * 512]).unwrap(); // two pages, each whole or not at all
//! ftl.trim(Lba(8), 1).unwrap();
//! ftl.flush().unwrap(); // makes trims durable; writes are already
//!
//! let mut ftl = Ftl::mount(ftl.into_device(), vec![0; bytes]).unwrap(); // after a power cut at any place
//! let mut pages = [9; 2 * 512];
//! ftl.read(Lba(7), &mut pages).unwrap();
//! assert!(pages[..512] == [1; 512] && pages[512..] == [0; 512]);
//! ```
//!
//! # Tasks with deadlines
//!
//! [`RealTime`] runs on such a device: a [`Task`] that is admitted has a token for each page that it declared to write
//! in a period, and never waits for garbage collection. [`RealTime`] says how it is run, [`Collector`] what collects
//! for a task, and how often. Here a sensor's values are stored every 20 ms:
//!
//! ```
//! # use norn_flash_sim::{NandSim, nand_catalogue};
//! # use norn_nand_ftl::{Ftl, FtlConfig, Lba, max_logical_pages};
//! use norn_nand_ftl::{OperationTimes, PartClient, RealTime, RealTimeConfig, Scheduling, Task};
//! # let part = NandSim::new(nand_catalogue::k9f2808());
//! # let geometry = nand_catalogue::k9f2808().part;
//! # let config = FtlConfig { logical_pages: max_logical_pages(&geometry, 20) / 10 * 7 };
//! # let bytes = Ftl::<NandSim, Vec<u8>>::memory_bytes(&geometry, config.logical_pages);
//! # let ftl = Ftl::format(part, vec![0; bytes], config).unwrap();
//!
//! let times = OperationTimes::paper(); // what the part's operations take at most
//! let sensor = Task::new(1_000, 2, 2, 20_000, &times); // 1 ms of computing, two reads, two writes; every 20 ms
//! let mut config = RealTimeConfig {
//!     alpha: 8, // pages that each recycling yields: as many as admission allows
//!     tokens: 0,
//!     times,
//!     checkpoint_period_us: 100_000,
//!     scheduling: Scheduling::EarliestDeadline,
//!     client: PartClient::NONE, // or a code pager on the same part
//!     failure_budget: 2,
//! };
//! config.tokens = config.tokens_for(&geometry, &[sensor]).unwrap();
//! let mut disk: RealTime<_, _, 4> = RealTime::start(ftl, config).unwrap(); // up to three tasks
//! let task = disk.admit(sensor).unwrap(); // or what to change
//!
//! let (mut now_us, mut release_us) = (0, 0); // a board reads its clock; here operations take their longest
//! while release_us < 1_000_000 {
//!     disk.advance(now_us);
//!     let (is_released, deadline_us) = (release_us <= now_us, release_us + sensor.period_us);
//!     match disk.next_job() {
//!         Some(job) if !is_released || job.deadline_us < deadline_us => {
//!             disk.collector_step().unwrap();
//!             now_us += times.longest_us();
//!         }
//!         _ if is_released => {
//!             disk.write(task, Lba(1), &[7; 512]).unwrap(); // there is a token
//!             disk.write(task, Lba(2), &[8; 512]).unwrap();
//!             now_us += sensor.cost_us;
//!             assert!(now_us <= deadline_us);
//!             release_us = deadline_us;
//!         }
//!         _ => {
//!             disk.background_step().unwrap(); // tokens for `background_write`, which has no deadline
//!             now_us += times.longest_us();
//!         }
//!     }
//! }
//! assert_eq!(disk.counters().misses, 0);
//! ```
//!
//! The format of flash is in docs/format/nand-ftl.md, the reasons in docs/design/nand-ftl.md.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod admission;
mod audit;
mod background;
mod checkpoint;
mod client;
mod code_word;
mod counts;
mod demand;
mod error;
mod format;
mod ftl;
mod gathering;
mod ground;
pub mod inspection;
mod jobs;
mod layout;
mod membership;
mod mount;
mod realtime;
mod recent;
mod recognition;
mod recycle;
mod shares;
mod slots;
mod task;
mod tokens;
mod wide;

pub use admission::{AdmissionError, Capacity, Load};
pub use audit::{Place, Violation};
pub use client::PartClient;
pub use counts::{FtlCounters, PageCounts};
pub use demand::{Overheads, Scheduling, Work};
pub use error::{FtlError, MountError, MountRefusal};
pub use ftl::{Ftl, FtlConfig};
pub use layout::{
    Lba, logical_pages_limit, longest_write, max_logical_pages, programs_per_checkpoint_page, reserve_blocks,
};
pub use realtime::{
    BackgroundStep, CollectorStep, Guarantee, RealTime, RealTimeConfig, RealTimeCounters, StartError, SystemJob,
    TaskError,
};
pub use recognition::{FORMAT_CUT_SHORT, NO_CHECKPOINT, recognise, recognition_bytes};
pub use recycle::{LevelStep, RecycleStep, Recycling, WEAR_LAG_OF_WRITES};
pub use shares::BackgroundTask;
pub use slots::TaskHandle;
pub use task::{Collector, OperationTimes, Task};
pub use tokens::{Pool, TaskTokens};
