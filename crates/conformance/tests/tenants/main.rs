//! Tenants of one part, interleaved at random, with power cuts at every operation of the part: each finds its own as it
//! left it, or as the call in flight was to leave it, and nobody's bytes are seen or changed by another, whatever it
//! does.

mod interrupts;
mod nand;
mod nor;
