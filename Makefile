# What there is to do: `make` or `make help` lists it.

PREFIX = /usr/local
CARD = out/wallet.card
SEED = 2006
SUMMARIES = java/target/test-summary.txt target/test-summary.txt
FEATURES = norn-cli/arrow,norn-cli/plots,norn-ordered-index/postcard,norn-ordered-index/zerocopy
CARD_JARS = out/card/sampling.jar
CARD_SOURCES = $(shell find java/card-api java/applets -name '*.java')

.PHONY: help run install test test-java test-rust firmware-test firmware-counts test-long crash-faults bench lab bobc hot compare size book dist wheel lint

help:
	@echo "make run        a purse on a Java Card pays, with power cuts in the middle; again: goes on with the same card"
	@echo "make test       every test that ends in minutes: test-java and test-rust at the same time"
	@echo "make install PREFIX=DIR [TARGET=thumbv7em-none-eabi]  the C library: header, static library, CMake package, pkg-config file"
	@echo "make test-rust  of these, the ones of everything else: needs a JDK 25, a C compiler, Chromium; installs what it lacks"
	@echo "make test-java  of these, the ones of Java objects in a persistent store: needs a JDK 25 and Maven"
	@echo "make firmware-test  the programs for boards that QEMU emulates, with hundreds of resets: some minutes, most of them to compile"
	@echo "make firmware-counts  instructions and stack of what heaps, maps, pager, block device and card do on an emulated Cortex-M3: a minute, once it is built"
	@echo "make test-long  wide power-cut sweeps, damaged images, fuzzing, other stores: long"
	@echo "make crash-faults  puts known faults back into copies of java/sas, and shows that the crash harness finds each: about ten minutes"
	@echo "make bench      what a field update and an ordered index cost beside the published figures, in short runs"
	@echo "make lab        the published evaluations redone, into out/lab; goes on where it was interrupted (LAB=\"OPTIONS\" for norn-lab run)"
	@echo "make bobc       the business object benchmark and its peers, into out/bobc; goes on where it was interrupted: two hours, on a machine that does nothing else"
	@echo "make hot        one object that many change at once, beside PostgreSQL and SQLite: 20 minutes, on a machine that does nothing else"
	@echo "make compare    the heaps in steady state, the ordered indexes and the ring log beside other stores for flash, into out/peers: two hours on two cores"
	@echo "make size       code and RAM on Cortex-M0 and Cortex-M4, compared with the guide"
	@echo "make book       the guide, the designs, the formats, the results and what make lab measured as pages for a browser, into out/book"
	@echo "make dist       the command norn as an archive with its manual and completions, into out/dist"
	@echo "make wheel      a wheel for Python that makes and reads images, into out/wheel"
	@echo "make lint       formatting, clippy, packages, links of the documentation, fuzz targets, builds for Cortex-M without std, and the stack that calls take there"

# The last jar that is made.
$(CARD_JARS): $(CARD_SOURCES) tools/card-jars
	@echo "compiling the card's API and the applets: half a minute"
	@tools/card-jars -v out/card

run: $(CARD_JARS)
	@tools/ensure-rust
	@echo "compiling norn-wallet and the crates below it; cargo shows how far it is: the first time takes two to five minutes"
	cargo build --locked --release -p norn-wallet
	@echo "the purse pays"
	cargo run --locked --release --quiet -p norn-wallet -- $(CARD) --seed $(SEED)

install:
	tools/install-c $(PREFIX) $(TARGET)

# Both at the same time: Java's wait for elections and syncs while others compile. A failure of one does not stop the other.
test:
	@rm -f $(SUMMARIES)
	@$(MAKE) --no-print-directory --keep-going --jobs 2 test-java test-rust; status=$$?; echo; \
	for summary in $(SUMMARIES); do cat $$summary || status=1; done; exit $$status

# With every feature, so that nothing is compiled twice; make test-long runs the few tests of what a program says without.
# Cargo would leave a processor to the other job for as long as that runs, if it knew of make's jobs.
test-rust:
	@env -u MAKEFLAGS tools/ensure-rust wasm32-unknown-unknown
	@tools/ensure-test-programs
	env -u MAKEFLAGS tools/test-rust --workspace --features $(FEATURES)

test-java:
	tools/test-java

firmware-test:
	tools/firmware-test

firmware-counts:
	tools/firmware-counts

test-long:
	@tools/ensure-rust thumbv7em-none-eabi wasm32-unknown-unknown
	@tools/ensure-test-programs long
	cargo test --locked -p norn-cli -p norn-ordered-index --test suite -- log_files:: typed_keys::
	cargo test --locked --workspace -- --ignored --nocapture $(if $(NORN_TRACES),,--skip the_traces_of_mibench)
	@$(if $(NORN_TRACES),,echo "NOT RUN: the figures of MiBench's traces; NORN_TRACES=DIR, with lout-small.runs.zst and mad-small.runs.zst, runs them")
	tools/test-java -Dlibraries.whole=true -Dsas.kills=60 -Dsas.rounds=60 -Dsas.flips=400 -Dsas.cuts=400 -Dcrash.rounds=2000 -Dreplica.rounds=60 -Dreplica.five=60
	tools/check-boards
	tools/check-rust-version
	tools/test-python
	tools/crash-faults
	tools/firmware-test --resets 5000
	tools/fuzz heap_image 600
	tools/fuzz remap_image 300
	tools/fuzz log_heap_image 300
	tools/fuzz eeprom_image 300
	tools/fuzz disk_image 300
	tools/fuzz program_image 300
	tools/fuzz index_image 300
	tools/fuzz index_operations 300
	tools/fuzz nbd_conversation 300
	tools/fuzz card_class_file 300
	tools/fuzz card_package 300
	tools/fuzz card_conversation 120
	tools/compare --test
	tools/compare-cards
	tools/compare --quick

crash-faults:
	tools/crash-faults

bench:
	@tools/ensure-rust
	cargo run --locked --release --quiet -p norn-lab -- run tinystore-table1 tinystore-worst-read tinystore-array-copy \
		--endurance 100 --fresh --out out/bench
	cargo run --locked --release --quiet -p norn-lab --example micro_benchmark -- fat 2
	cargo run --locked --release --quiet -p norn-lab --example micro_benchmark -- logged 2

lab:
	@tools/ensure-rust
	cargo run --locked --release --quiet -p norn-lab -- run $(LAB)

bobc:
	tools/bobc evaluation

hot:
	@tools/ensure-postgresql
	tools/bobc hot

compare:
	tools/compare --out out/peers

size:
	@tools/size-table

book:
	@tools/ensure-rust
	tools/book

dist:
	tools/dist

wheel:
	tools/wheel

lint:
	@tools/ensure-rust
	cargo fmt --all --check
	tools/check-packages
	cargo clippy --locked --workspace --all-targets -- -D warnings
	cargo clippy --locked -p norn-cli --all-targets --features arrow,plots -- -D warnings
	cargo clippy --locked -p norn-ordered-index --all-targets --features postcard,zerocopy -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --quiet
	tools/check-fuzz
	tools/check-no-std
	tools/size-table --stack
	tools/firmware-test --lint
