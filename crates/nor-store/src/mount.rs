//! Formatting and mounting: from any state that a power cut left to a store between two operations.
//!
//! Mounting:
//! 1. find the newest complete log unit (the highest sequence number with `Ready`) and read it;
//! 2. finish the last `Erase`, unless another entry follows it or the unit's identity says that it is complete;
//! 3. give every unit its role;
//! 4. resume or finish the last `Move`;
//! 5. redo the last commit, or repair the last link, when it is the log's last entry; or undo the open transaction;
//! 6. continue with a switch to a new log unit;
//! 7. erase units that a cut left neither free nor in use, and log units that are not needed;
//! 8. empty the notify tree, because pointers end with the program;
//! 9. switch to a new log unit if the reserve of the log was used.
//!
//! Steps 1 to 3 and 5 append nothing before they are done, so that a cut during recovery finds the same last entry
//! again. Recovery as a table; of each group of rows, the first that fits applies (`docs/format/nor-store.md` has it
//! with the causes):
//!
//! | last entries of the newest log unit | state on flash | action |
//! |---|---|---|
//! | none with `Ready` | formatting was cut | `NotFormatted` |
//! | none with `Ready` | units with sectors, and no log unit made void by formatting | `Corrupted` |
//! | `Erase(u, n)` is last | identity of `u` says n | none |
//! | `Erase(u, n)` is last | anything else | erase `u` again |
//! | `Move(v, t)` without `Erase(v)` | `t` not assigned | copy what is missing, assign, erase `v` |
//! | `Move(v, t)` without `Erase(v)` | `t` assigned | erase `v` |
//! | `Link(l, n)` is last | link of `l` leads to `n` | none |
//! | `Link(l, n)` is last | link of `l` erased or torn | free `n`; then undo the transaction if one is open |
//! | `Commit` is last | words open or sectors live | walk forwards again |
//! | `New`, `Swap`, `Release` since the last `Commit` or `Abort` | anything | walk backwards, `Abort` |
//! | a torn entry is last | | the next entry is programmed over it where it can be |
//! | a torn entry is not last | with error detection | `Corrupted` |
//! | anything | a unit holds the beginning of what the next log unit would | complete it |
//! | anything | a unit's assignment is torn, or it is a log unit that is not the newest | erase the unit |
//! | anything | tree 2 is not empty | empty it |

use norn_flash::Nor;

use crate::config::StoreConfig;
use crate::error::{MountError, MountFault, MountRefusal, StoreError};
use crate::features::Features;
use crate::ground::table::UnitRows;
use crate::roots::{TreeId, TreeRoot};
use crate::store::{Store, StoreIn};

impl<D: Nor, const UNITS: usize, F: Features> Store<D, UNITS, F> {
    /// Lays out an empty store. What the part held is lost, except the erase counts of units that have one.
    ///
    /// Cost: an erase and 4 words for each unit, 18 words for the log's head.
    ///
    /// # Errors
    /// When the part cannot be used, or the device fails.
    pub fn format(device: D, config: StoreConfig) -> Result<Self, MountError<D::Error>> {
        let mut store = Self::unmounted(device);
        store.reformat(config)?;
        Ok(store)
    }

    /// Mounts what the device holds, completing or undoing what a power cut interrupted.
    ///
    /// Cost: 6 words read a unit, 2 an entry of the log, 1 a sector; programs and erases only where a cut left work, or
    /// a running program pointers: 6 words and 1 a sector of the notify tree.
    ///
    /// # Errors
    /// Names what is wrong with the image or the part; see [`MountError`].
    pub fn mount(device: D) -> Result<Self, MountError<D::Error>> {
        let mut store = Self::unmounted(device);
        store.remount()?;
        Ok(store)
    }
}

impl<D: Nor, M: UnitRows, F: Features> StoreIn<D, M, F> {
    /// As [`format`](Store::format), in place.
    ///
    /// # Errors
    /// As `format`; the store is as [`unmounted`](Store::unmounted) then.
    pub fn reformat(&mut self, config: StoreConfig) -> Result<(), MountError<D::Error>> {
        self.space().restart()?;
        self.log_mut().set_config(config);
        if let Some(feature) = config.lacks::<F>() {
            self.halt();
            return Err(MountError::Refused(MountRefusal::MissingFeature(feature)));
        }
        let geometry = self.log().units.medium.geometry();
        let laid_out = match config.validate().and_then(|()| geometry.suits(&config)) {
            Ok(()) => self.lay_out().map_err(|error| MountFault::Store(error).explained(self.corruption())),
            Err(why) => Err(MountError::Unsuitable(why)),
        };
        laid_out.inspect_err(|_| self.halt())
    }

    fn lay_out(&mut self) -> Result<(), StoreError<D::Error>> {
        self.versions().forget();
        self.log_mut().lay_out()?;
        self.space().seed_random();
        Ok(())
    }

    /// As [`mount`](Store::mount), in place. It also recovers after a device error.
    ///
    /// # Errors
    /// As `mount`; the store is as [`unmounted`](Store::unmounted) then.
    pub fn remount(&mut self) -> Result<(), MountError<D::Error>> {
        self.space().restart()?;
        let recovered = self.recover().map_err(|fault| fault.explained(self.corruption()));
        recovered.inspect_err(|_| self.halt())
    }

    fn recover(&mut self) -> Result<(), MountFault<D::Error>> {
        let replay = self.log_mut().replay()?;
        self.log_mut().finish_erase(&replay)?;
        self.log_mut().assign_roles()?;
        self.space().settle_move()?;
        self.settle_transaction(&replay)?;
        self.sectors().tally()?;
        self.log_mut().finish_switch()?;
        self.log_mut().clear_leftovers()?;
        self.forget_pointers()?;
        self.log_mut().ensure_room(0)?;
        self.space().seed_random();
        Ok(())
    }

    /// Step 8, a transaction like any other.
    fn forget_pointers(&mut self) -> Result<(), StoreError<D::Error>> {
        let root = self.tree(TreeId::Notify);
        if root.node.is_none() {
            return Ok(());
        }
        self.trees().release(root)?;
        self.log_mut().set_root(TreeId::Notify, TreeRoot::default());
        self.commit()
    }
}
