//! A scripted peer gets the answers of the protocol, whatever it sends; APDUs of every case and length are taken apart
//! and nothing else is; T=0 gives the same data as T=1 does, however they are fetched.

use crate::echo;

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use echo::{AS_MANY, COUNTS, Echo, pattern};
use norn_card_transport::{CardIo, Command, EXTENDED_MAX, Ended, Link, Malformed, Power, T0, T1, VpcdError, serve};

const ATR: &[u8] = &[0x3B, 0x80, 0x01, 0x81];

fn message(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u16).to_be_bytes(), bytes].concat()
}

/// The messages in what a card sent; panics where there is a rest.
fn messages(mut sent: &[u8]) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    while let Some((length, rest)) = sent.split_first_chunk::<2>() {
        let (message, rest) = rest.split_at(usize::from(u16::from_be_bytes(*length)));
        messages.push(message.to_vec());
        sent = rest;
    }
    assert!(sent.is_empty());
    messages
}

/// A peer that sends a few bytes at a time, with silences in between where `None` is.
struct Slow(VecDeque<Option<Vec<u8>>>);

impl Read for Slow {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self.0.pop_front() {
            None => Ok(0),
            Some(None) => Err(io::ErrorKind::WouldBlock.into()),
            Some(Some(mut piece)) => {
                let count = piece.len().min(bytes.len());
                bytes[..count].copy_from_slice(&piece[..count]);
                let rest = piece.split_off(count);
                if !rest.is_empty() {
                    self.0.push_front(Some(rest));
                }
                Ok(count)
            }
        }
    }
}

fn answers(card: &mut impl CardIo, sent: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut answers = Vec::new();
    let sent: Vec<u8> = sent.iter().flat_map(|bytes| message(bytes)).collect();
    assert_eq!(serve(&sent[..], &mut answers, card).unwrap(), Ended::Closed);
    messages(&answers)
}

#[test]
fn controls_change_the_supply_and_only_the_atr_is_answered() {
    let mut card = Echo::new(ATR);
    let sent: [&[u8]; 9] = [&[4], &[0x00, COUNTS, 0, 0], &[1], &[2], &[2], &[4], &[], &[7], &[0x00, COUNTS, 0, 0, 0]];
    let expected: [&[u8]; 4] = [ATR, &[0x6F, 0x00], ATR, &[0, 1, 2, 0x90, 0x00]];
    assert_eq!(answers(&mut card, &sent), expected);
    assert_eq!(card.counts, [1, 1, 2], "a card that is left is without power");
}

#[test]
fn a_message_may_come_byte_by_byte_and_silence_before_it_is_no_error() {
    let pieces = [Some(vec![0]), Some(vec![1]), Some(vec![1]), None, None, Some(vec![0, 5, 0]), Some(vec![1, 0, 0, 0])];
    let mut answers = Vec::new();
    serve(Slow(pieces.into()), &mut answers, &mut Echo::new(ATR)).unwrap();
    assert_eq!(messages(&answers), [[0x90, 0x00]]);
}

#[test]
fn silence_and_an_end_within_a_message_are_errors_and_take_the_supply() {
    for (last, kind) in [(Some(None), io::ErrorKind::WouldBlock), (None, io::ErrorKind::UnexpectedEof)] {
        let mut card = Echo::new(ATR);
        let pieces = [Some(vec![0, 1, 1, 0, 5, 9, 9])].into_iter().chain(last).collect();
        match serve(Slow(pieces), io::sink(), &mut card) {
            Err(VpcdError::BrokenOff { announced: 7, arrived: 4, source }) => assert_eq!(source.kind(), kind),
            other => panic!("{other:?}"),
        }
        assert_eq!(card.counts, [1, 1, 0]);
    }
}

#[test]
fn an_answer_that_no_message_holds_becomes_6f00() {
    let mut card = Echo::new(ATR);
    let sent: [&[u8]; 3] = [&[1], &[0, AS_MANY, 0xFF, 0xFD, 0], &[0, AS_MANY, 0xFF, 0xFE, 0]];
    let answers = answers(&mut card, &sent);
    assert_eq!((answers[0].len(), &answers[1][..]), (65_535, &[0x6F, 0x00][..]));
}

/// The bytes of a command.
fn bytes_of(command: Command) -> Vec<u8> {
    let Command { header, data, expected, extended } = command;
    let mut bytes = header.to_vec();
    if extended {
        bytes.push(0);
    }
    if !data.is_empty() {
        let length = (data.len() as u16).to_be_bytes();
        bytes.extend(if extended { &length[..] } else { &length[1..] });
        bytes.extend(data);
    }
    if let Some(expected) = expected {
        let le = (expected as u16).to_be_bytes();
        bytes.extend(if extended { &le[..] } else { &le[1..] });
    }
    bytes
}

fn extended(header: [u8; 4], data: &[u8], expected: Option<u32>) -> Vec<u8> {
    bytes_of(Command { header, data, expected, extended: true })
}

fn envelope(part: &[u8]) -> Vec<u8> {
    bytes_of(Command { header: [0, 0xC2, 0, 0], data: part, expected: None, extended: false })
}

#[test]
fn every_case_of_every_length_is_taken_apart_and_nothing_else_is() {
    let header = [0x80, 1, 2, 3];
    for length in (0..=260).chain([0x7FFF, 0xFFFF]) {
        let data = vec![0xA5; length];
        for expected in [None, Some(1), Some(255), Some(256), Some(257), Some(65_536)] {
            for extended in [false, true] {
                let short_fits = length <= 255 && expected.is_none_or(|expected| expected <= 256);
                if (!extended && !short_fits) || (extended && data.is_empty() && expected.is_none()) {
                    continue;
                }
                let bytes = bytes_of(Command { header, data: &data, expected, extended });
                assert!(bytes.len() <= EXTENDED_MAX);
                assert_eq!(Command::parse(&bytes), Ok(Command { header, data: &data, expected, extended }));
                let longer = [&bytes[..], &[1, 1, 1]].concat();
                assert_ne!(Command::parse(&longer).map(|c| (c.data.len(), c.extended)), Ok((length, extended)));
                if length > 1 {
                    let within = if extended { 6 } else { 4 } + length;
                    assert_eq!(Command::parse(&bytes[..within]), Err(Malformed::Short(within)));
                }
            }
        }
    }
    assert_eq!(Command::parse(&[0, 0, 0]), Err(Malformed::Short(3)));
    assert_eq!(Command::parse(&[0, 0, 0, 0, 0, 0]), Err(Malformed::Short(6)));
    assert_eq!(Command::parse(&[0, 0, 0, 0, 0, 0, 0, 1]), Err(Malformed::Empty));
    assert_eq!(Command::parse(&[0, 0, 0, 0, 1, 0, 0, 0]), Err(Malformed::Long(8)));
}

#[test]
fn t1_hands_over_what_is_an_apdu_and_refuses_the_rest() {
    let mut card = T1::new(Echo::new(ATR));
    let mut answer = Vec::new();
    card.transmit(&[0, 1, 0, 0, 2, 7], &mut answer);
    assert_eq!(answer, [0x67, 0x00]);
    answer.clear();
    let data = pattern(60_000);
    card.transmit(&extended([0, 1, 0, 0], &data, Some(65_536)), &mut answer);
    assert_eq!(answer, [&data[..], &[0x90, 0x00]].concat());
    assert_eq!(card.into_inner().commands.len(), 1);
}

fn t0() -> T0<Echo> {
    let mut card = T0::new(Echo::new(&[0x3B, 0x00]));
    card.power(Power::On);
    card
}

fn say(card: &mut T0<Echo>, command: &[u8]) -> Vec<u8> {
    let mut answer = Vec::new();
    card.transmit(command, &mut answer);
    answer
}

#[test]
fn t0_answers_each_case() {
    let card = &mut t0();
    assert_eq!(say(card, &[0, 1, 0, 0]), [0x90, 0x00]);
    assert_eq!(say(card, &[0, AS_MANY, 0, 3, 3]), [0, 1, 2, 0x90, 0x00]);
    assert_eq!(say(card, &[0, AS_MANY, 0, 3, 0]), [0x6C, 3]);
    assert_eq!(say(card, &[0, AS_MANY, 0, 3, 3]), [0, 1, 2, 0x90, 0x00]);
    assert_eq!(say(card, &[0, AS_MANY, 0, 3, 2]), [0, 1, 0x61, 1]);
    assert_eq!(say(card, &[0, 0xC0, 0, 0, 1]), [2, 0x90, 0x00]);
    assert_eq!(say(card, &[0, 1, 0, 0, 2, 8, 9]), [0x61, 2]);
    assert_eq!(say(card, &[0, 0xC0, 0, 0, 0]), [0x6C, 2]);
    assert_eq!(say(card, &[0, 0xC0, 0, 0, 2]), [8, 9, 0x90, 0x00]);
    assert_eq!(say(card, &[0, 1, 0, 0, 2, 8]), [0x67, 0x00]);
    assert_eq!(say(card, &[0, 1]), [0x67, 0x00]);
    let lengths: Vec<_> = std::mem::replace(card, t0()).into_inner().commands.iter().map(Vec::len).collect();
    assert_eq!(lengths, [4, 5, 5, 5, 8], "what waits is not asked for again, and GET RESPONSE is not the card's");
}

#[test]
fn what_waits_under_t0_ends_with_another_command_and_with_the_supply() {
    for end in [Some(Power::Reset), Some(Power::Off), None] {
        let card = &mut t0();
        assert_eq!(say(card, &[0, 1, 0, 0, 2, 8, 9]), [0x61, 2]);
        match end {
            Some(power) => card.power(power),
            None => assert_eq!(say(card, &[0, 1, 0, 0]), [0x90, 0x00]),
        }
        assert_eq!(say(card, &[0, 0xC0, 0, 0, 2]), [0x90, 0x00], "the card's own answer to GET RESPONSE");
    }
}

/// Fetches an answer under T=0, at most `at_most` bytes at a time.
fn fetch_all(card: &mut T0<Echo>, first: &[u8], at_most: u8) -> Vec<u8> {
    let mut data = Vec::new();
    let mut answer = say(card, first);
    loop {
        let status = answer.split_off(answer.len() - 2);
        data.extend(&answer);
        let le = match status[0] {
            0x61 | 0x6C if status[1] != 0 && (at_most == 0 || status[1] < at_most) => status[1],
            0x61 => at_most,
            _ => return [&data[..], &status].concat(),
        };
        answer = say(card, &[0, 0xC0, 0, 0, le]);
    }
}

#[test]
fn t0_gives_answers_of_every_length_however_they_are_fetched() {
    for length in (0..=600).chain([4_095, 32_767, 65_000]) {
        let [high, low] = (length as u16).to_be_bytes();
        for at_most in [0, 1, 100, 255] {
            if length > 600 && at_most == 1 {
                continue;
            }
            let answer = fetch_all(&mut t0(), &[0, AS_MANY, high, low, 1, 7], at_most);
            assert_eq!(answer, [&pattern(length)[..], &[0x90, 0x00]].concat(), "{length} by {at_most}");
        }
    }
}

#[test]
fn extended_commands_come_in_envelopes_under_t0() {
    for (length, expected) in [(1, None), (300, None), (300, Some(65_536)), (40_000, Some(65_536))] {
        let data = pattern(length);
        let whole = extended([0x80, 1, 2, 3], &data, expected);
        let card = &mut t0();
        // The lengths and the first byte come together, and so do the last one and Le.
        let mut parts: Vec<&[u8]> = whole.chunks(200).collect();
        if whole.len() % 200 <= 2 && parts.len() > 1 {
            parts.truncate(parts.len() - 2);
            parts.push(&whole[200 * parts.len()..]);
        }
        let (last, before) = parts.split_last().unwrap();
        for part in before {
            assert_eq!(say(card, &envelope(part)), [0x90, 0x00]);
        }
        let answer = fetch_all(card, &envelope(last), 0);
        let echoed = if expected.is_some() { &data[..] } else { &[] };
        assert_eq!(answer, [echoed, &[0x90, 0x00]].concat());
        assert_eq!(std::mem::replace(card, t0()).into_inner().commands, [whole]);
    }
}

#[test]
fn hostile_bytes_end_the_conversation_or_are_answered() {
    let seed = std::env::var("NORN_SEED").map_or_else(|_| fastrand::u64(..), |text| text.parse().unwrap());
    println!("NORN_SEED={seed} cargo test -p norn-card-transport --test suite protocol::hostile");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..20_000 {
        let mut sent = Vec::new();
        for _ in 0..random.usize(..12) {
            let mut bytes: Vec<u8> = (0..random.usize(..16)).map(|_| random.u8(..) & random.u8(..)).collect();
            if random.bool() {
                bytes = [&[0, *random.choice(&[0xC0, 0xC2, AS_MANY]).unwrap(), 0, 0], &bytes[..]].concat();
            }
            sent.extend(message(if random.u8(..3) == 0 { &[1] } else { &bytes }));
        }
        for _ in 0..random.usize(..3).min(sent.len()) {
            let at = random.usize(..sent.len());
            sent[at] ^= 1 << random.u8(..8);
        }
        let mut answers = Vec::new();
        let card = Echo::new(ATR);
        let end = match random.bool() {
            true => serve(&sent[..], &mut answers, &mut T0::new(card)),
            false => serve(&sent[..], &mut answers, &mut T1::new(card)),
        };
        assert!(matches!(end, Ok(Ended::Closed) | Err(VpcdError::BrokenOff { .. })), "{end:?}");
        assert!(messages(&answers).iter().all(|answer| answer.len() >= 2));
    }
}

/// How a conversation ended, and the counts of the supply.
type Served = (Result<Ended, VpcdError>, [u8; 3]);

/// A connection, the card's end in a thread.
fn connected(patience: Duration) -> (TcpStream, JoinHandle<Served>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let card = std::thread::spawn(move || {
        let link = Link::dial(address, patience).unwrap();
        let mut card = Echo::new(ATR);
        (serve(&link, &link, &mut card), card.counts)
    });
    (listener.accept().unwrap().0, card)
}

#[test]
fn a_card_over_tcp_outlives_silence_and_leaves_a_peer_that_stops_within_a_message() {
    let (mut peer, card) = connected(Duration::from_millis(50));
    peer.write_all(&message(&[1])).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    peer.write_all(&message(&[4])).unwrap();
    let mut atr = [0; 6];
    peer.read_exact(&mut atr).unwrap();
    assert_eq!(&atr[2..], ATR);
    peer.write_all(&[0, 5, 0]).unwrap();
    let (end, counts) = card.join().unwrap();
    assert!(matches!(end, Err(VpcdError::BrokenOff { announced: 7, arrived: 3, .. })), "{end:?}");
    assert_eq!(counts, [1, 1, 0]);
}

#[test]
fn no_command_waits_for_a_delayed_acknowledgement() {
    let (mut peer, card) = connected(Duration::from_secs(5));
    peer.write_all(&message(&[1])).unwrap();
    let mut fastest = Duration::MAX;
    for _ in 0..20 {
        let begin = Instant::now();
        // As vpcd does: the length and the bytes apart, without TCP_NODELAY.
        peer.write_all(&[0, 5]).unwrap();
        peer.write_all(&[0, AS_MANY, 0, 1, 1]).unwrap();
        let mut answer = [0; 5];
        peer.read_exact(&mut answer).unwrap();
        assert_eq!(answer, [0, 3, 0, 0x90, 0x00]);
        fastest = fastest.min(begin.elapsed());
    }
    assert!(fastest < Duration::from_millis(30), "{fastest:?}");
    drop(peer);
    assert!(matches!(card.join().unwrap().0, Ok(Ended::Closed)));
}

#[test]
fn a_card_that_listens_is_served_as_one_that_dials() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    peer.write_all(&[message(&[1]), message(&[0, COUNTS, 0, 0, 3])].concat()).unwrap();
    peer.shutdown(std::net::Shutdown::Write).unwrap();
    let link = Link::accept(&listener, Duration::from_secs(5)).unwrap();
    let mut card = T0::new(Echo::new(&[0x3B, 0x00]));
    assert_eq!(serve(&link, &link, &mut card).unwrap(), Ended::Closed);
    let mut answer = [0; 7];
    peer.read_exact(&mut answer).unwrap();
    assert_eq!(answer, [0, 5, 0, 1, 0, 0x90, 0x00]);
}
