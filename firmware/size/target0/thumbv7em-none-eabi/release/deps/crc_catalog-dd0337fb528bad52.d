/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/crc_catalog-dd0337fb528bad52.d: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/crc-catalog-2.5.0/src/lib.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/crc-catalog-2.5.0/src/poly.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/crc-catalog-2.5.0/src/algorithm.rs

/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/libcrc_catalog-dd0337fb528bad52.rlib: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/crc-catalog-2.5.0/src/lib.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/crc-catalog-2.5.0/src/poly.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/crc-catalog-2.5.0/src/algorithm.rs

/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/libcrc_catalog-dd0337fb528bad52.rmeta: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/crc-catalog-2.5.0/src/lib.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/crc-catalog-2.5.0/src/poly.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/crc-catalog-2.5.0/src/algorithm.rs

/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/crc-catalog-2.5.0/src/lib.rs:
/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/crc-catalog-2.5.0/src/poly.rs:
/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/crc-catalog-2.5.0/src/algorithm.rs:
