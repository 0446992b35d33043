/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/norn_nor_store-6199fea8e0ae4f81.d: /work/wt/check/crates/nor-store/src/lib.rs /work/wt/check/crates/nor-store/src/config.rs /work/wt/check/crates/nor-store/src/delta.rs /work/wt/check/crates/nor-store/src/detection.rs /work/wt/check/crates/nor-store/src/entry.rs /work/wt/check/crates/nor-store/src/error.rs /work/wt/check/crates/nor-store/src/features.rs /work/wt/check/crates/nor-store/src/format.rs /work/wt/check/crates/nor-store/src/geometry.rs /work/wt/check/crates/nor-store/src/ground/mod.rs /work/wt/check/crates/nor-store/src/ground/audit.rs /work/wt/check/crates/nor-store/src/ground/log/mod.rs /work/wt/check/crates/nor-store/src/ground/log/audit.rs /work/wt/check/crates/nor-store/src/ground/log/lay_out.rs /work/wt/check/crates/nor-store/src/ground/log/replay.rs /work/wt/check/crates/nor-store/src/ground/medium.rs /work/wt/check/crates/nor-store/src/ground/scratch.rs /work/wt/check/crates/nor-store/src/ground/sector.rs /work/wt/check/crates/nor-store/src/ground/space/mod.rs /work/wt/check/crates/nor-store/src/ground/space/filling.rs /work/wt/check/crates/nor-store/src/ground/space/reclaim.rs /work/wt/check/crates/nor-store/src/ground/table.rs /work/wt/check/crates/nor-store/src/ground/unit.rs /work/wt/check/crates/nor-store/src/marks.rs /work/wt/check/crates/nor-store/src/mount.rs /work/wt/check/crates/nor-store/src/pointer.rs /work/wt/check/crates/nor-store/src/recognition.rs /work/wt/check/crates/nor-store/src/roots.rs /work/wt/check/crates/nor-store/src/store.rs /work/wt/check/crates/nor-store/src/transaction.rs /work/wt/check/crates/nor-store/src/tree.rs /work/wt/check/crates/nor-store/src/tree/audit.rs /work/wt/check/crates/nor-store/src/versions.rs

/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/libnorn_nor_store-6199fea8e0ae4f81.rlib: /work/wt/check/crates/nor-store/src/lib.rs /work/wt/check/crates/nor-store/src/config.rs /work/wt/check/crates/nor-store/src/delta.rs /work/wt/check/crates/nor-store/src/detection.rs /work/wt/check/crates/nor-store/src/entry.rs /work/wt/check/crates/nor-store/src/error.rs /work/wt/check/crates/nor-store/src/features.rs /work/wt/check/crates/nor-store/src/format.rs /work/wt/check/crates/nor-store/src/geometry.rs /work/wt/check/crates/nor-store/src/ground/mod.rs /work/wt/check/crates/nor-store/src/ground/audit.rs /work/wt/check/crates/nor-store/src/ground/log/mod.rs /work/wt/check/crates/nor-store/src/ground/log/audit.rs /work/wt/check/crates/nor-store/src/ground/log/lay_out.rs /work/wt/check/crates/nor-store/src/ground/log/replay.rs /work/wt/check/crates/nor-store/src/ground/medium.rs /work/wt/check/crates/nor-store/src/ground/scratch.rs /work/wt/check/crates/nor-store/src/ground/sector.rs /work/wt/check/crates/nor-store/src/ground/space/mod.rs /work/wt/check/crates/nor-store/src/ground/space/filling.rs /work/wt/check/crates/nor-store/src/ground/space/reclaim.rs /work/wt/check/crates/nor-store/src/ground/table.rs /work/wt/check/crates/nor-store/src/ground/unit.rs /work/wt/check/crates/nor-store/src/marks.rs /work/wt/check/crates/nor-store/src/mount.rs /work/wt/check/crates/nor-store/src/pointer.rs /work/wt/check/crates/nor-store/src/recognition.rs /work/wt/check/crates/nor-store/src/roots.rs /work/wt/check/crates/nor-store/src/store.rs /work/wt/check/crates/nor-store/src/transaction.rs /work/wt/check/crates/nor-store/src/tree.rs /work/wt/check/crates/nor-store/src/tree/audit.rs /work/wt/check/crates/nor-store/src/versions.rs

/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/libnorn_nor_store-6199fea8e0ae4f81.rmeta: /work/wt/check/crates/nor-store/src/lib.rs /work/wt/check/crates/nor-store/src/config.rs /work/wt/check/crates/nor-store/src/delta.rs /work/wt/check/crates/nor-store/src/detection.rs /work/wt/check/crates/nor-store/src/entry.rs /work/wt/check/crates/nor-store/src/error.rs /work/wt/check/crates/nor-store/src/features.rs /work/wt/check/crates/nor-store/src/format.rs /work/wt/check/crates/nor-store/src/geometry.rs /work/wt/check/crates/nor-store/src/ground/mod.rs /work/wt/check/crates/nor-store/src/ground/audit.rs /work/wt/check/crates/nor-store/src/ground/log/mod.rs /work/wt/check/crates/nor-store/src/ground/log/audit.rs /work/wt/check/crates/nor-store/src/ground/log/lay_out.rs /work/wt/check/crates/nor-store/src/ground/log/replay.rs /work/wt/check/crates/nor-store/src/ground/medium.rs /work/wt/check/crates/nor-store/src/ground/scratch.rs /work/wt/check/crates/nor-store/src/ground/sector.rs /work/wt/check/crates/nor-store/src/ground/space/mod.rs /work/wt/check/crates/nor-store/src/ground/space/filling.rs /work/wt/check/crates/nor-store/src/ground/space/reclaim.rs /work/wt/check/crates/nor-store/src/ground/table.rs /work/wt/check/crates/nor-store/src/ground/unit.rs /work/wt/check/crates/nor-store/src/marks.rs /work/wt/check/crates/nor-store/src/mount.rs /work/wt/check/crates/nor-store/src/pointer.rs /work/wt/check/crates/nor-store/src/recognition.rs /work/wt/check/crates/nor-store/src/roots.rs /work/wt/check/crates/nor-store/src/store.rs /work/wt/check/crates/nor-store/src/transaction.rs /work/wt/check/crates/nor-store/src/tree.rs /work/wt/check/crates/nor-store/src/tree/audit.rs /work/wt/check/crates/nor-store/src/versions.rs

/work/wt/check/crates/nor-store/src/lib.rs:
/work/wt/check/crates/nor-store/src/config.rs:
/work/wt/check/crates/nor-store/src/delta.rs:
/work/wt/check/crates/nor-store/src/detection.rs:
/work/wt/check/crates/nor-store/src/entry.rs:
/work/wt/check/crates/nor-store/src/error.rs:
/work/wt/check/crates/nor-store/src/features.rs:
/work/wt/check/crates/nor-store/src/format.rs:
/work/wt/check/crates/nor-store/src/geometry.rs:
/work/wt/check/crates/nor-store/src/ground/mod.rs:
/work/wt/check/crates/nor-store/src/ground/audit.rs:
/work/wt/check/crates/nor-store/src/ground/log/mod.rs:
/work/wt/check/crates/nor-store/src/ground/log/audit.rs:
/work/wt/check/crates/nor-store/src/ground/log/lay_out.rs:
/work/wt/check/crates/nor-store/src/ground/log/replay.rs:
/work/wt/check/crates/nor-store/src/ground/medium.rs:
/work/wt/check/crates/nor-store/src/ground/scratch.rs:
/work/wt/check/crates/nor-store/src/ground/sector.rs:
/work/wt/check/crates/nor-store/src/ground/space/mod.rs:
/work/wt/check/crates/nor-store/src/ground/space/filling.rs:
/work/wt/check/crates/nor-store/src/ground/space/reclaim.rs:
/work/wt/check/crates/nor-store/src/ground/table.rs:
/work/wt/check/crates/nor-store/src/ground/unit.rs:
/work/wt/check/crates/nor-store/src/marks.rs:
/work/wt/check/crates/nor-store/src/mount.rs:
/work/wt/check/crates/nor-store/src/pointer.rs:
/work/wt/check/crates/nor-store/src/recognition.rs:
/work/wt/check/crates/nor-store/src/roots.rs:
/work/wt/check/crates/nor-store/src/store.rs:
/work/wt/check/crates/nor-store/src/transaction.rs:
/work/wt/check/crates/nor-store/src/tree.rs:
/work/wt/check/crates/nor-store/src/tree/audit.rs:
/work/wt/check/crates/nor-store/src/versions.rs:
