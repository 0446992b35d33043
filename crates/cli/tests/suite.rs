//! The tests of this crate as one program: what they share is compiled once.

mod card_pcsc;
mod cards;
mod chips;
mod creations;
mod decoders;
mod dumps;
mod engines;
mod heap_data;
mod images;
mod killing;
mod limited_parts;
mod log;
mod log_files;
mod nbd;
mod nbd_clients;
mod nbd_host_crash;
mod nbd_hostile;
mod nbd_kill;
mod programs;
mod purses;
mod refusals;
mod reports;
