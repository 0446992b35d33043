//! The tests of this crate as one program: what they share is compiled once.

mod eeprom_costs;
mod eeprom_format_example;
mod eeprom_power_cuts;
mod eeprom_random_operations;
mod either;
mod mu_tree;
