//! SHA-1, SHA-256 and SHA-512 (FIPS 180-4), a block at a time: what a card keeps is the intermediate hash.

/// Takes a block into an intermediate hash of SHA-1, the first five words. Collisions are known: for formats that ask
/// for it only.
pub fn compress_sha1(state: &mut [u32; 8], block: &[u8; 64]) {
    if let Some(words) = state.first_chunk_mut() {
        sha1::block_api::compress(words, core::slice::from_ref(block));
    }
}

/// Takes a block into an intermediate hash of SHA-256, or of SHA-224.
pub fn compress_sha256(state: &mut [u32; 8], block: &[u8; 64]) {
    sha2::block_api::compress256(state, core::slice::from_ref(block));
}

/// Takes a block into an intermediate hash of SHA-512, or of SHA-384.
pub fn compress_sha512(state: &mut [u64; 8], block: &[u8; 128]) {
    sha2::block_api::compress512(state, core::slice::from_ref(block));
}
