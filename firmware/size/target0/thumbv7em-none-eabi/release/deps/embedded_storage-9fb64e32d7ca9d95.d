/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/embedded_storage-9fb64e32d7ca9d95.d: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/embedded-storage-0.3.2/src/lib.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/embedded-storage-0.3.2/src/iter.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/embedded-storage-0.3.2/src/nor_flash.rs

/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/libembedded_storage-9fb64e32d7ca9d95.rlib: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/embedded-storage-0.3.2/src/lib.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/embedded-storage-0.3.2/src/iter.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/embedded-storage-0.3.2/src/nor_flash.rs

/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/libembedded_storage-9fb64e32d7ca9d95.rmeta: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/embedded-storage-0.3.2/src/lib.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/embedded-storage-0.3.2/src/iter.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/embedded-storage-0.3.2/src/nor_flash.rs

/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/embedded-storage-0.3.2/src/lib.rs:
/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/embedded-storage-0.3.2/src/iter.rs:
/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/embedded-storage-0.3.2/src/nor_flash.rs:
