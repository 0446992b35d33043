//! Sums, products and quotients of 128 bits, where a sum or a product that is larger is the largest number.
//!
//! Each is a call: on a processor of 32 bits, such a product is some two hundred instructions.

#[inline(never)]
pub(crate) fn plus(one: u128, other: u128) -> u128 {
    one.saturating_add(other)
}

#[inline(never)]
pub(crate) fn times(one: u128, other: u128) -> u128 {
    one.saturating_mul(other)
}

/// Rounded down. The divisor is not 0.
#[inline(never)]
pub(crate) fn quotient(dividend: u128, divisor: u128) -> u128 {
    dividend / divisor
}

/// Rounded up. The divisor is not 0.
#[inline(never)]
pub(crate) fn quotient_up(dividend: u128, divisor: u128) -> u128 {
    let whole = quotient(dividend, divisor);
    whole + u128::from(whole * divisor < dividend)
}

/// The number, or the largest of 64 bits.
pub(crate) fn in_64_bits(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
