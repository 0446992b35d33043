//! A simulated NOR part that heap and journal share.

use std::cell::{RefCell, RefMut};
use std::rc::Rc;

use norn_flash::{Address, EraseUnit, Nor, NorPart};
use norn_flash_sim::NorSim;

/// One part for several clients of one thread: a power cut is a cut for all.
#[derive(Clone, Debug)]
pub struct SharedNor(Rc<RefCell<NorSim>>);

impl SharedNor {
    /// Shares a part.
    #[must_use]
    pub fn new(part: NorSim) -> Self {
        SharedNor(Rc::new(RefCell::new(part)))
    }

    /// The part, for counters and power. Nobody else may use it meanwhile.
    #[must_use]
    pub fn sim(&self) -> RefMut<'_, NorSim> {
        self.0.borrow_mut()
    }
}

impl Nor for SharedNor {
    type Error = <NorSim as Nor>::Error;

    fn part(&self) -> NorPart {
        self.0.borrow().part()
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), Self::Error> {
        self.sim().read(address, buffer)
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), Self::Error> {
        self.sim().program(address, bytes)
    }

    fn erase(&mut self, unit: EraseUnit) -> Result<(), Self::Error> {
        self.sim().erase(unit)
    }

    fn restart(&mut self) -> Result<(), Self::Error> {
        self.sim().restart()
    }
}
