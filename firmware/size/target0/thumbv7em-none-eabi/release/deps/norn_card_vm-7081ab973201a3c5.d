/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/norn_card_vm-7081ab973201a3c5.d: /work/wt/check/crates/card-vm/src/lib.rs /work/wt/check/crates/card-vm/src/applet_card.rs /work/wt/check/crates/card-vm/src/arithmetic.rs /work/wt/check/crates/card-vm/src/card.rs /work/wt/check/crates/card-vm/src/code.rs /work/wt/check/crates/card-vm/src/command.rs /work/wt/check/crates/card-vm/src/crypto.rs /work/wt/check/crates/card-vm/src/end.rs /work/wt/check/crates/card-vm/src/firewall.rs /work/wt/check/crates/card-vm/src/frame.rs /work/wt/check/crates/card-vm/src/heap.rs /work/wt/check/crates/card-vm/src/machine.rs /work/wt/check/crates/card-vm/src/members.rs /work/wt/check/crates/card-vm/src/memory.rs /work/wt/check/crates/card-vm/src/nand_packages.rs /work/wt/check/crates/card-vm/src/native.rs /work/wt/check/crates/card-vm/src/native/aid.rs /work/wt/check/crates/card-vm/src/native/apdu.rs /work/wt/check/crates/card-vm/src/native/arrays.rs /work/wt/check/crates/card-vm/src/native/crypto.rs /work/wt/check/crates/card-vm/src/native/system.rs /work/wt/check/crates/card-vm/src/objects.rs /work/wt/check/crates/card-vm/src/outside.rs /work/wt/check/crates/card-vm/src/package_store.rs /work/wt/check/crates/card-vm/src/persistent.rs /work/wt/check/crates/card-vm/src/quick.rs /work/wt/check/crates/card-vm/src/ram.rs /work/wt/check/crates/card-vm/src/registry.rs /work/wt/check/crates/card-vm/src/runtime.rs /work/wt/check/crates/card-vm/src/select.rs /work/wt/check/crates/card-vm/src/session.rs /work/wt/check/crates/card-vm/src/trace.rs /work/wt/check/crates/card-vm/src/types.rs

/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/libnorn_card_vm-7081ab973201a3c5.rlib: /work/wt/check/crates/card-vm/src/lib.rs /work/wt/check/crates/card-vm/src/applet_card.rs /work/wt/check/crates/card-vm/src/arithmetic.rs /work/wt/check/crates/card-vm/src/card.rs /work/wt/check/crates/card-vm/src/code.rs /work/wt/check/crates/card-vm/src/command.rs /work/wt/check/crates/card-vm/src/crypto.rs /work/wt/check/crates/card-vm/src/end.rs /work/wt/check/crates/card-vm/src/firewall.rs /work/wt/check/crates/card-vm/src/frame.rs /work/wt/check/crates/card-vm/src/heap.rs /work/wt/check/crates/card-vm/src/machine.rs /work/wt/check/crates/card-vm/src/members.rs /work/wt/check/crates/card-vm/src/memory.rs /work/wt/check/crates/card-vm/src/nand_packages.rs /work/wt/check/crates/card-vm/src/native.rs /work/wt/check/crates/card-vm/src/native/aid.rs /work/wt/check/crates/card-vm/src/native/apdu.rs /work/wt/check/crates/card-vm/src/native/arrays.rs /work/wt/check/crates/card-vm/src/native/crypto.rs /work/wt/check/crates/card-vm/src/native/system.rs /work/wt/check/crates/card-vm/src/objects.rs /work/wt/check/crates/card-vm/src/outside.rs /work/wt/check/crates/card-vm/src/package_store.rs /work/wt/check/crates/card-vm/src/persistent.rs /work/wt/check/crates/card-vm/src/quick.rs /work/wt/check/crates/card-vm/src/ram.rs /work/wt/check/crates/card-vm/src/registry.rs /work/wt/check/crates/card-vm/src/runtime.rs /work/wt/check/crates/card-vm/src/select.rs /work/wt/check/crates/card-vm/src/session.rs /work/wt/check/crates/card-vm/src/trace.rs /work/wt/check/crates/card-vm/src/types.rs

/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/libnorn_card_vm-7081ab973201a3c5.rmeta: /work/wt/check/crates/card-vm/src/lib.rs /work/wt/check/crates/card-vm/src/applet_card.rs /work/wt/check/crates/card-vm/src/arithmetic.rs /work/wt/check/crates/card-vm/src/card.rs /work/wt/check/crates/card-vm/src/code.rs /work/wt/check/crates/card-vm/src/command.rs /work/wt/check/crates/card-vm/src/crypto.rs /work/wt/check/crates/card-vm/src/end.rs /work/wt/check/crates/card-vm/src/firewall.rs /work/wt/check/crates/card-vm/src/frame.rs /work/wt/check/crates/card-vm/src/heap.rs /work/wt/check/crates/card-vm/src/machine.rs /work/wt/check/crates/card-vm/src/members.rs /work/wt/check/crates/card-vm/src/memory.rs /work/wt/check/crates/card-vm/src/nand_packages.rs /work/wt/check/crates/card-vm/src/native.rs /work/wt/check/crates/card-vm/src/native/aid.rs /work/wt/check/crates/card-vm/src/native/apdu.rs /work/wt/check/crates/card-vm/src/native/arrays.rs /work/wt/check/crates/card-vm/src/native/crypto.rs /work/wt/check/crates/card-vm/src/native/system.rs /work/wt/check/crates/card-vm/src/objects.rs /work/wt/check/crates/card-vm/src/outside.rs /work/wt/check/crates/card-vm/src/package_store.rs /work/wt/check/crates/card-vm/src/persistent.rs /work/wt/check/crates/card-vm/src/quick.rs /work/wt/check/crates/card-vm/src/ram.rs /work/wt/check/crates/card-vm/src/registry.rs /work/wt/check/crates/card-vm/src/runtime.rs /work/wt/check/crates/card-vm/src/select.rs /work/wt/check/crates/card-vm/src/session.rs /work/wt/check/crates/card-vm/src/trace.rs /work/wt/check/crates/card-vm/src/types.rs

/work/wt/check/crates/card-vm/src/lib.rs:
/work/wt/check/crates/card-vm/src/applet_card.rs:
/work/wt/check/crates/card-vm/src/arithmetic.rs:
/work/wt/check/crates/card-vm/src/card.rs:
/work/wt/check/crates/card-vm/src/code.rs:
/work/wt/check/crates/card-vm/src/command.rs:
/work/wt/check/crates/card-vm/src/crypto.rs:
/work/wt/check/crates/card-vm/src/end.rs:
/work/wt/check/crates/card-vm/src/firewall.rs:
/work/wt/check/crates/card-vm/src/frame.rs:
/work/wt/check/crates/card-vm/src/heap.rs:
/work/wt/check/crates/card-vm/src/machine.rs:
/work/wt/check/crates/card-vm/src/members.rs:
/work/wt/check/crates/card-vm/src/memory.rs:
/work/wt/check/crates/card-vm/src/nand_packages.rs:
/work/wt/check/crates/card-vm/src/native.rs:
/work/wt/check/crates/card-vm/src/native/aid.rs:
/work/wt/check/crates/card-vm/src/native/apdu.rs:
/work/wt/check/crates/card-vm/src/native/arrays.rs:
/work/wt/check/crates/card-vm/src/native/crypto.rs:
/work/wt/check/crates/card-vm/src/native/system.rs:
/work/wt/check/crates/card-vm/src/objects.rs:
/work/wt/check/crates/card-vm/src/outside.rs:
/work/wt/check/crates/card-vm/src/package_store.rs:
/work/wt/check/crates/card-vm/src/persistent.rs:
/work/wt/check/crates/card-vm/src/quick.rs:
/work/wt/check/crates/card-vm/src/ram.rs:
/work/wt/check/crates/card-vm/src/registry.rs:
/work/wt/check/crates/card-vm/src/runtime.rs:
/work/wt/check/crates/card-vm/src/select.rs:
/work/wt/check/crates/card-vm/src/session.rs:
/work/wt/check/crates/card-vm/src/trace.rs:
/work/wt/check/crates/card-vm/src/types.rs:
