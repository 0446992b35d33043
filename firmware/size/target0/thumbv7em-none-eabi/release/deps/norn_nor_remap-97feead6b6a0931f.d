/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/norn_nor_remap-97feead6b6a0931f.d: /work/wt/check/crates/nor-remap/src/lib.rs /work/wt/check/crates/nor-remap/src/audit.rs /work/wt/check/crates/nor-remap/src/calls.rs /work/wt/check/crates/nor-remap/src/error.rs /work/wt/check/crates/nor-remap/src/fixed.rs /work/wt/check/crates/nor-remap/src/format.rs /work/wt/check/crates/nor-remap/src/hints.rs /work/wt/check/crates/nor-remap/src/homes.rs /work/wt/check/crates/nor-remap/src/layout.rs /work/wt/check/crates/nor-remap/src/mount.rs /work/wt/check/crates/nor-remap/src/recognition.rs /work/wt/check/crates/nor-remap/src/remap.rs /work/wt/check/crates/nor-remap/src/spare.rs /work/wt/check/crates/nor-remap/src/switch.rs /work/wt/check/crates/nor-remap/src/table.rs

/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/libnorn_nor_remap-97feead6b6a0931f.rlib: /work/wt/check/crates/nor-remap/src/lib.rs /work/wt/check/crates/nor-remap/src/audit.rs /work/wt/check/crates/nor-remap/src/calls.rs /work/wt/check/crates/nor-remap/src/error.rs /work/wt/check/crates/nor-remap/src/fixed.rs /work/wt/check/crates/nor-remap/src/format.rs /work/wt/check/crates/nor-remap/src/hints.rs /work/wt/check/crates/nor-remap/src/homes.rs /work/wt/check/crates/nor-remap/src/layout.rs /work/wt/check/crates/nor-remap/src/mount.rs /work/wt/check/crates/nor-remap/src/recognition.rs /work/wt/check/crates/nor-remap/src/remap.rs /work/wt/check/crates/nor-remap/src/spare.rs /work/wt/check/crates/nor-remap/src/switch.rs /work/wt/check/crates/nor-remap/src/table.rs

/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/libnorn_nor_remap-97feead6b6a0931f.rmeta: /work/wt/check/crates/nor-remap/src/lib.rs /work/wt/check/crates/nor-remap/src/audit.rs /work/wt/check/crates/nor-remap/src/calls.rs /work/wt/check/crates/nor-remap/src/error.rs /work/wt/check/crates/nor-remap/src/fixed.rs /work/wt/check/crates/nor-remap/src/format.rs /work/wt/check/crates/nor-remap/src/hints.rs /work/wt/check/crates/nor-remap/src/homes.rs /work/wt/check/crates/nor-remap/src/layout.rs /work/wt/check/crates/nor-remap/src/mount.rs /work/wt/check/crates/nor-remap/src/recognition.rs /work/wt/check/crates/nor-remap/src/remap.rs /work/wt/check/crates/nor-remap/src/spare.rs /work/wt/check/crates/nor-remap/src/switch.rs /work/wt/check/crates/nor-remap/src/table.rs

/work/wt/check/crates/nor-remap/src/lib.rs:
/work/wt/check/crates/nor-remap/src/audit.rs:
/work/wt/check/crates/nor-remap/src/calls.rs:
/work/wt/check/crates/nor-remap/src/error.rs:
/work/wt/check/crates/nor-remap/src/fixed.rs:
/work/wt/check/crates/nor-remap/src/format.rs:
/work/wt/check/crates/nor-remap/src/hints.rs:
/work/wt/check/crates/nor-remap/src/homes.rs:
/work/wt/check/crates/nor-remap/src/layout.rs:
/work/wt/check/crates/nor-remap/src/mount.rs:
/work/wt/check/crates/nor-remap/src/recognition.rs:
/work/wt/check/crates/nor-remap/src/remap.rs:
/work/wt/check/crates/nor-remap/src/spare.rs:
/work/wt/check/crates/nor-remap/src/switch.rs:
/work/wt/check/crates/nor-remap/src/table.rs:
