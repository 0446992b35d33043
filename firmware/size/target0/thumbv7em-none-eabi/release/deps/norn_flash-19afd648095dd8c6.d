/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/norn_flash-19afd648095dd8c6.d: /work/wt/check/crates/flash/src/lib.rs /work/wt/check/crates/flash/src/audit.rs /work/wt/check/crates/flash/src/copies.rs /work/wt/check/crates/flash/src/eeprom.rs /work/wt/check/crates/flash/src/embedded.rs /work/wt/check/crates/flash/src/guard.rs /work/wt/check/crates/flash/src/label.rs /work/wt/check/crates/flash/src/mounting.rs /work/wt/check/crates/flash/src/nand.rs /work/wt/check/crates/flash/src/nor.rs /work/wt/check/crates/flash/src/partition.rs /work/wt/check/crates/flash/src/recognition.rs /work/wt/check/crates/flash/src/sectors.rs /work/wt/check/crates/flash/src/shared.rs

/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/libnorn_flash-19afd648095dd8c6.rlib: /work/wt/check/crates/flash/src/lib.rs /work/wt/check/crates/flash/src/audit.rs /work/wt/check/crates/flash/src/copies.rs /work/wt/check/crates/flash/src/eeprom.rs /work/wt/check/crates/flash/src/embedded.rs /work/wt/check/crates/flash/src/guard.rs /work/wt/check/crates/flash/src/label.rs /work/wt/check/crates/flash/src/mounting.rs /work/wt/check/crates/flash/src/nand.rs /work/wt/check/crates/flash/src/nor.rs /work/wt/check/crates/flash/src/partition.rs /work/wt/check/crates/flash/src/recognition.rs /work/wt/check/crates/flash/src/sectors.rs /work/wt/check/crates/flash/src/shared.rs

/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/libnorn_flash-19afd648095dd8c6.rmeta: /work/wt/check/crates/flash/src/lib.rs /work/wt/check/crates/flash/src/audit.rs /work/wt/check/crates/flash/src/copies.rs /work/wt/check/crates/flash/src/eeprom.rs /work/wt/check/crates/flash/src/embedded.rs /work/wt/check/crates/flash/src/guard.rs /work/wt/check/crates/flash/src/label.rs /work/wt/check/crates/flash/src/mounting.rs /work/wt/check/crates/flash/src/nand.rs /work/wt/check/crates/flash/src/nor.rs /work/wt/check/crates/flash/src/partition.rs /work/wt/check/crates/flash/src/recognition.rs /work/wt/check/crates/flash/src/sectors.rs /work/wt/check/crates/flash/src/shared.rs

/work/wt/check/crates/flash/src/lib.rs:
/work/wt/check/crates/flash/src/audit.rs:
/work/wt/check/crates/flash/src/copies.rs:
/work/wt/check/crates/flash/src/eeprom.rs:
/work/wt/check/crates/flash/src/embedded.rs:
/work/wt/check/crates/flash/src/guard.rs:
/work/wt/check/crates/flash/src/label.rs:
/work/wt/check/crates/flash/src/mounting.rs:
/work/wt/check/crates/flash/src/nand.rs:
/work/wt/check/crates/flash/src/nor.rs:
/work/wt/check/crates/flash/src/partition.rs:
/work/wt/check/crates/flash/src/recognition.rs:
/work/wt/check/crates/flash/src/sectors.rs:
/work/wt/check/crates/flash/src/shared.rs:
