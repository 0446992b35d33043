//! Data in pieces of any length, on many objects at once, with resets and power cuts between the pieces: results are
//! those of all data at once, by the crates `aes`, `des`, `sha1` and `sha2`.
//!
//! Chaining, padding and codes are computed here from the standards, and nothing of the card's is used.

use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use norn_card_vm::Card;
use norn_conformance::{Run, seeds};
use norn_flash_sim::Tear;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

use crate::given::{
    CHECKSUM, CIPHER, DECRYPT, DIGEST, ENCRYPT, FINISH, GIVEN, INIT, MAKE, SIGN, SIGNATURE, UPDATE, VERIFY,
    card_with_given, command, key, order, verifies_by,
};
use crate::{TestCard, cut_after, mounted, select, send, status, unmounted};

/// Types of keys on flash, of `KeyBuilder`.
const KEY_OF_DES: u8 = 3;
const KEY_OF_AES: u8 = 15;
const KEY_OF_HMAC: u8 = 21;

/// Added to an instruction: in a transaction that is aborted.
const ABORTED: u8 = 0x40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Padding {
    /// Whole blocks.
    Nothing,
    Zeros,
    /// 80 and zeros.
    Method2,
    Pkcs5,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Aes,
    Des,
}

impl Block {
    fn bytes(self) -> usize {
        if self == Block::Aes { 16 } else { 8 }
    }

    fn encrypt(self, key: &[u8], block: &mut [u8]) {
        match (self, key.len()) {
            (Block::Aes, 16) => aes::Aes128::new_from_slice(key).unwrap().encrypt_block(block.try_into().unwrap()),
            (Block::Aes, 24) => aes::Aes192::new_from_slice(key).unwrap().encrypt_block(block.try_into().unwrap()),
            (Block::Aes, _) => aes::Aes256::new_from_slice(key).unwrap().encrypt_block(block.try_into().unwrap()),
            (Block::Des, 8) => des::Des::new_from_slice(key).unwrap().encrypt_block(block.try_into().unwrap()),
            (Block::Des, 16) => des::TdesEde2::new_from_slice(key).unwrap().encrypt_block(block.try_into().unwrap()),
            (Block::Des, _) => des::TdesEde3::new_from_slice(key).unwrap().encrypt_block(block.try_into().unwrap()),
        }
    }
}

/// What an object does, and the number that the API has for it.
#[derive(Clone, Copy, Debug)]
enum What {
    Hash(u8),
    Hmac(u8),
    Cipher(u8, Block, Chain, Padding),
    /// CBC-MAC, of which so many bytes are given.
    Code(u8, Block, Padding, usize),
    /// CBC-MAC of a single DES, whose last block is decrypted by the second key and encrypted by the third.
    Retail(u8, Padding, usize),
    Cmac,
    Crc(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chain {
    Ecb,
    Cbc,
    Counter,
}

const ALL: [What; 41] = [
    What::Hash(1),
    What::Hash(4),
    What::Hash(5),
    What::Hash(6),
    What::Hash(7),
    What::Hmac(24),
    What::Hmac(25),
    What::Hmac(26),
    What::Hmac(27),
    What::Cipher(1, Block::Des, Chain::Cbc, Padding::Nothing),
    What::Cipher(2, Block::Des, Chain::Cbc, Padding::Zeros),
    What::Cipher(3, Block::Des, Chain::Cbc, Padding::Method2),
    What::Cipher(4, Block::Des, Chain::Cbc, Padding::Pkcs5),
    What::Cipher(5, Block::Des, Chain::Ecb, Padding::Nothing),
    What::Cipher(6, Block::Des, Chain::Ecb, Padding::Zeros),
    What::Cipher(7, Block::Des, Chain::Ecb, Padding::Method2),
    What::Cipher(8, Block::Des, Chain::Ecb, Padding::Pkcs5),
    What::Cipher(13, Block::Aes, Chain::Cbc, Padding::Nothing),
    What::Cipher(14, Block::Aes, Chain::Ecb, Padding::Nothing),
    What::Cipher(22, Block::Aes, Chain::Cbc, Padding::Zeros),
    What::Cipher(23, Block::Aes, Chain::Cbc, Padding::Method2),
    What::Cipher(24, Block::Aes, Chain::Cbc, Padding::Pkcs5),
    What::Cipher(25, Block::Aes, Chain::Ecb, Padding::Zeros),
    What::Cipher(26, Block::Aes, Chain::Ecb, Padding::Method2),
    What::Cipher(27, Block::Aes, Chain::Ecb, Padding::Pkcs5),
    What::Cipher(0xF0, Block::Aes, Chain::Counter, Padding::Nothing),
    What::Code(1, Block::Des, Padding::Nothing, 4),
    What::Code(2, Block::Des, Padding::Nothing, 8),
    What::Code(3, Block::Des, Padding::Zeros, 4),
    What::Code(4, Block::Des, Padding::Zeros, 8),
    What::Code(5, Block::Des, Padding::Method2, 4),
    What::Code(6, Block::Des, Padding::Method2, 8),
    What::Code(7, Block::Des, Padding::Pkcs5, 4),
    What::Code(8, Block::Des, Padding::Pkcs5, 8),
    What::Code(18, Block::Aes, Padding::Nothing, 16),
    What::Retail(20, Padding::Method2, 8),
    What::Retail(47, Padding::Zeros, 4),
    What::Retail(48, Padding::Zeros, 8),
    What::Cmac,
    What::Crc(1),
    What::Crc(2),
];

fn hash(number: u8, data: &[u8]) -> Vec<u8> {
    match number {
        1 => Sha1::digest(data).to_vec(),
        4 => Sha256::digest(data).to_vec(),
        5 => Sha384::digest(data).to_vec(),
        6 => Sha512::digest(data).to_vec(),
        _ => Sha224::digest(data).to_vec(),
    }
}

/// RFC 2104.
fn hmac(number: u8, key: &[u8], data: &[u8]) -> Vec<u8> {
    let (hash_number, block) = [(1, 64), (4, 64), (5, 128), (6, 128)][usize::from(number) - 24];
    let mut key = key.to_vec();
    key.resize(block, 0);
    let masked = |mask: u8| key.iter().map(move |byte| byte ^ mask).collect::<Vec<u8>>();
    let inner = hash(hash_number, &[&masked(0x36)[..], data].concat());
    hash(hash_number, &[masked(0x5C), inner].concat())
}

fn padded(padding: Padding, block: usize, data: &[u8]) -> Vec<u8> {
    let mut data = data.to_vec();
    let missing = block - data.len() % block;
    match padding {
        Padding::Nothing => {}
        Padding::Zeros => data.resize(data.len().next_multiple_of(block), 0),
        Padding::Method2 => {
            data.push(0x80);
            data.resize(data.len().next_multiple_of(block), 0);
        }
        Padding::Pkcs5 => data.resize(data.len() + missing, missing as u8),
    }
    data
}

/// SP 800-38A.
fn encrypted(block: Block, chain: Chain, key: &[u8], vector: &[u8], data: &[u8]) -> Vec<u8> {
    let mut before = vector.to_vec();
    let mut out = data.to_vec();
    for piece in out.chunks_mut(block.bytes()) {
        match chain {
            Chain::Ecb => block.encrypt(key, piece),
            Chain::Cbc => {
                piece.iter_mut().zip(&before).for_each(|(byte, other)| *byte ^= other);
                block.encrypt(key, piece);
                before = piece.to_vec();
            }
            Chain::Counter => {
                let mut stream = before.clone();
                block.encrypt(key, &mut stream);
                piece.iter_mut().zip(&stream).for_each(|(byte, other)| *byte ^= other);
                let next = u128::from_be_bytes(before[..].try_into().unwrap()).wrapping_add(1);
                before = next.to_be_bytes().to_vec();
            }
        }
    }
    out
}

/// The last block of CBC, of at least one block.
fn last_block(block: Block, padding: Padding, key: &[u8], vector: &[u8], data: &[u8]) -> Vec<u8> {
    let mut data = padded(padding, block.bytes(), data);
    data.resize(data.len().max(block.bytes()), 0);
    let all = encrypted(block, Chain::Cbc, key, vector, &data);
    all[all.len() - block.bytes()..].to_vec()
}

fn retail(padding: Padding, key: &[u8], vector: &[u8], data: &[u8]) -> Vec<u8> {
    let mut block = last_block(Block::Des, padding, &key[..8], vector, data);
    let third = if key.len() == 24 { &key[16..] } else { &key[..8] };
    let single = |key| des::Des::new_from_slice(key).unwrap();
    single(&key[8..16]).decrypt_block((&mut block[..]).try_into().unwrap());
    single(third).encrypt_block((&mut block[..]).try_into().unwrap());
    block
}

/// SP 800-38B.
fn cmac(key: &[u8], data: &[u8]) -> Vec<u8> {
    let mut zero = [0; 16];
    Block::Aes.encrypt(key, &mut zero);
    let twice = |number: u128| (number << 1) ^ if number >> 127 == 1 { 0x87 } else { 0 };
    let first = twice(u128::from_be_bytes(zero));
    let is_whole = !data.is_empty() && data.len().is_multiple_of(16);
    let mut data = if is_whole { data.to_vec() } else { padded(Padding::Method2, 16, data) };
    let subkey = if is_whole { first } else { twice(first) };
    let start = data.len() - 16;
    data[start..].iter_mut().zip(subkey.to_be_bytes()).for_each(|(byte, other)| *byte ^= other);
    last_block(Block::Aes, Padding::Nothing, key, &[0; 16], &data)
}

/// A register of some bits, from the top of each byte on, as the API describes it; bits of CRC-32 are reversed.
fn crc(number: u8, start: &[u8], data: &[u8]) -> Vec<u8> {
    let (bits, polynomial) = if number == 1 { (16, 0x1021_u64) } else { (32, 0x04C1_1DB7) };
    let mut register = start.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    for byte in data {
        let byte = if number == 1 { *byte } else { byte.reverse_bits() };
        for bit in (0..8).rev() {
            let top = (register >> (bits - 1) & 1) ^ u64::from(byte >> bit & 1);
            register = ((register << 1) ^ (top * polynomial)) & ((1 << bits) - 1);
        }
    }
    match number {
        1 => (!register as u16).to_be_bytes().to_vec(),
        _ => (!(register as u32).reverse_bits()).to_be_bytes().to_vec(),
    }
}

impl What {
    fn kind(self) -> u8 {
        match self {
            What::Hash(_) => DIGEST,
            What::Cipher(..) => CIPHER,
            What::Crc(_) => CHECKSUM,
            _ => SIGNATURE,
        }
    }

    fn number(self) -> u8 {
        match self {
            What::Hash(number) | What::Hmac(number) | What::Crc(number) => number,
            What::Cipher(number, ..) | What::Code(number, ..) | What::Retail(number, ..) => number,
            What::Cmac => 49,
        }
    }

    /// Bytes of an initial vector.
    fn vector_bytes(self) -> usize {
        match self {
            What::Cipher(_, block, Chain::Cbc | Chain::Counter, _) | What::Code(_, block, ..) => block.bytes(),
            What::Retail(..) => 8,
            What::Crc(number) => 2 * usize::from(number),
            _ => 0,
        }
    }

    fn key_slot(self) -> u8 {
        match self {
            What::Hmac(_) => 2,
            What::Retail(..) => 1,
            What::Cipher(_, Block::Des, ..) | What::Code(_, Block::Des, ..) => 1,
            _ => 0,
        }
    }

    /// Whether data of a length are whole, where they are to be.
    fn takes(self, length: usize) -> bool {
        match self {
            What::Cipher(_, block, Chain::Cbc | Chain::Ecb, Padding::Nothing) => length.is_multiple_of(block.bytes()),
            What::Code(_, block, Padding::Nothing, _) => length > 0 && length.is_multiple_of(block.bytes()),
            _ => true,
        }
    }

    /// What it makes of all data at once; of a cipher what it encrypts.
    fn of(self, key: &[u8], vector: &[u8], data: &[u8]) -> Vec<u8> {
        match self {
            What::Hash(number) => hash(number, data),
            What::Hmac(number) => hmac(number, key, data),
            What::Cipher(_, block, chain, padding) => {
                encrypted(block, chain, key, vector, &padded(padding, block.bytes(), data))
            }
            What::Code(_, block, padding, bytes) => last_block(block, padding, key, vector, data)[..bytes].to_vec(),
            What::Retail(_, padding, bytes) => retail(padding, key, vector, data)[..bytes].to_vec(),
            What::Cmac => cmac(key, data),
            What::Crc(number) => crc(number, vector, data),
        }
    }
}

/// Data that an object has been given a part of.
#[derive(Debug)]
struct Stream {
    input: Vec<u8>,
    fed: usize,
    output: Vec<u8>,
    expected: Vec<u8>,
}

/// An object on the card, as it should be.
#[derive(Debug)]
struct Slot {
    what: What,
    mode: u8,
    key: Option<Vec<u8>>,
    /// What the next data start with.
    vector: Vec<u8>,
    stream: Option<Stream>,
}

struct Game {
    card: Option<TestCard>,
    slots: Vec<Slot>,
    keys: [Vec<u8>; 3],
    random: fastrand::Rng,
    replay: String,
    results: usize,
}

/// Objects at once: what they have in RAM fits.
const OBJECTS: usize = 12;

impl Game {
    fn new(run: &Run) -> Game {
        let mut random = run.random();
        let mut card = card_with_given();
        let slots = (0..OBJECTS as u8)
            .map(|slot| {
                let what = ALL[random.usize(..ALL.len())];
                order(&mut card, [MAKE, slot, what.kind()], &[what.number(), 0]).unwrap();
                Slot { what, mode: 0, key: None, vector: vec![0; what.vector_bytes()], stream: None }
            })
            .collect();
        let keys = [vec![], vec![], vec![]];
        let mut game = Game { card: Some(card), slots, keys, random, replay: run.replay().to_string(), results: 0 };
        (0..3).for_each(|slot| game.make_key(slot));
        game
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.random.u8(..)).collect()
    }

    fn card(&mut self) -> &mut TestCard {
        self.card.as_mut().unwrap()
    }

    /// A new key object; who was initialised with the one before keeps it.
    fn make_key(&mut self, slot: u8) {
        let (kind, bytes, bits) = match slot {
            0 => {
                let bytes = [16, 24, 32][self.random.usize(..3)];
                (KEY_OF_AES, bytes, 8 * bytes)
            }
            1 => {
                let bytes = [8, 16, 24][self.random.usize(..3)];
                (KEY_OF_DES, bytes, 8 * bytes)
            }
            _ => (KEY_OF_HMAC, self.random.usize(1..=64), 64),
        };
        let value = self.bytes(bytes);
        key(self.card(), slot, (kind, bits), &[&value]);
        self.keys[usize::from(slot)] = value;
    }

    fn step(&mut self) {
        match self.random.u8(..60) {
            0 => {
                self.card().reset().unwrap();
                self.begun_again();
            }
            1 => self.power_off(),
            2 => {
                let slot = self.random.u8(..3);
                self.make_key(slot);
            }
            _ => {
                let slot = self.random.usize(..OBJECTS);
                if self.slots[slot].stream.is_some() { self.feed(slot) } else { self.start(slot) }
            }
        }
    }

    fn power_off(&mut self) {
        let (mut device, nand) = unmounted(self.card.take().unwrap());
        device.power_on();
        self.card = Some(mounted(device, nand));
        self.begun_again();
    }

    /// After a reset: keys and modes stay, data are forgotten, and vectors are 0.
    fn begun_again(&mut self) {
        assert_eq!(status(self.card(), &select(&GIVEN)), 0x9000);
        for slot in &mut self.slots {
            slot.stream = None;
            slot.vector.fill(0);
        }
    }

    fn start(&mut self, slot: usize) {
        let what = self.slots[slot].what;
        let has_key = self.slots[slot].key.is_some() || matches!(what, What::Hash(_) | What::Crc(_));
        if (!has_key || self.random.bool()) && !self.init(slot) {
            return;
        }
        let mut length = self.random.usize(..130);
        while !what.takes(length) {
            length += 1;
        }
        let data = self.bytes(length);
        let key = self.slots[slot].key.clone().unwrap_or_default();
        let result = what.of(&key, &self.slots[slot].vector, &data);
        let decrypts = matches!(what, What::Cipher(..)) && self.slots[slot].mode == DECRYPT;
        let (input, expected) = match what {
            // Zeros stay.
            What::Cipher(_, block, _, Padding::Zeros) if decrypts => {
                (result, padded(Padding::Zeros, block.bytes(), &data))
            }
            _ if decrypts => (result, data),
            _ => (data, result),
        };
        self.slots[slot].stream = Some(Stream { input, fed: 0, output: Vec::new(), expected });
        self.feed(slot);
    }

    /// Initialises an object; false where the power fails meanwhile, or the key is none for it.
    fn init(&mut self, slot: usize) -> bool {
        let what = self.slots[slot].what;
        let key_slot = what.key_slot();
        let key = self.keys[usize::from(key_slot)].clone();
        let bytes = what.vector_bytes();
        let vector = if self.random.bool() { self.bytes(bytes) } else { vec![] };
        let modes = if what.kind() == CIPHER { [ENCRYPT, DECRYPT] } else { [SIGN, VERIFY] };
        let mode = modes[self.random.usize(..2)];
        let head = [INIT, slot as u8, mode];
        match what {
            What::Hash(_) => return true,
            What::Crc(_) if vector.is_empty() => return true,
            What::Retail(..) if key.len() == 8 => {
                let refused = order(self.card(), head, &[key_slot]);
                assert_eq!(refused, Err(0x6A01), "{}", self.replay);
                return self.slots[slot].key.is_some();
            }
            _ => {}
        }
        let data = [&[key_slot][..], &vector].concat();
        if self.random.u8(..8) == 0 {
            self.init_without_power(slot, head, &data);
            return false;
        }
        order(self.card(), head, &data).unwrap();
        let slot = &mut self.slots[slot];
        (slot.mode, slot.key) = (mode, Some(key));
        slot.vector = if vector.is_empty() { vec![0; bytes] } else { vector };
        true
    }

    /// The power fails somewhere in the call, or after it: which of two keys the object has is not known here.
    fn init_without_power(&mut self, slot: usize, head: [u8; 3], data: &[u8]) {
        let (operation, tear) = (self.random.u64(..12), Tear::draw(&mut self.random));
        cut_after(self.card(), operation, tear);
        let _ = send(self.card(), &command(head, data));
        self.power_off();
        self.slots[slot].key = None;
    }

    /// The next piece, or the last.
    fn feed(&mut self, at: usize) {
        let slot = &self.slots[at];
        let stream = slot.stream.as_ref().unwrap();
        let rest = stream.input[stream.fed..].to_vec();
        let is_last = self.random.u8(..3) == 0;
        let piece = if is_last { rest } else { rest[..self.random.usize(..=rest.len())].to_vec() };
        let aborted = if self.random.u8(..6) == 0 { ABORTED } else { 0 };
        if is_last && self.slots[at].what.kind() == SIGNATURE && self.slots[at].mode == VERIFY {
            return self.verify(at, aborted, &piece);
        }
        let instruction = if is_last { FINISH } else { UPDATE } | aborted;
        let answer = order(self.card(), [instruction, at as u8, 0], &piece);
        let context = format!("{:?}, {}", self.slots[at], self.replay);
        let slot = &mut self.slots[at];
        let stream = slot.stream.as_mut().unwrap();
        stream.fed += piece.len();
        stream.output.extend(answer.unwrap_or_else(|status| panic!("{status:04X}: {context}")));
        if is_last {
            assert_eq!(stream.output, stream.expected, "{context}");
            self.finished(at);
        }
    }

    fn verify(&mut self, at: usize, aborted: u8, piece: &[u8]) {
        let mut code = self.slots[at].stream.as_ref().unwrap().expected.clone();
        let is_right = self.random.bool();
        if !is_right {
            let bit = self.random.usize(..code.len() * 8);
            code[bit / 8] ^= 1 << (bit % 8);
        }
        let answer = verifies_by(self.card(), (at as u8, aborted), piece, &code);
        assert_eq!(answer, is_right, "{:?}, {}", self.slots[at], self.replay);
        self.finished(at);
    }

    /// The object begins again, with a vector of 0.
    fn finished(&mut self, slot: usize) {
        self.slots[slot].stream = None;
        self.slots[slot].vector.fill(0);
        self.results += 1;
    }
}

fn play(run: &Run, steps: usize) {
    let mut game = Game::new(run);
    (0..steps).for_each(|_| game.step());
    assert!(game.results > steps / 8, "{} results, {}", game.results, run.replay());
}

#[test]
fn pieces_give_what_all_data_at_once_give() {
    seeds(0..6, "-p norn-card-linker --test card pieces_give_what_all_data").for_each(|run| play(&run, 500));
}

#[test]
#[ignore = "minutes"]
fn pieces_give_what_all_data_at_once_give_in_many_runs() {
    seeds(6..200, "-p norn-card-linker --test card pieces_give_what_all_data_at_once_give_in_many -- --ignored")
        .for_each(|run| play(&run, 1_000));
}
