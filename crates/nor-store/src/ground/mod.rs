//! The ground floor: everything that knows where on the part something is.
//!
//! From the bottom up, each layer owns the one below it and keeps its own state to itself:
//!
//! ```text
//! space     which unit is filled, where there is room, reclamation
//! sector    sectors of a unit: found, read, programmed, freed
//! log       entries, the switch of log units, erases
//! unit      the header of each erase unit, and the unit table in RAM
//! medium    the device: refuses every call after its first failure
//! ```
//!
//! Only these files can read, program or erase: the calls of `Medium` that do are visible in here and nowhere else.
//! What is above works on sectors.

pub(crate) mod audit;
pub(crate) mod log;
mod medium;
pub(crate) mod scratch;
pub(crate) mod sector;
pub(crate) mod space;
pub(crate) mod table;
mod unit;
