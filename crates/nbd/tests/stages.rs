//! What a supervisor hears of a conversation: each stage once, from the first byte of a message on, whatever pieces the
//! message arrives in. Deadlines therefore count for whole messages.

use std::cell::RefCell;
use std::io::{self, Read};

use norn_nbd::Stage::{Idle, Receiving, Sending, Serving};
use norn_nbd::{Dismissed, End, Export, RamStore, Stage, Supervisor, Unsupervised, converse};

/// Gives a byte at a time.
struct Trickle<'a>(&'a [u8]);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min(1);
        self.0.read(&mut buffer[..len])
    }
}

/// Records stages, and dismisses at one of them.
struct Record {
    stages: RefCell<Vec<Stage>>,
    dismiss_at: usize,
}

impl Record {
    fn until(dismiss_at: usize) -> Self {
        Record { stages: RefCell::default(), dismiss_at }
    }
}

impl Supervisor for Record {
    fn enter(&self, stage: Stage) -> Result<(), Dismissed> {
        let mut stages = self.stages.borrow_mut();
        stages.push(stage);
        if stages.len() > self.dismiss_at { Err(Dismissed) } else { Ok(()) }
    }
}

fn request(command: u16, len: u32) -> Vec<u8> {
    let numbers = [&0x2560_9513_u32.to_be_bytes()[..], &[0; 2], &command.to_be_bytes(), &[0; 16], &len.to_be_bytes()];
    numbers.concat()
}

/// A handshake, a write of 600,000 bytes, a read of them, and a disconnect.
fn script() -> Vec<u8> {
    let handshake = [&3u32.to_be_bytes()[..], b"IHAVEOPT\0\0\0\x07\0\0\0\x06\0\0\0\0\0\0"].concat();
    [handshake, request(1, 600_000), vec![7; 600_000], request(0, 600_000), request(2, 0)].concat()
}

#[test]
fn a_stage_is_reported_once_however_its_bytes_arrive() {
    let export = Export::new(RamStore::new(600_000));
    let record = Record::until(usize::MAX);
    assert_eq!(converse(Trickle(&script()), io::sink(), &export, &record).unwrap(), End::Disconnected);
    let message = [Idle, Receiving, Serving, Sending];
    assert_eq!(*record.stages.borrow(), [&message[..], &message, &message[..3]].concat());
    assert!(export.into_store().bytes().iter().all(|&byte| byte == 7));
}

#[test]
fn requests_that_were_read_ahead_leave_no_idle_moment() {
    let export = Export::new(RamStore::new(4096));
    let record = Record::until(usize::MAX);
    let handshake = [&3u32.to_be_bytes()[..], b"IHAVEOPT\0\0\0\x07\0\0\0\x06\0\0\0\0\0\0"].concat();
    let sent = [handshake, request(0, 5), request(0, 5), request(2, 0)].concat();
    converse(&sent[..], io::sink(), &export, &record).unwrap();
    assert!(!record.stages.borrow().contains(&Idle), "{record:?}", record = record.stages.borrow());
}

#[test]
fn nothing_is_carried_out_after_a_dismissal() {
    for dismiss_at in 0..11 {
        let export = Export::new(RamStore::new(600_000));
        let mut said = Vec::new();
        let end = converse(Trickle(&script()), &mut said, &export, &Record::until(dismiss_at)).unwrap();
        assert_eq!(end, End::Dismissed, "at {dismiss_at}");
        let is_written = export.into_store().bytes()[0] == 7;
        assert_eq!(is_written, dismiss_at > 2, "at {dismiss_at}");
        // The greeting and the handshake's answer, the reply to the write, that to the read.
        let replies = [70, 70 + 16, 70 + 2 * 16 + 600_000][(dismiss_at + 4) / 4 - 1];
        assert_eq!(said.len(), replies, "at {dismiss_at}");
    }
    let export = Export::new(RamStore::new(600_000));
    assert_eq!(converse(&script()[..], io::sink(), &export, &Unsupervised).unwrap(), End::Disconnected);
}
