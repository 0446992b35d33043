//! The block device server and the clients that people use: libnbd's nbdinfo and nbdcopy, fio, qemu-io, and e2fsprogs
//! on what they carried. tools/ensure-test-programs installs them.

use crate::nbd;

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use nbd::*;
use norn_desk::Desk;

#[test]
fn nbdinfo_reads_size_and_abilities() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.succeed("nbd create disk.img --size 12M");
    let server = Served::start(&desk, "disk.img");
    let uri = server.uri();
    let info = run(&desk.path(""), &["nbdinfo", &uri]);
    for line in [
        "protocol: newstyle-fixed without TLS, using simple packets",
        "export-size: 12582912",
        "can_flush: true",
        "can_fua: true",
        "can_multi_conn: true",
        "can_trim: true",
        "can_zero: true",
        "is_read_only: false",
        "block_size_minimum: 1",
        "block_size_preferred: 512",
        "block_size_maximum: 33554432",
    ] {
        assert!(info.contains(line), "{line:?} is not in\n{info}");
    }
    assert!(run(&desk.path(""), &["nbdinfo", "--list", &uri]).contains("export=\"\""));
    assert_eq!(run(&desk.path(""), &["nbdinfo", "--size", &uri]).trim(), "12582912");
    server.stop();
}

/// A file of the given size with an ext4 file system that holds the files of a directory.
fn ext4(directory: &Path, files: &str, bytes: u64) {
    let file = File::create(directory.join("fs.img")).unwrap();
    file.set_len(bytes).unwrap();
    run(directory, &["/usr/sbin/mkfs.ext4", "-q", "-F", "-d", files, "fs.img"]);
}

/// Files of several sizes, with the given total of bytes.
fn files(directory: &Path, bytes: usize) {
    fs::create_dir(directory.join("files")).unwrap();
    let mut random = fastrand::Rng::with_seed(4);
    let mut left = bytes;
    for number in 0.. {
        let len = random.usize(1..=bytes / 8).min(left);
        let contents: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(len).collect();
        File::create(directory.join(format!("files/{number}"))).unwrap().write_all(&contents).unwrap();
        left -= len;
        if left == 0 {
            return;
        }
    }
}

/// Brings an ext4 with files to a device and back, and checks it; over a restart of the server.
fn carry_ext4(part: &str, file_bytes: usize) {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    let directory = desk.path("");
    desk.succeed(&format!("nbd create disk.img --part {part} --bad-blocks 10"));
    let server = Served::start(&desk, "disk.img");
    let size: u64 = run(&directory, &["nbdinfo", "--size", &server.uri()]).trim().parse().unwrap();
    files(&directory, file_bytes);
    ext4(&directory, "files", size);
    run(&directory, &["nbdcopy", "--flush", "fs.img", &server.uri()]);
    let filled_kib = server.peak_kib();
    server.stop();

    let server = Served::start(&desk, "disk.img");
    let mount = server.greeting.lines().find(|line| line.starts_with("mounted")).unwrap().to_owned();
    run(&directory, &["nbdcopy", &server.uri(), "back.img"]);
    run(&directory, &["cmp", "fs.img", "back.img"]);
    let checked = run(&directory, &["/usr/sbin/e2fsck", "-fn", "back.img"]);
    assert!(checked.contains("files ("), "{checked}");
    let peak_kib = filled_kib.max(server.peak_kib());
    eprintln!("{part}: {size} bytes, {file_bytes} of them in files; {mount}; at most {peak_kib} KiB of memory");
    assert!(peak_kib < 300 << 10, "{peak_kib} KiB");
    server.stop();
    assert!(desk.succeed("nbd check disk.img").ends_with("sound\n"));
}

#[test]
fn an_ext4_is_carried_there_and_back() {
    carry_ext4("k9f2808", 8 << 20);
}

#[test]
fn an_ext4_on_a_part_of_1_gb_is_carried_there_and_back() {
    carry_ext4("k9k8g08", 40 << 20);
}

#[test]
fn fio_verifies_random_writes_behind_trims() {
    let engines = run(Path::new("/"), &["fio", "--enghelp"]);
    assert!(engines.contains("nbd"), "this fio was built without its nbd engine:\n{engines}");
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.succeed("nbd create disk.img --size 8M");
    let server = Served::start(&desk, "disk.img");
    let uri = format!("--uri={}", server.uri());
    let common = ["fio", "--name=norn", "--ioengine=nbd", &uri, "--iodepth=8", "--randseed=2004", "--size=8M"];
    let fio = |more: &[&str]| run(&desk.path(""), &[&common, more].concat());
    let verify = ["--verify=crc32c", "--verify_fatal=1", "--do_verify=1"];
    // Each block of the device in random order, then the same again in blocks that do not lie on pages.
    fio(&[&["--rw=randwrite", "--bs=4k", "--fsync=64"][..], &verify].concat());
    fio(&[&["--rw=randwrite", "--bs=768", "--io_size=4M"][..], &verify].concat());
    // Each block is trimmed before it is written anew.
    fio(&[&["--rw=randtrimwrite", "--bs=2k"][..], &verify].concat());
    fio(&["--rw=randtrim", "--bs=4k", "--io_size=2M"]);
    let said = server.stop();
    assert!(number_after(&said, "host's disk: ") > 30, "{said}");
    assert!(desk.succeed("nbd check disk.img").ends_with("sound\n"));
}

#[test]
fn fio_verification_notices_what_changed() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.succeed("nbd create disk.img --size 1M");
    let server = Served::start(&desk, "disk.img");
    let uri = format!("--uri={}", server.uri());
    let words = ["--name=norn", "--ioengine=nbd", &uri, "--size=1M", "--rw=write", "--bs=4k", "--verify=crc32c"];
    run(&desk.path(""), &[&["fio", "--do_verify=0"], &words[..]].concat());
    let (mut client, _) = server.client().greeted().go();
    assert_eq!(client.write(0, 700_000, b"someone was here").unwrap(), 0);
    let (succeeded, said) = attempt(&desk.path(""), &[&["fio", "--verify_only"], &words[..]].concat());
    assert!(!succeeded && said.contains("verify"), "{said}");
    server.stop();
}

#[test]
fn qemu_io_finds_its_patterns() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.succeed("nbd create disk.img --part mt29f2g08 --size 64M");
    let server = Served::start(&desk, "disk.img");
    let uri = server.uri();
    let qemu_io = |commands: &[&str]| {
        let words = commands.iter().flat_map(|command| ["-c", command]);
        let words: Vec<&str> = ["qemu-io", "-f", "raw", &uri].into_iter().chain(words).collect();
        let said = run(&desk.path(""), &words);
        assert!(!said.contains("failed"), "{said}");
        said
    };
    qemu_io(&["write -P 0xAB 0 1M", "write -P 0xCD 1000k 3k", "write -P 0x11 33554432 512", "flush"]);
    qemu_io(&["write -f -P 0xEE 5M 64k", "write -z -u 512k 100k", "write -z 5121k 1k", "discard 6M 1M"]);
    server.stop();
    let server = Served::start(&desk, "disk.img");
    let told = qemu_io(&[
        "read -P 0xAB 0 512k",
        "read -P 0 512k 100k",
        "read -P 0xAB 612k 388k",
        "read -P 0xCD 1000k 3k",
        "read -P 0xAB 1003k 21k",
        "read -P 0xEE 5M 1k",
        "read -P 0 5121k 1k",
        "read -P 0xEE 5122k 62k",
        "read -P 0x11 33554432 512",
        "read -P 0 33554944 512",
        "aio_write -P 0x77 60M 2M",
        "aio_flush",
        "read -P 0x77 60M 2M",
    ]);
    assert!(!told.contains("Pattern verification"), "{told}");
    let (succeeded, wrong) = attempt(&desk.path(""), &["qemu-io", "-f", "raw", "-c", "read -P 0x12 0 512", &uri]);
    assert!(!succeeded && wrong.contains("Pattern verification failed"), "a wrong pattern is noticed: {wrong}");
    server.stop();
}
