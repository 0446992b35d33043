/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/norn_object_heap-3b0c8bb9ffe19bc7.d: /work/wt/check/crates/object-heap/src/lib.rs /work/wt/check/crates/object-heap/src/access.rs /work/wt/check/crates/object-heap/src/array.rs /work/wt/check/crates/object-heap/src/audit.rs /work/wt/check/crates/object-heap/src/check.rs /work/wt/check/crates/object-heap/src/collect.rs /work/wt/check/crates/object-heap/src/compact.rs /work/wt/check/crates/object-heap/src/config.rs /work/wt/check/crates/object-heap/src/descriptor.rs /work/wt/check/crates/object-heap/src/error.rs /work/wt/check/crates/object-heap/src/fixed.rs /work/wt/check/crates/object-heap/src/form.rs /work/wt/check/crates/object-heap/src/format.rs /work/wt/check/crates/object-heap/src/header.rs /work/wt/check/crates/object-heap/src/heap.rs /work/wt/check/crates/object-heap/src/layout.rs /work/wt/check/crates/object-heap/src/list/mod.rs /work/wt/check/crates/object-heap/src/list/delta.rs /work/wt/check/crates/object-heap/src/list/slots.rs /work/wt/check/crates/object-heap/src/list/stretch.rs /work/wt/check/crates/object-heap/src/name.rs /work/wt/check/crates/object-heap/src/notify.rs /work/wt/check/crates/object-heap/src/object.rs /work/wt/check/crates/object-heap/src/pointer.rs /work/wt/check/crates/object-heap/src/range.rs /work/wt/check/crates/object-heap/src/reference.rs /work/wt/check/crates/object-heap/src/root.rs /work/wt/check/crates/object-heap/src/write.rs

/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/libnorn_object_heap-3b0c8bb9ffe19bc7.rlib: /work/wt/check/crates/object-heap/src/lib.rs /work/wt/check/crates/object-heap/src/access.rs /work/wt/check/crates/object-heap/src/array.rs /work/wt/check/crates/object-heap/src/audit.rs /work/wt/check/crates/object-heap/src/check.rs /work/wt/check/crates/object-heap/src/collect.rs /work/wt/check/crates/object-heap/src/compact.rs /work/wt/check/crates/object-heap/src/config.rs /work/wt/check/crates/object-heap/src/descriptor.rs /work/wt/check/crates/object-heap/src/error.rs /work/wt/check/crates/object-heap/src/fixed.rs /work/wt/check/crates/object-heap/src/form.rs /work/wt/check/crates/object-heap/src/format.rs /work/wt/check/crates/object-heap/src/header.rs /work/wt/check/crates/object-heap/src/heap.rs /work/wt/check/crates/object-heap/src/layout.rs /work/wt/check/crates/object-heap/src/list/mod.rs /work/wt/check/crates/object-heap/src/list/delta.rs /work/wt/check/crates/object-heap/src/list/slots.rs /work/wt/check/crates/object-heap/src/list/stretch.rs /work/wt/check/crates/object-heap/src/name.rs /work/wt/check/crates/object-heap/src/notify.rs /work/wt/check/crates/object-heap/src/object.rs /work/wt/check/crates/object-heap/src/pointer.rs /work/wt/check/crates/object-heap/src/range.rs /work/wt/check/crates/object-heap/src/reference.rs /work/wt/check/crates/object-heap/src/root.rs /work/wt/check/crates/object-heap/src/write.rs

/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/libnorn_object_heap-3b0c8bb9ffe19bc7.rmeta: /work/wt/check/crates/object-heap/src/lib.rs /work/wt/check/crates/object-heap/src/access.rs /work/wt/check/crates/object-heap/src/array.rs /work/wt/check/crates/object-heap/src/audit.rs /work/wt/check/crates/object-heap/src/check.rs /work/wt/check/crates/object-heap/src/collect.rs /work/wt/check/crates/object-heap/src/compact.rs /work/wt/check/crates/object-heap/src/config.rs /work/wt/check/crates/object-heap/src/descriptor.rs /work/wt/check/crates/object-heap/src/error.rs /work/wt/check/crates/object-heap/src/fixed.rs /work/wt/check/crates/object-heap/src/form.rs /work/wt/check/crates/object-heap/src/format.rs /work/wt/check/crates/object-heap/src/header.rs /work/wt/check/crates/object-heap/src/heap.rs /work/wt/check/crates/object-heap/src/layout.rs /work/wt/check/crates/object-heap/src/list/mod.rs /work/wt/check/crates/object-heap/src/list/delta.rs /work/wt/check/crates/object-heap/src/list/slots.rs /work/wt/check/crates/object-heap/src/list/stretch.rs /work/wt/check/crates/object-heap/src/name.rs /work/wt/check/crates/object-heap/src/notify.rs /work/wt/check/crates/object-heap/src/object.rs /work/wt/check/crates/object-heap/src/pointer.rs /work/wt/check/crates/object-heap/src/range.rs /work/wt/check/crates/object-heap/src/reference.rs /work/wt/check/crates/object-heap/src/root.rs /work/wt/check/crates/object-heap/src/write.rs

/work/wt/check/crates/object-heap/src/lib.rs:
/work/wt/check/crates/object-heap/src/access.rs:
/work/wt/check/crates/object-heap/src/array.rs:
/work/wt/check/crates/object-heap/src/audit.rs:
/work/wt/check/crates/object-heap/src/check.rs:
/work/wt/check/crates/object-heap/src/collect.rs:
/work/wt/check/crates/object-heap/src/compact.rs:
/work/wt/check/crates/object-heap/src/config.rs:
/work/wt/check/crates/object-heap/src/descriptor.rs:
/work/wt/check/crates/object-heap/src/error.rs:
/work/wt/check/crates/object-heap/src/fixed.rs:
/work/wt/check/crates/object-heap/src/form.rs:
/work/wt/check/crates/object-heap/src/format.rs:
/work/wt/check/crates/object-heap/src/header.rs:
/work/wt/check/crates/object-heap/src/heap.rs:
/work/wt/check/crates/object-heap/src/layout.rs:
/work/wt/check/crates/object-heap/src/list/mod.rs:
/work/wt/check/crates/object-heap/src/list/delta.rs:
/work/wt/check/crates/object-heap/src/list/slots.rs:
/work/wt/check/crates/object-heap/src/list/stretch.rs:
/work/wt/check/crates/object-heap/src/name.rs:
/work/wt/check/crates/object-heap/src/notify.rs:
/work/wt/check/crates/object-heap/src/object.rs:
/work/wt/check/crates/object-heap/src/pointer.rs:
/work/wt/check/crates/object-heap/src/range.rs:
/work/wt/check/crates/object-heap/src/reference.rs:
/work/wt/check/crates/object-heap/src/root.rs:
/work/wt/check/crates/object-heap/src/write.rs:
