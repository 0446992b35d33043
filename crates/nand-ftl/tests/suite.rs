//! The tests of this crate as one program: what they share is compiled once.

mod admitted_sets;
mod adversary;
mod background;
mod cut_formats;
mod cut_mounts;
mod elapsed_time;
mod fading_checkpoints;
mod failing_blocks;
mod failing_formats;
mod full_parts;
mod joining;
mod membership;
mod model;
mod mounting;
mod outside_tasks;
mod power_cuts;
mod processor;
mod random_operations;
mod realtime;
mod room;
mod starting;
mod torn_pages;
mod unreadable;
mod victims;
