/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/norn_code_pager-65f9d593b51e6771.d: /work/wt/check/crates/code-pager/src/lib.rs /work/wt/check/crates/code-pager/src/address.rs /work/wt/check/crates/code-pager/src/code.rs /work/wt/check/crates/code-pager/src/error.rs /work/wt/check/crates/code-pager/src/frames.rs /work/wt/check/crates/code-pager/src/header.rs /work/wt/check/crates/code-pager/src/image.rs /work/wt/check/crates/code-pager/src/lent.rs /work/wt/check/crates/code-pager/src/observer.rs /work/wt/check/crates/code-pager/src/pager.rs /work/wt/check/crates/code-pager/src/policy.rs /work/wt/check/crates/code-pager/src/policy/clock.rs /work/wt/check/crates/code-pager/src/policy/contract.rs /work/wt/check/crates/code-pager/src/policy/greedy.rs /work/wt/check/crates/code-pager/src/policy/index.rs /work/wt/check/crates/code-pager/src/policy/lru.rs /work/wt/check/crates/code-pager/src/policy/s3_fifo.rs /work/wt/check/crates/code-pager/src/policy/sieve.rs /work/wt/check/crates/code-pager/src/policy/table.rs /work/wt/check/crates/code-pager/src/policy/tags.rs /work/wt/check/crates/code-pager/src/program.rs /work/wt/check/crates/code-pager/src/recognition.rs /work/wt/check/crates/code-pager/src/register.rs /work/wt/check/crates/code-pager/src/rooms.rs /work/wt/check/crates/code-pager/src/shelf.rs /work/wt/check/crates/code-pager/src/switch.rs /work/wt/check/crates/code-pager/src/update.rs /work/wt/check/crates/code-pager/src/writer.rs

/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/libnorn_code_pager-65f9d593b51e6771.rlib: /work/wt/check/crates/code-pager/src/lib.rs /work/wt/check/crates/code-pager/src/address.rs /work/wt/check/crates/code-pager/src/code.rs /work/wt/check/crates/code-pager/src/error.rs /work/wt/check/crates/code-pager/src/frames.rs /work/wt/check/crates/code-pager/src/header.rs /work/wt/check/crates/code-pager/src/image.rs /work/wt/check/crates/code-pager/src/lent.rs /work/wt/check/crates/code-pager/src/observer.rs /work/wt/check/crates/code-pager/src/pager.rs /work/wt/check/crates/code-pager/src/policy.rs /work/wt/check/crates/code-pager/src/policy/clock.rs /work/wt/check/crates/code-pager/src/policy/contract.rs /work/wt/check/crates/code-pager/src/policy/greedy.rs /work/wt/check/crates/code-pager/src/policy/index.rs /work/wt/check/crates/code-pager/src/policy/lru.rs /work/wt/check/crates/code-pager/src/policy/s3_fifo.rs /work/wt/check/crates/code-pager/src/policy/sieve.rs /work/wt/check/crates/code-pager/src/policy/table.rs /work/wt/check/crates/code-pager/src/policy/tags.rs /work/wt/check/crates/code-pager/src/program.rs /work/wt/check/crates/code-pager/src/recognition.rs /work/wt/check/crates/code-pager/src/register.rs /work/wt/check/crates/code-pager/src/rooms.rs /work/wt/check/crates/code-pager/src/shelf.rs /work/wt/check/crates/code-pager/src/switch.rs /work/wt/check/crates/code-pager/src/update.rs /work/wt/check/crates/code-pager/src/writer.rs

/work/wt/card/firmware/size/target0/thumbv7em-none-eabi/release/deps/libnorn_code_pager-65f9d593b51e6771.rmeta: /work/wt/check/crates/code-pager/src/lib.rs /work/wt/check/crates/code-pager/src/address.rs /work/wt/check/crates/code-pager/src/code.rs /work/wt/check/crates/code-pager/src/error.rs /work/wt/check/crates/code-pager/src/frames.rs /work/wt/check/crates/code-pager/src/header.rs /work/wt/check/crates/code-pager/src/image.rs /work/wt/check/crates/code-pager/src/lent.rs /work/wt/check/crates/code-pager/src/observer.rs /work/wt/check/crates/code-pager/src/pager.rs /work/wt/check/crates/code-pager/src/policy.rs /work/wt/check/crates/code-pager/src/policy/clock.rs /work/wt/check/crates/code-pager/src/policy/contract.rs /work/wt/check/crates/code-pager/src/policy/greedy.rs /work/wt/check/crates/code-pager/src/policy/index.rs /work/wt/check/crates/code-pager/src/policy/lru.rs /work/wt/check/crates/code-pager/src/policy/s3_fifo.rs /work/wt/check/crates/code-pager/src/policy/sieve.rs /work/wt/check/crates/code-pager/src/policy/table.rs /work/wt/check/crates/code-pager/src/policy/tags.rs /work/wt/check/crates/code-pager/src/program.rs /work/wt/check/crates/code-pager/src/recognition.rs /work/wt/check/crates/code-pager/src/register.rs /work/wt/check/crates/code-pager/src/rooms.rs /work/wt/check/crates/code-pager/src/shelf.rs /work/wt/check/crates/code-pager/src/switch.rs /work/wt/check/crates/code-pager/src/update.rs /work/wt/check/crates/code-pager/src/writer.rs

/work/wt/check/crates/code-pager/src/lib.rs:
/work/wt/check/crates/code-pager/src/address.rs:
/work/wt/check/crates/code-pager/src/code.rs:
/work/wt/check/crates/code-pager/src/error.rs:
/work/wt/check/crates/code-pager/src/frames.rs:
/work/wt/check/crates/code-pager/src/header.rs:
/work/wt/check/crates/code-pager/src/image.rs:
/work/wt/check/crates/code-pager/src/lent.rs:
/work/wt/check/crates/code-pager/src/observer.rs:
/work/wt/check/crates/code-pager/src/pager.rs:
/work/wt/check/crates/code-pager/src/policy.rs:
/work/wt/check/crates/code-pager/src/policy/clock.rs:
/work/wt/check/crates/code-pager/src/policy/contract.rs:
/work/wt/check/crates/code-pager/src/policy/greedy.rs:
/work/wt/check/crates/code-pager/src/policy/index.rs:
/work/wt/check/crates/code-pager/src/policy/lru.rs:
/work/wt/check/crates/code-pager/src/policy/s3_fifo.rs:
/work/wt/check/crates/code-pager/src/policy/sieve.rs:
/work/wt/check/crates/code-pager/src/policy/table.rs:
/work/wt/check/crates/code-pager/src/policy/tags.rs:
/work/wt/check/crates/code-pager/src/program.rs:
/work/wt/check/crates/code-pager/src/recognition.rs:
/work/wt/check/crates/code-pager/src/register.rs:
/work/wt/check/crates/code-pager/src/rooms.rs:
/work/wt/check/crates/code-pager/src/shelf.rs:
/work/wt/check/crates/code-pager/src/switch.rs:
/work/wt/check/crates/code-pager/src/update.rs:
/work/wt/check/crates/code-pager/src/writer.rs:
