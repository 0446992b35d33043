//! Norn's log: a fat list as a ring, which drops its oldest keys before it is full.

use std::mem::size_of;
use std::ops::Bound;

use norn_flash::Nor;
use norn_ordered_index::{FatList, OrderedIndex, Settings};

use crate::device::Device;
use crate::reading_log::{Contender, Failure, Log, Opening, Query, Reading, Show, single};

type List = FatList<Device, 4, 2>;

struct Ring(List);

/// Those of the sensor log.
fn settings(device: &Device) -> Settings {
    let part = device.part();
    let turnstile_blocks = part.unit_count.clamp(2, 16) as u8;
    Settings { turnstile_blocks, ..Settings::log() }.fitted_to(&part, 4, 2)
}

impl Log for Ring {
    fn append(&mut self, readings: &[Reading]) -> Result<(), Failure> {
        let Reading { at, value } = single(readings)?;
        self.0.insert_in_ring(&at.to_be_bytes(), &value.to_le_bytes()).map_err(Failure::of)?;
        Ok(())
    }

    fn range(&mut self, from: u32, to: u32, show: &mut Show<'_>) -> Result<(), Failure> {
        let (from, to) = (Bound::Included(from.to_be_bytes()), Bound::Excluded(to.to_be_bytes()));
        let mut range = self.0.range(from, to);
        while let Some((at, value)) = range.next_entry().map_err(Failure::of)? {
            let reading = Reading { at: u32::from_be_bytes(at), value: u16::from_le_bytes(value) };
            if show(reading) == Query::Ends {
                break;
            }
        }
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Failure> {
        self.0.stop().map_err(Failure::of)
    }

    fn ram_bytes(&self) -> usize {
        size_of::<List>() - size_of::<Device>()
    }
}

/// The one configuration.
pub fn contenders() -> Vec<Contender> {
    vec![Contender {
        name: "Norn, ring log",
        version: "this tree",
        notes: "a fat list, `insert_in_ring`; `Settings::log()`, with as many slots as fit a unit best",
        open: Box::new(|device, opening| {
            let settings = settings(&device);
            let list = match opening {
                Opening::Format => List::format(device, settings),
                Opening::Mount => List::mount(device),
            };
            Ok(Box::new(Ring(list.map_err(Failure::of)?)))
        }),
        fill: None,
    }]
}
