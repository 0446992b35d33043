# What there is to do: `make` or `make help` lists it.

IMAGE = out/purse.img
SCRIPT = examples/purse.txt
SEED = 2006

.PHONY: help run test test-long bench lab size lint

help:
	@echo "make run        electronic purses on simulated flash, with power cuts; again: goes on with the same image"
	@echo "make test       every test that ends in minutes"
	@echo "make test-long  wide power-cut sweeps, damaged images and fuzzing: about an hour"
	@echo "make bench      what a field update costs beside the published figures, in short runs"
	@echo "make lab        the published evaluations redone, into out/lab; goes on where it was interrupted"
	@echo "make size       code and RAM on Cortex-M0 and Cortex-M4"
	@echo "make lint       formatting, clippy, and builds for Cortex-M without std"

run:
	@tools/ensure-rust
	@mkdir -p out
	cargo run --locked --release --quiet -p norn -- purse $(IMAGE) $(SCRIPT) --cut-power $(SEED)

test:
	@tools/ensure-rust
	@tools/ensure-nbd-clients
	cargo test --locked --workspace

test-long:
	@tools/ensure-rust
	@tools/ensure-nbd-clients
	cargo test --locked --workspace -- --ignored --nocapture
	tools/fuzz heap_image 600
	tools/fuzz remap_image 300
	tools/fuzz nbd_conversation 300

bench:
	@tools/ensure-rust
	cargo run --locked --release --quiet -p norn -- lab run tinystore-table1 tinystore-worst-read tinystore-array-copy \
		--endurance 100 --fresh --out out/bench

lab:
	@tools/ensure-rust
	cargo run --locked --release --quiet -p norn -- lab run

size:
	@tools/size

lint:
	@tools/ensure-rust
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	tools/check-no-std
