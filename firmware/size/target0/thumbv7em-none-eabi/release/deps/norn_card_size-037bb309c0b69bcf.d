/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/norn_card_size-037bb309c0b69bcf.d: src/card.rs src/nand_device.rs

/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/norn_card_size-037bb309c0b69bcf: src/card.rs src/nand_device.rs

src/card.rs:
src/nand_device.rs:
