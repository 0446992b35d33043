//! P-256 in little code: ECDSA (FIPS 186-5, with the nonces of RFC 6979) and ECDH, for cards on small processors.
//!
//! One multiplication, Montgomery's, serves the field and the order; one addition of points, which is complete (Renes,
//! Costello, Batina: Complete addition formulas for prime order elliptic curves, algorithm 4), serves doubling as well.
//! A product of a point takes 512 additions, whatever the number is, so that its time says nothing of it. There are no
//! tables: [`Curve::P256`](crate::Curve), which does the same, is faster.
//!
//! Numbers have the most significant byte first, as there.

use crate::curves::Curve;
use crate::digest::compress_sha256;
use crate::error::CryptoError;
use crate::parameters::P256;
use crate::random::Random;

const BYTES: usize = 32;
const WORDS: usize = 8;
/// Bytes of an uncompressed point.
const POINT_BYTES: usize = 1 + 2 * BYTES;
/// Bytes of a hash at most.
const HASH_MAX: usize = 64;
/// How often a random number is drawn that is no private key: one in 2³² is none.
const DRAWS: usize = 64;

/// A number below 2²⁵⁶; the least significant word is the first.
type Number = [u32; WORDS];

const ZERO: Number = [0; WORDS];

/// An odd number, what a multiplication modulo it needs, and the bytes of the number itself.
struct Modulus {
    number: Number,
    /// -1 / number modulo 2³².
    inverse: u32,
    /// 2⁵¹² modulo the number.
    square: Number,
}

const FIELD: Modulus = Modulus::new(P256[0]);
const ORDER: Modulus = Modulus::new(P256[4]);
/// The coefficient b, in Montgomery's form.
const B: Number = FIELD.prepared(&from_slice(P256[2], 0));

/// The number of 32 bytes from an index on.
const fn from_slice(bytes: &[u8], first: usize) -> Number {
    let mut number = ZERO;
    let mut at = 0;
    while at < BYTES {
        let word = (BYTES - 1 - at) / 4;
        number[word] = number[word] << 8 | bytes[first + at] as u32;
        at += 1;
    }
    number
}

fn to_bytes(number: &Number) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    for (place, word) in bytes.as_chunks_mut().0.iter_mut().rev().zip(number) {
        *place = word.to_be_bytes();
    }
    bytes
}

/// The sum, and 1 where it has a bit more.
const fn sum(a: &Number, b: &Number) -> (Number, u32) {
    let (mut sum, mut carry, mut at) = (ZERO, 0, 0);
    while at < WORDS {
        carry += a[at] as u64 + b[at] as u64;
        sum[at] = carry as u32;
        carry >>= 32;
        at += 1;
    }
    (sum, carry as u32)
}

/// The difference, and 1 where it is negative.
const fn difference(a: &Number, b: &Number) -> (Number, u32) {
    let (mut difference, mut borrow, mut at) = (ZERO, 0, 0);
    while at < WORDS {
        let word = (a[at] as u64).wrapping_sub(b[at] as u64).wrapping_sub(borrow);
        difference[at] = word as u32;
        borrow = word >> 63;
        at += 1;
    }
    (difference, borrow as u32)
}

/// The first number where `choice` is 0, the other where it is 1; without a branch.
const fn chosen(a: &Number, b: &Number, choice: u32) -> Number {
    let (mut number, mut at) = (ZERO, 0);
    let mask = choice.wrapping_neg();
    while at < WORDS {
        number[at] = a[at] ^ mask & (a[at] ^ b[at]);
        at += 1;
    }
    number
}

/// Whether a number is 0, in a time that does not depend on it.
fn is_zero(number: &Number) -> bool {
    number.iter().fold(0, |all, word| all | word) == 0
}

impl Modulus {
    const fn new(bytes: &[u8]) -> Modulus {
        let number = from_slice(bytes, 0);
        // Each step doubles the bits of the inverse that are right.
        let (mut inverse, mut step) = (1u32, 0);
        while step < 5 {
            inverse = inverse.wrapping_mul(2u32.wrapping_sub(number[0].wrapping_mul(inverse)));
            step += 1;
        }
        let mut modulus = Modulus { number, inverse: inverse.wrapping_neg(), square: ZERO };
        let (mut square, mut doubled) = (ZERO, 0);
        square[0] = 1;
        while doubled < 512 {
            square = modulus.add(&square, &square);
            doubled += 1;
        }
        modulus.square = square;
        modulus
    }

    /// A number below twice the modulus, with a bit of 2²⁵⁶, less the modulus where it is not below.
    const fn reduced(&self, number: &Number, high: u32) -> Number {
        let (less, borrow) = difference(number, &self.number);
        chosen(&less, number, borrow & (high ^ 1))
    }

    const fn add(&self, a: &Number, b: &Number) -> Number {
        let (sum, carry) = sum(a, b);
        self.reduced(&sum, carry)
    }

    const fn subtract(&self, a: &Number, b: &Number) -> Number {
        let (less, borrow) = difference(a, b);
        let (more, _) = sum(&less, &self.number);
        chosen(&less, &more, borrow)
    }

    /// a b / 2²⁵⁶: Montgomery's product.
    #[inline(never)]
    const fn multiply(&self, a: &Number, b: &Number) -> Number {
        let (mut product, mut high, mut at) = (ZERO, 0u64, 0);
        while at < WORDS {
            let (mut carry, mut place) = (0, 0);
            while place < WORDS {
                carry += product[place] as u64 + a[place] as u64 * b[at] as u64;
                product[place] = carry as u32;
                carry >>= 32;
                place += 1;
            }
            high += carry;
            let factor = product[0].wrapping_mul(self.inverse) as u64;
            let mut carry = (product[0] as u64 + factor * self.number[0] as u64) >> 32;
            let mut place = 1;
            while place < WORDS {
                carry += product[place] as u64 + factor * self.number[place] as u64;
                product[place - 1] = carry as u32;
                carry >>= 32;
                place += 1;
            }
            high += carry;
            product[WORDS - 1] = high as u32;
            high >>= 32;
            at += 1;
        }
        self.reduced(&product, high as u32)
    }

    /// A number in Montgomery's form.
    const fn prepared(&self, number: &Number) -> Number {
        self.multiply(number, &self.square)
    }

    /// The number of Montgomery's form.
    const fn plain(&self, number: &Number) -> Number {
        let mut one = ZERO;
        one[0] = 1;
        self.multiply(number, &one)
    }

    /// 1 / a, both in Montgomery's form, by Fermat; of 0 it is 0.
    fn inverse(&self, a: &Number) -> Number {
        let mut two = ZERO;
        two[0] = 2;
        let (exponent, _) = difference(&self.number, &two);
        let mut one = ZERO;
        one[0] = 1;
        let mut power = self.prepared(&one);
        for at in (0..256).rev() {
            power = self.multiply(&power, &power);
            // The exponent is no secret.
            if exponent[at / 32] >> (at % 32) & 1 == 1 {
                power = self.multiply(&power, a);
            }
        }
        power
    }

    /// Whether a number is from 1 to the modulus less 1.
    fn has(&self, number: &Number) -> bool {
        !is_zero(number) && difference(number, &self.number).1 == 1
    }
}

/// A point x / z, y / z, its numbers in Montgomery's form; none of the curve where z is 0.
#[derive(Clone, Copy)]
struct Point {
    x: Number,
    y: Number,
    z: Number,
}

impl Point {
    fn at_infinity() -> Point {
        let mut one = ZERO;
        one[0] = 1;
        Point { x: ZERO, y: FIELD.prepared(&one), z: ZERO }
    }

    /// A point of 65 bytes, where it is one of the curve.
    fn read(bytes: &[u8]) -> Result<Point, CryptoError> {
        let bytes: &[u8; POINT_BYTES] = bytes.try_into().map_err(|_| CryptoError::NotOnCurve)?;
        let (x, y) = (from_slice(bytes, 1), from_slice(bytes, 1 + BYTES));
        let is_below = |number: &Number| difference(number, &FIELD.number).1 == 1;
        if bytes[0] != 4 || !is_below(&x) || !is_below(&y) {
            return Err(CryptoError::NotOnCurve);
        }
        let point = Point { x: FIELD.prepared(&x), y: FIELD.prepared(&y), z: Point::at_infinity().y };
        // y² = x³ - 3x + b
        let cube = FIELD.multiply(&FIELD.multiply(&point.x, &point.x), &point.x);
        let thrice = FIELD.add(&FIELD.add(&point.x, &point.x), &point.x);
        let right = FIELD.add(&FIELD.subtract(&cube, &thrice), &B);
        let left = FIELD.multiply(&point.y, &point.y);
        if left == right { Ok(point) } else { Err(CryptoError::NotOnCurve) }
    }

    /// x and y.
    fn affine(&self) -> (Number, Number) {
        let inverse = FIELD.inverse(&self.z);
        let of = |number: &Number| FIELD.plain(&FIELD.multiply(number, &inverse));
        (of(&self.x), of(&self.y))
    }

    fn write(&self, to: &mut [u8]) {
        let (x, y) = self.affine();
        let mut bytes = [4; POINT_BYTES];
        bytes[1..=BYTES].copy_from_slice(&to_bytes(&x));
        bytes[1 + BYTES..].copy_from_slice(&to_bytes(&y));
        to.copy_from_slice(&bytes);
    }

    /// The sum of any two points, also of one with itself.
    #[inline(never)]
    fn add(&self, other: &Point) -> Point {
        let field = &FIELD;
        let (m, plus, minus) = (
            |a: &Number, b: &Number| field.multiply(a, b),
            |a: &Number, b: &Number| field.add(a, b),
            |a: &Number, b: &Number| field.subtract(a, b),
        );
        let thrice = |a: &Number| plus(&plus(a, a), a);
        let (xx, yy, zz) = (m(&self.x, &other.x), m(&self.y, &other.y), m(&self.z, &other.z));
        // Sums of the products crosswise.
        let cross = |a: &Number, b: &Number, c: &Number, d: &Number, one: &Number, other: &Number| {
            minus(&m(&plus(a, b), &plus(c, d)), &plus(one, other))
        };
        let xy = cross(&self.x, &self.y, &other.x, &other.y, &xx, &yy);
        let yz = cross(&self.y, &self.z, &other.y, &other.z, &yy, &zz);
        let xz = cross(&self.x, &self.z, &other.x, &other.z, &xx, &zz);
        let middle = thrice(&minus(&xz, &m(&B, &zz)));
        let (less, more) = (minus(&yy, &middle), plus(&yy, &middle));
        let triple = thrice(&zz);
        let outer = thrice(&minus(&minus(&m(&B, &xz), &triple), &xx));
        let inner = minus(&thrice(&xx), &triple);
        Point {
            x: minus(&m(&xy, &more), &m(&yz, &outer)),
            y: plus(&m(&more, &less), &m(&inner, &outer)),
            z: plus(&m(&yz, &less), &m(&xy, &inner)),
        }
    }

    /// The point so many times.
    fn times(&self, number: &Number) -> Point {
        let mut product = Point::at_infinity();
        for at in (0..256).rev() {
            product = product.add(&product);
            let more = product.add(self);
            let bit = number[at / 32] >> (at % 32) & 1;
            product = Point {
                x: chosen(&product.x, &more.x, bit),
                y: chosen(&product.y, &more.y, bit),
                z: chosen(&product.z, &more.z, bit),
            };
        }
        product
    }
}

fn generator() -> Result<Point, CryptoError> {
    Point::read(P256[3])
}

/// A private key.
fn secret_of(bytes: &[u8]) -> Result<Number, CryptoError> {
    let bytes: &[u8; BYTES] = bytes.try_into().map_err(|_| CryptoError::KeyLength)?;
    let number = from_slice(bytes, 0);
    if ORDER.has(&number) { Ok(number) } else { Err(CryptoError::NotOnCurve) }
}

/// The first 256 bits of a hash, modulo the order.
fn of_hash(hash: &[u8]) -> Result<Number, CryptoError> {
    if hash.is_empty() || hash.len() > HASH_MAX {
        return Err(CryptoError::HashLength);
    }
    let kept = &hash[..hash.len().min(BYTES)];
    let mut bytes = [0; BYTES];
    bytes[BYTES - kept.len()..].copy_from_slice(kept);
    Ok(ORDER.reduced(&from_slice(&bytes, 0), 0))
}

/// HMAC of SHA-256 by a key of a hash's bytes, of up to three pieces of data.
fn code(key: &[u8; BYTES], data: [&[u8]; 3]) -> [u8; BYTES] {
    let padded = |with: u8| {
        let mut block = [with; 64];
        block.iter_mut().zip(key).for_each(|(byte, of_key)| *byte ^= of_key);
        block
    };
    let [one, two, three] = data;
    let inner = hashed(&padded(0x36), [one, two, three]);
    hashed(&padded(0x5C), [&inner, &[], &[]])
}

/// SHA-256 of a block and what follows it.
fn hashed(first: &[u8; 64], data: [&[u8]; 3]) -> [u8; BYTES] {
    let mut state = SHA256_START;
    compress_sha256(&mut state, first);
    let (mut block, mut count) = ([0; 64], 0);
    for byte in data.into_iter().flatten() {
        block[count % 64] = *byte;
        count += 1;
        if count.is_multiple_of(64) {
            compress_sha256(&mut state, &block);
        }
    }
    let filled = count % 64;
    block[filled] = 0x80;
    block[filled + 1..].fill(0);
    if filled >= 56 {
        compress_sha256(&mut state, &block);
        block = [0; 64];
    }
    block[56..].copy_from_slice(&(8 * (64 + count as u64)).to_be_bytes());
    compress_sha256(&mut state, &block);
    let mut hash = [0; BYTES];
    for (bytes, word) in hash.as_chunks_mut().0.iter_mut().zip(state) {
        *bytes = word.to_be_bytes();
    }
    hash
}

const SHA256_START: [u32; 8] =
    [0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19];

/// Nonces of RFC 6979, 3.2.
struct Nonces {
    key: [u8; BYTES],
    value: [u8; BYTES],
}

impl Nonces {
    fn new(secret: &Number, hash: &Number) -> Nonces {
        let mut seed = [0; 1 + 2 * BYTES];
        seed[1..=BYTES].copy_from_slice(&to_bytes(secret));
        seed[1 + BYTES..].copy_from_slice(&to_bytes(hash));
        let mut nonces = Nonces { key: [0; BYTES], value: [1; BYTES] };
        for step in 0..2 {
            seed[0] = step;
            nonces.key = code(&nonces.key, [&nonces.value, &seed, &[]]);
            nonces.value = code(&nonces.key, [&nonces.value, &[], &[]]);
        }
        nonces
    }

    fn next(&mut self) -> Number {
        self.value = code(&self.key, [&self.value, &[], &[]]);
        from_slice(&self.value, 0)
    }

    /// After a nonce that was none.
    fn go_on(&mut self) {
        self.key = code(&self.key, [&self.value, &[0], &[]]);
        self.value = code(&self.key, [&self.value, &[], &[]]);
    }
}

/// P-256 in little code.
#[derive(Clone, Copy, Debug)]
pub struct CompactP256;

impl CompactP256 {
    /// Draws a key, as [`Curve::generate`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn generate(random: &mut impl Random, secret: &mut [u8], point: &mut [u8]) -> Result<(), CryptoError> {
        if secret.len() != BYTES || point.len() != POINT_BYTES {
            return Err(CryptoError::OutputLength);
        }
        for _ in 0..DRAWS {
            random.fill(secret)?;
            if CompactP256::public(secret, point).is_ok() {
                return Ok(());
            }
        }
        secret.fill(0);
        Err(CryptoError::NoRandom)
    }

    /// The point of a secret, as [`Curve::public`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn public(secret: &[u8], point: &mut [u8]) -> Result<(), CryptoError> {
        if point.len() != POINT_BYTES {
            return Err(CryptoError::OutputLength);
        }
        generator()?.times(&secret_of(secret)?).write(point);
        Ok(())
    }

    /// Signs a hash, as [`Curve::sign`]: the same bytes.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn sign(secret: &[u8], hash: &[u8], out: &mut [u8]) -> Result<usize, CryptoError> {
        let (hash, secret) = (of_hash(hash)?, secret_of(secret)?);
        let (r, s) = signature(&secret, &hash)?;
        encode(&r, &s, out)
    }

    /// Whether a DER sequence signs a hash, as [`Curve::verify`].
    #[must_use]
    pub fn verify(point: &[u8], hash: &[u8], signature: &[u8]) -> bool {
        let (Ok(point), Ok(hash)) = (Point::read(point), of_hash(hash)) else { return false };
        let Some((r, s)) = decode(signature).filter(|(r, s)| ORDER.has(r) && ORDER.has(s)) else { return false };
        let Ok(generator) = generator() else { return false };
        let inverse = ORDER.inverse(&ORDER.prepared(&s));
        // A product of a number and one in Montgomery's form is plain.
        let (of_generator, of_point) = (ORDER.multiply(&hash, &inverse), ORDER.multiply(&r, &inverse));
        let sum = generator.times(&of_generator).add(&point.times(&of_point));
        !is_zero(&sum.z) && ORDER.reduced(&sum.affine().0, 0) == r
    }

    /// The product of a secret and a point, as [`Curve::agree`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn agree(secret: &[u8], point: &[u8], product: &mut [u8]) -> Result<(), CryptoError> {
        if product.len() != POINT_BYTES {
            return Err(CryptoError::OutputLength);
        }
        Point::read(point)?.times(&secret_of(secret)?).write(product);
        Ok(())
    }

    /// A number that describes the curve, as [`Curve::parameter`].
    #[must_use]
    pub const fn parameter(which: crate::curves::Parameter) -> &'static [u8] {
        Curve::P256.parameter(which)
    }
}

fn signature(secret: &Number, hash: &Number) -> Result<(Number, Number), CryptoError> {
    let mut nonces = Nonces::new(secret, hash);
    // One nonce in 2³² is none.
    for _ in 0..DRAWS {
        let nonce = nonces.next();
        if ORDER.has(&nonce) {
            let r = ORDER.reduced(&generator()?.times(&nonce).affine().0, 0);
            let product = ORDER.multiply(&ORDER.prepared(secret), &r);
            let inverse = ORDER.inverse(&ORDER.prepared(&nonce));
            let s = ORDER.multiply(&inverse, &ORDER.add(hash, &product));
            if !is_zero(&r) && !is_zero(&s) {
                return Ok((r, s));
            }
        }
        nonces.go_on();
    }
    Err(CryptoError::NoRandom)
}

/// A sequence of two numbers in DER; returns its bytes.
fn encode(r: &Number, s: &Number, out: &mut [u8]) -> Result<usize, CryptoError> {
    let mut at = 2;
    for number in [r, s] {
        let bytes = to_bytes(number);
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count().min(BYTES - 1);
        let digits = &bytes[zeros..];
        let sign = usize::from(digits[0] >> 7);
        let end = at + 2 + sign + digits.len();
        let place = out.get_mut(at..end).ok_or(CryptoError::OutputLength)?;
        place[0] = 2;
        place[1] = (sign + digits.len()) as u8;
        place[2..2 + sign].fill(0);
        place[2 + sign..].copy_from_slice(digits);
        at = end;
    }
    out[0] = 0x30;
    out[1] = (at - 2) as u8;
    Ok(at)
}

/// The two numbers of a sequence in DER.
fn decode(signature: &[u8]) -> Option<(Number, Number)> {
    let [0x30, length, rest @ ..] = signature else { return None };
    if usize::from(*length) != rest.len() {
        return None;
    }
    let (r, rest) = decode_number(rest)?;
    let (s, rest) = decode_number(rest)?;
    rest.is_empty().then_some((r, s))
}

/// A positive number of at most 256 bits, in its shortest form, and what follows it.
fn decode_number(bytes: &[u8]) -> Option<(Number, &[u8])> {
    let [2, length, rest @ ..] = bytes else { return None };
    let (digits, rest) = rest.split_at_checked(usize::from(*length))?;
    let digits = match digits {
        [0, digits @ ..] if digits.first().is_some_and(|first| *first >= 0x80) => digits,
        [1..=0x7F, ..] => digits,
        _ => return None,
    };
    let start = BYTES.checked_sub(digits.len())?;
    let mut number = [0; BYTES];
    number[start..].copy_from_slice(digits);
    Some((from_slice(&number, 0), rest))
}
