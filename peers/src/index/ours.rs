//! Norn's four: the fat list, the soft list, the µ-tree, and the B⁺-tree with logged leaves, with the settings of the
//! published evaluation.

use norn_baselines::MuTree;
use norn_ordered_index::{FatList, IndexError, OrderedIndex, Settings};

use crate::device::{Device, DeviceError};
use crate::map::{Contender, Failure, Opening, SortedMap, single};

type List = FatList<Device, 4, 4>;
type MuTree512 = MuTree<Device, 4, 4, 512>;
type LoggedTree = MuTree<Device, 4, 4, LOGGED_PAGE_BYTES, { LOGGED_PAGE_BYTES * 5 / 16 }>;

/// Bytes of a page with a log: a unit takes eight pages at least.
const LOGGED_PAGE_BYTES: usize = if ekv::config::PAGE_SIZE < 8192 { 512 } else { 1024 };

/// One of them.
struct Ours<I>(I);

/// What is particular to lists or trees.
trait Stop {
    fn stop_cleanly(&mut self) -> Result<(), Failure>;
}

impl Stop for List {
    fn stop_cleanly(&mut self) -> Result<(), Failure> {
        self.stop().map_err(Failure::of)
    }
}

impl<const PAGE: usize, const LOG: usize> Stop for MuTree<Device, 4, 4, PAGE, LOG> {
    fn stop_cleanly(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

fn failure(error: IndexError<DeviceError>) -> Failure {
    match error {
        IndexError::Full => Failure::Full(0),
        other => Failure::of(other),
    }
}

impl<I: OrderedIndex<4, 4, Device = Device> + Stop> SortedMap for Ours<I> {
    fn insert(&mut self, entries: &[(u32, u32)]) -> Result<(), Failure> {
        let (key, value) = single(entries)?;
        self.0.insert(&key.to_be_bytes(), &value.to_le_bytes()).map_err(failure)
    }

    fn update(&mut self, entries: &[(u32, u32)]) -> Result<(), Failure> {
        let (key, value) = single(entries)?;
        self.0.update(&key.to_be_bytes(), &value.to_le_bytes()).map_err(failure)
    }

    fn remove(&mut self, keys: &[u32]) -> Result<(), Failure> {
        self.0.remove(&single(keys)?.to_be_bytes()).map_err(failure)
    }

    fn get(&mut self, key: u32) -> Result<Option<u32>, Failure> {
        Ok(self.0.get(&key.to_be_bytes()).map_err(failure)?.map(u32::from_le_bytes))
    }

    fn count_in_order(&mut self) -> Result<u32, Failure> {
        let (mut count, mut last) = (0, None);
        let mut range = self.0.range(std::ops::Bound::Unbounded, std::ops::Bound::Unbounded);
        while let Some((key, _)) = range.next_entry().map_err(failure)? {
            if last.replace(key) >= Some(key) {
                return Err(Failure::Failed("keys that do not ascend".to_owned()));
            }
            count += 1;
        }
        Ok(count)
    }

    fn stop(&mut self) -> Result<(), Failure> {
        self.0.stop_cleanly()
    }

    fn ram_bytes(&self) -> usize {
        size_of::<I>() - size_of::<Device>()
    }
}

fn list(settings: Settings) -> crate::map::Open {
    Box::new(move |device, opening| {
        let list = match opening {
            Opening::Format => List::format(device, settings),
            Opening::Mount => List::mount(device),
        };
        Ok(Box::new(Ours(list.map_err(Failure::of)?)))
    })
}

/// The four.
pub fn contenders() -> Vec<Contender> {
    let contender = |name, notes, open| Contender { name, version: "this tree", notes, open, fill: None };
    vec![
        contender("fat list", "`Settings::paper_2011()`", list(Settings::paper_2011())),
        contender(
            "soft list",
            "`Settings::soft_list()`: an object of 86 bytes a key, so that 25,000 keys take 2.15 MB",
            list(Settings::soft_list()),
        ),
        contender(
            "µ-tree",
            "pages of 512 bytes, some of them on the stack of a call",
            Box::new(|device, opening| {
                let tree = match opening {
                    Opening::Format => MuTree512::format(device),
                    Opening::Mount => MuTree512::mount(device),
                };
                Ok(Box::new(Ours(tree.map_err(Failure::of)?)))
            }),
        ),
        contender(
            "logged B⁺-tree",
            "pages of 1,024 bytes (512 in units of 4 KB, as a unit takes eight pages at least; nodes of such pages \
             have room for some thousand keys only), five sixteenths of them for the log; some pages on the stack of a \
             call",
            Box::new(|device, opening| {
                let tree = match opening {
                    Opening::Format => LoggedTree::format(device),
                    Opening::Mount => LoggedTree::mount(device),
                };
                Ok(Box::new(Ours(tree.map_err(Failure::of)?)))
            }),
        ),
    ]
}
