//! Tenants of one part, interleaved at random, with power cuts at every operation of the part: each finds its own as it
//! left it, or as the call in flight was to leave it, and no client sees or changes another's bytes, whatever it does.

mod interrupts;
mod nand;
mod nor;
