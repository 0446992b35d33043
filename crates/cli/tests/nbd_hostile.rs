//! The block device server and clients that are wrong, rude or gone: each gets the protocol's error or a closed
//! connection, the next one is served, and memory stays bounded. What is durable when is counted, and the server stops
//! as it should.

use crate::nbd;

use std::io::Write;
use std::sync::mpsc::channel;
use std::thread;

use nbd::*;
use norn_desk::Desk;
use norn_nbd::{CLIENTS_MAX, HANDSHAKE_TIME, MESSAGE_TIME};

const UNSUPPORTED: u32 = (1 << 31) + 1;
const INVALID: u32 = (1 << 31) + 3;
const UNKNOWN: u32 = (1 << 31) + 6;
const TOO_BIG: u32 = (1 << 31) + 9;

/// A served device of 4 MiB on the 16 MB part, with pages of 512 bytes.
fn served(desk: &Desk) -> Served {
    desk.succeed("nbd create disk.img --size 4M --bad-blocks 20");
    Served::start(desk, "disk.img")
}

#[test]
fn wrong_handshakes_are_answered_or_hung_up_on() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    let server = served(&desk);
    let garbage = |bytes: &[u8]| {
        let mut client = server.client();
        client.receive(18).unwrap();
        // The server may have hung up before all of it is written.
        let _ = client.send(bytes);
        client.expect_hang_up();
    };
    garbage(&[0xFF; 4]);
    garbage(&[[0, 0, 0, 3].as_slice(), b"GET / HTTP/1.1\r\n\r\n"].concat());
    garbage(&[[0, 0, 0, 3].as_slice(), &[0xFF; 16]].concat());
    // EXPORT_NAME of something else, for which the protocol has no answer.
    garbage(&[[0, 0, 0, 3].as_slice(), b"IHAVEOPT", &[0, 0, 0, 1, 0, 0, 0, 1], b"x"].concat());

    let mut client = server.client().greeted();
    for option in [5, 8, 9, 10, 11, 4, 99, u32::MAX] {
        client.option(option, b"");
        assert_eq!(client.option_reply(option).0, UNSUPPORTED, "option {option}");
    }
    client.option(3, b"LIST has no data");
    assert_eq!(client.option_reply(3).0, INVALID);
    for data in [&b""[..], &[0; 5], &[0; 7], &[0xFF; 6], &[0, 0, 0, 0, 0, 9, 0, 3], &[0, 0, 0, 9, b'x', 0, 0]] {
        for option in [6, 7] {
            client.option(option, data);
            assert_eq!(client.option_reply(option).0, INVALID, "{data:?}");
        }
    }
    client.option(7, &[0, 0, 0, 1, b'x', 0, 0]);
    assert_eq!(client.option_reply(7).0, UNKNOWN);
    client.option(6, &vec![0; 1 << 20]);
    assert_eq!(client.option_reply(6).0, TOO_BIG);
    client.option(2, b"");
    assert_eq!(client.option_reply(2).0, 1);
    client.expect_hang_up();
    server.stop();
}

#[test]
fn export_name_list_and_info_tell_what_there_is() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    let server = served(&desk);
    for (flags, zeros) in [(1u32, 124), (3, 0)] {
        let mut client = server.client();
        client.receive(18).unwrap();
        client.send(&flags.to_be_bytes()).unwrap();
        client.option(3, b"");
        assert_eq!(client.option_reply(3), (2, vec![0; 4]));
        assert_eq!(client.option_reply(3), (1, vec![]));
        client.option(6, &[0, 0, 0, 0, 0, 1, 0, 3]);
        assert_eq!(client.option_reply(6).1.len(), 12);
        let sizes = [1u32, 512, 32 << 20].map(u32::to_be_bytes).concat();
        assert_eq!(client.option_reply(6), (3, [&[0, 3], &sizes[..]].concat()));
        assert_eq!(client.option_reply(6), (1, vec![]));
        client.option(1, b"");
        let told = client.receive(10 + zeros).unwrap();
        assert_eq!(told[..8], (4u64 << 20).to_be_bytes());
        assert_eq!(told[8..10], 0b1_0110_1101_u16.to_be_bytes());
        assert_eq!(client.read(0, 3), [0; 3]);
        client.request(DISCONNECT, 0, 0, 0, &[]).unwrap();
        client.expect_hang_up();
    }
    server.stop();
}

#[test]
fn wrong_requests_are_answered_and_change_nothing() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    let server = served(&desk);
    let (mut client, size) = server.client().greeted().go();
    assert_eq!(size, 4 << 20);
    assert_eq!(client.write(0, size - 700, &[5; 700]).unwrap(), 0);
    assert_eq!(client.write(0, size - 699, &[6; 700]).unwrap(), ENOSPC);
    assert_eq!(client.write(0, u64::MAX, &[6; 700]).unwrap(), ENOSPC);
    assert_eq!(client.ask(WRITE_ZEROES, 0, size, 1).unwrap(), ENOSPC);
    assert_eq!(client.ask(WRITE_ZEROES, 0, 1, u32::MAX).unwrap(), ENOSPC);
    for (at, len) in [(size, 1), (0, size as u32 + 1), (u64::MAX, 1), (0, u32::MAX), (u64::MAX - 5, 6)] {
        assert_eq!(client.ask(READ, 0, at, len).unwrap(), EINVAL, "{len} at {at}");
        assert_eq!(client.ask(TRIM, 0, at, len).unwrap(), EINVAL, "{len} at {at}");
    }
    for command in [5, 7, 8, 99, u16::MAX] {
        assert_eq!(client.ask(command, 0, 0, 0).unwrap(), EINVAL, "command {command}");
    }
    for (command, flags) in [(READ, 4), (TRIM, NO_HOLE), (FLUSH, 1 << 15), (WRITE_ZEROES, 16)] {
        assert_eq!(client.ask(command, flags, 0, 0).unwrap(), EINVAL, "command {command}, flags {flags}");
    }
    assert_eq!(client.ask(FLUSH, 0, 1, 0).unwrap(), EINVAL);
    assert_eq!(client.write(8, 0, &[6; 512]).unwrap(), EINVAL);
    assert_eq!(client.read(size - 700, 700), [5; 700]);
    assert_eq!(client.read(0, 512), [0; 512]);

    let mut garbage = server.client().greeted().go().0;
    garbage.send(&[0xFF; 28]).unwrap();
    garbage.expect_hang_up();
    let mut long = server.client().greeted().go().0;
    long.request(WRITE, 0, 0, u32::MAX, &[]).unwrap();
    long.expect_hang_up();
    // Half a write, and gone: nothing of it is done.
    let mut half = server.client().greeted().go().0;
    half.request(WRITE, 0, 0, 4096, &[9; 2048]).unwrap();
    drop(half);
    assert_eq!(client.read(0, 4096), vec![0; 4096]);
    server.stop();
}

#[test]
fn half_handshakes_end_and_crowds_leave_room_with_bounded_memory() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    let server = served(&desk);
    let (mut idle, _) = server.client().greeted().go();
    assert_eq!(idle.read(5, 5), [0; 5]);
    let mut silent = server.client();
    silent.receive(18).unwrap();
    // An option of 4 GiB that is sent without an end is passed over, not kept, until time is up.
    let mut endless = server.client().greeted();
    endless.send(&[b"IHAVEOPT".as_slice(), &7u32.to_be_bytes(), &u32::MAX.to_be_bytes()].concat()).unwrap();
    let flood = thread::spawn(move || while endless.stream.write_all(&[0; 1 << 16]).is_ok() {});
    // All others announce writes of 32 MiB and send a little.
    let mut writers: Vec<Client> = (3..CLIENTS_MAX).map(|_| server.client().greeted().go().0).collect();
    for writer in &mut writers {
        writer.request(WRITE, 0, 0, 32 << 20, &[1; 100]).unwrap();
    }
    // One more gets the place of one who does nothing, or of a handshake whose time is up.
    let (mut next, _) = server.client().greeted().go();
    assert_eq!(next.ask(FLUSH, 0, 0, 0).unwrap(), 0);
    silent.expect_hang_up();
    flood.join().unwrap();
    assert!(server.peak_kib() < 64 << 10, "{} KiB", server.peak_kib());
    drop(writers);
    server.stop();
}

#[test]
fn idle_clients_keep_no_others_out() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    let server = served(&desk);
    let mut idle: Vec<Client> = (0..CLIENTS_MAX).map(|_| server.client().greeted().go().0).collect();
    let mut new: Vec<Client> = (0..CLIENTS_MAX)
        .map(|_| {
            let mut client = server.client().greeted().go().0;
            assert_eq!(client.read(5, 5), [0; 5]);
            client
        })
        .collect();
    idle.iter_mut().for_each(Client::expect_hang_up);
    assert_eq!(new[0].read(5, 5), [0; 5]);
    server.stop();
}

#[test]
fn the_help_names_the_limits() {
    let help = Desk::of(env!("CARGO_BIN_EXE_norn")).succeed("nbd serve --help");
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let (handshake, message) = (HANDSHAKE_TIME.as_secs(), MESSAGE_TIME.as_secs());
    for limit in [
        format!("up to {CLIENTS_MAX} clients"),
        format!("{handshake} seconds for its handshake"),
        format!("{message} seconds for each request"),
    ] {
        assert!(words.contains(&limit), "{limit:?} is not in {words}");
    }
}

#[test]
fn flush_and_fua_wait_for_the_hosts_disk_and_connections_see_each_other() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    let waits = |requests: &dyn Fn(&mut Client, &mut Client)| {
        let server = Served::start(&desk, "disk.img");
        let (mut one, _) = server.client().greeted().go();
        let (mut other, _) = server.client().greeted().go();
        requests(&mut one, &mut other);
        number_after(&server.stop(), "host's disk: ")
    };
    served(&desk).stop();
    let none = waits(&|one, other| {
        assert_eq!(one.write(0, 3, b"written here").unwrap(), 0);
        assert_eq!(other.read(3, 12), b"written here");
    });
    let flushes = waits(&|one, other| {
        assert_eq!(one.write(0, 512, &[8; 512]).unwrap(), 0);
        (0..7).for_each(|_| assert_eq!(other.ask(FLUSH, 0, 0, 0).unwrap(), 0));
    });
    let forced = waits(&|one, other| {
        assert_eq!(one.write(FUA, 0, &[8; 100]).unwrap(), 0);
        assert_eq!(one.ask(TRIM, FUA, 0, 512).unwrap(), 0);
        assert_eq!(one.ask(WRITE_ZEROES, FUA, 0, 5).unwrap(), 0);
        assert_eq!(one.ask(WRITE_ZEROES, FUA | NO_HOLE, 1024, 100_000).unwrap(), 0);
        assert_eq!(other.ask(READ, FUA, 0, 0).unwrap(), 0);
        assert_eq!(other.write(FUA, 4 << 20, &[0]).unwrap(), ENOSPC);
    });
    assert_eq!((none, flushes, forced), (1, 8, 5), "one of each for the stop");
}

#[test]
fn signals_stop_the_server_and_what_was_answered_is_there() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.succeed("nbd create disk.img --size 4M");
    for (round, signal) in (0..).zip(["TERM", "INT"]) {
        let server = Served::start(&desk, "disk.img");
        let (mut idle, _) = server.client().greeted().go();
        let (mut busy, _) = server.client().greeted().go();
        let mut half = server.client();
        half.receive(18).unwrap();
        let (answers, first_answers) = channel();
        let load = thread::spawn(move || {
            let write = |number: &u64| {
                let is_answered = busy.write(0, number % 8192 * 512, &number.to_be_bytes()).is_ok();
                // Nobody listens any more when the server has been told to stop.
                let _ = answers.send(());
                is_answered
            };
            (0..).take_while(write).count()
        });
        first_answers.iter().take(200).for_each(drop);
        let socket = server.socket.clone();
        let (code, said) = server.signal(signal);
        assert_eq!(code, Some(0), "{said}");
        assert!(!socket.exists());
        idle.expect_hang_up();
        half.expect_hang_up();
        let answered = load.join().unwrap() as u64;
        assert!(answered > 0, "round {round}");

        let server = Served::start(&desk, "disk.img");
        let (mut client, _) = server.client().greeted().go();
        for number in answered.saturating_sub(8192)..answered {
            let found = client.read(number % 8192 * 512, 8);
            // One more may have been done whose answer was lost.
            let next = (number + 8192).to_be_bytes();
            assert!(
                found == number.to_be_bytes() || (number + 8192 == answered && found == next),
                "{number} of {answered}"
            );
        }
        server.stop();
    }
    assert!(desk.succeed("nbd check disk.img").ends_with("sound\n"));
}

#[test]
fn mistakes_are_named() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn"));
    desk.fail("nbd create disk.img --size 1G", &["disk.img", "k9f2808", "1073741824"]);
    desk.fail("nbd create disk.img --size 4097", &["4097", "4096"]);
    desk.fail("nbd create disk.img --size 4X", &["4X"]);
    desk.fail("nbd create disk.img --bad-blocks 60000", &["60000"]);
    desk.fail("nbd create disk.img --part flux", &["flux", "k9k8g08"]);
    assert!(!desk.path("disk.img").exists());
    desk.succeed("nbd create disk.img");
    desk.fail("nbd create disk.img", &["disk.img", "never overwritten"]);
    desk.fail("nbd serve disk.img --listen 0.0.0.0:10809", &["0.0.0.0", "loopback"]);
    desk.fail("nbd serve disk.img --listen nowhere", &["nowhere", "unix:PATH"]);
    desk.write("plain", "of somebody");
    let no_socket = "plain: what is there is no socket, and stays as it is; name another path";
    desk.fail("nbd serve disk.img --listen unix:plain", &["disk.img", no_socket]);
    assert_eq!(std::fs::read(desk.path("plain")).unwrap(), b"of somebody");
    desk.fail("nbd serve disk.img --listen unix:no/such/dir", &["disk.img", "no/such/dir"]);
    desk.fail("nbd serve missing.img", &["missing.img"]);
    desk.write("other.img", [7; 9000]);
    desk.fail("nbd serve other.img", &["other.img"]);
    desk.fail("nbd check other.img", &["other.img"]);
    let server = Served::start(&desk, "disk.img");
    desk.fail("nbd serve disk.img --listen unix:second.sock", &["disk.img"]);
    desk.succeed("nbd create second.img");
    desk.fail(
        "nbd serve second.img --listen unix:norn.sock",
        &["second.img", "norn.sock: another program listens there; name another path"],
    );
    server.stop();
    let tcp = Served::listening(&desk, "disk.img", "localhost:0");
    assert!(tcp.greeting.contains("nbd://127.0.0.1:"), "{}", tcp.greeting);
    tcp.stop();
}
