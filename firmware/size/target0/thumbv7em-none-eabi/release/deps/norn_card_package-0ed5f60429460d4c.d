/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/norn_card_package-0ed5f60429460d4c.d: /work/wt/check/crates/card-package/src/lib.rs /work/wt/check/crates/card-package/src/format.rs /work/wt/check/crates/card-package/src/opcode.rs /work/wt/check/crates/card-package/src/aid.rs /work/wt/check/crates/card-package/src/check.rs /work/wt/check/crates/card-package/src/code_check.rs /work/wt/check/crates/card-package/src/error.rs /work/wt/check/crates/card-package/src/image.rs /work/wt/check/crates/card-package/src/known.rs /work/wt/check/crates/card-package/src/native.rs /work/wt/check/crates/card-package/src/package.rs

/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/libnorn_card_package-0ed5f60429460d4c.rlib: /work/wt/check/crates/card-package/src/lib.rs /work/wt/check/crates/card-package/src/format.rs /work/wt/check/crates/card-package/src/opcode.rs /work/wt/check/crates/card-package/src/aid.rs /work/wt/check/crates/card-package/src/check.rs /work/wt/check/crates/card-package/src/code_check.rs /work/wt/check/crates/card-package/src/error.rs /work/wt/check/crates/card-package/src/image.rs /work/wt/check/crates/card-package/src/known.rs /work/wt/check/crates/card-package/src/native.rs /work/wt/check/crates/card-package/src/package.rs

/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/libnorn_card_package-0ed5f60429460d4c.rmeta: /work/wt/check/crates/card-package/src/lib.rs /work/wt/check/crates/card-package/src/format.rs /work/wt/check/crates/card-package/src/opcode.rs /work/wt/check/crates/card-package/src/aid.rs /work/wt/check/crates/card-package/src/check.rs /work/wt/check/crates/card-package/src/code_check.rs /work/wt/check/crates/card-package/src/error.rs /work/wt/check/crates/card-package/src/image.rs /work/wt/check/crates/card-package/src/known.rs /work/wt/check/crates/card-package/src/native.rs /work/wt/check/crates/card-package/src/package.rs

/work/wt/check/crates/card-package/src/lib.rs:
/work/wt/check/crates/card-package/src/format.rs:
/work/wt/check/crates/card-package/src/opcode.rs:
/work/wt/check/crates/card-package/src/aid.rs:
/work/wt/check/crates/card-package/src/check.rs:
/work/wt/check/crates/card-package/src/code_check.rs:
/work/wt/check/crates/card-package/src/error.rs:
/work/wt/check/crates/card-package/src/image.rs:
/work/wt/check/crates/card-package/src/known.rs:
/work/wt/check/crates/card-package/src/native.rs:
/work/wt/check/crates/card-package/src/package.rs:
