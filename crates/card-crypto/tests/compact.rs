//! P-256 in little code gives the published answers, and what `Curve::P256` gives, for keys, hashes and signatures of
//! all kinds.

use norn_card_crypto::{CompactP256, CryptoError, Curve, Deterministic, Parameter, Random};

fn hex(text: &str) -> Vec<u8> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    text.as_bytes().chunks(2).map(byte).collect()
}

/// RFC 6979, A.2.5, with SHA-256 of "sample"; NIST's ECC CDH vectors, P-256, count 0.
#[test]
fn published_answers() {
    let secret = hex("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721");
    let hash = hex("AF2BDBE1AA9B6EC1E2ADE1D694F41FC71A831D0268E9891562113D8A62ADD1BF");
    let (mut point, mut signature) = ([0; 65], [0; 72]);
    CompactP256::public(&secret, &mut point).unwrap();
    let x = hex("60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6");
    let y = hex("7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299");
    assert_eq!(point[..], [&[4][..], &x, &y].concat());
    assert_eq!(CompactP256::sign(&secret, &hash, &mut signature), Ok(72));
    let r = hex("00EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716");
    let s = hex("00F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8");
    assert_eq!(signature[..], [&[0x30, 0x46, 2, 0x21][..], &r, &[2, 0x21], &s].concat());
    assert!(CompactP256::verify(&point, &hash, &signature));
    let secret = hex("7d7dc5f71eb29ddaf80d6214632eeae03d9058af1fb6d22ed80badb62bc1a534");
    let other = hex("04700c48f77f56584c5cc632ca65640db91b6bacce3a4df6b42ce7cc838833d287\
        db71e509e3fd9b060ddb20ba5c51dcc5948d46fbf640dfe0441782cab85fa4ac");
    let mut product = [0; 65];
    CompactP256::agree(&secret, &other, &mut product).unwrap();
    assert_eq!(product[1..33], hex("46fc62106420ff012e54a434fbdd2d25ccc5852060561e68040dd7778997bd7b"));
}

/// Secrets at the ends of their range, and where bits are many or few; others are drawn.
fn secrets() -> Vec<Vec<u8>> {
    let order = Curve::P256.parameter(Parameter::Order).to_vec();
    let less = |by: u8| {
        let mut number = order.clone();
        *number.last_mut().unwrap() -= by;
        number
    };
    let small = |last: u8| [&[0; 31][..], &[last]].concat();
    let mut all = vec![small(1), small(2), small(3), less(1), less(2), vec![0x7F; 32], vec![0x55; 32]];
    let mut random = Deterministic::new(3);
    for _ in 0..40 {
        let mut secret = vec![0; 32];
        random.fill(&mut secret).unwrap();
        all.push(secret);
    }
    all
}

#[test]
fn points_signatures_and_products_are_those_of_the_other_code() {
    let mut random = Deterministic::new(8);
    let mut others = [[0; 65]; 2];
    others.iter_mut().for_each(|point| Curve::P256.generate(&mut random, &mut [0; 32], point).unwrap());
    for (number, secret) in secrets().into_iter().enumerate() {
        let mut points = [[0; 65]; 2];
        Curve::P256.public(&secret, &mut points[0]).unwrap();
        CompactP256::public(&secret, &mut points[1]).unwrap();
        assert_eq!(points[0], points[1], "{secret:02x?}");
        let mut products = [[0; 65]; 2];
        let other = others[number % 2];
        Curve::P256.agree(&secret, &other, &mut products[0]).unwrap();
        CompactP256::agree(&secret, &other, &mut products[1]).unwrap();
        assert_eq!(products[0], products[1], "{secret:02x?}");
        let mut hash = vec![0; [20, 28, 32, 48, 64][number % 5]];
        random.fill(&mut hash).unwrap();
        if number % 7 == 0 {
            // Above the order.
            hash.fill(0xFF);
        }
        let mut signatures = [[0; 72]; 2];
        let lengths = [
            Curve::P256.sign(&secret, &hash, &mut signatures[0]),
            CompactP256::sign(&secret, &hash, &mut signatures[1]),
        ];
        assert_eq!((lengths[0], signatures[0]), (lengths[1], signatures[1]), "{secret:02x?} {hash:02x?}");
        let signature = &signatures[1][..lengths[1].unwrap()];
        assert!(CompactP256::verify(&points[1], &hash, signature), "{secret:02x?}");
        hash[3] ^= 4;
        assert!(!CompactP256::verify(&points[1], &hash, signature) && !CompactP256::verify(&other, &hash, signature));
    }
}

#[test]
fn signatures_that_are_none_are_refused_as_by_the_other_code() {
    let (secret, hash) = (vec![0x31; 32], [7; 32]);
    let (mut point, mut signature) = ([0; 65], [0; 72]);
    CompactP256::public(&secret, &mut point).unwrap();
    let length = CompactP256::sign(&secret, &hash, &mut signature).unwrap();
    let signature = &signature[..length];
    let both =
        |changed: &[u8]| (CompactP256::verify(&point, &hash, changed), Curve::P256.verify(&point, &hash, changed));
    assert_eq!(both(signature), (true, true));
    for bit in 0..8 * length {
        let mut changed = signature.to_vec();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(both(&changed), (false, false), "bit {bit}");
    }
    for end in 0..length {
        assert_eq!(both(&signature[..end]), (false, false), "{end} bytes");
    }
    assert_eq!(both(&[signature, &[0]].concat()), (false, false));
    // Numbers of 0 and of the order, and ones that are longer than they need.
    let order = Curve::P256.parameter(Parameter::Order);
    let of = |numbers: [&[u8]; 2]| {
        let numbers = numbers.map(|number| [&[2, number.len() as u8], number].concat()).concat();
        [&[0x30, numbers.len() as u8], &numbers[..]].concat()
    };
    let whole = [&[0][..], order].concat();
    for numbers in [[&[0][..], &[1]], [&[1], &[0]], [&whole, &[1]], [&[1], &whole], [&[0, 1], &[1]], [&[0x81], &[1]]] {
        assert_eq!(both(&of(numbers)), (false, false), "{numbers:02x?}");
    }
}

#[test]
fn what_is_no_key_is_refused() {
    let order = Curve::P256.parameter(Parameter::Order);
    let mut point = [0; 65];
    for (secret, refusal) in [
        (vec![0; 32], CryptoError::NotOnCurve),
        (order.to_vec(), CryptoError::NotOnCurve),
        (vec![0xFF; 32], CryptoError::NotOnCurve),
        (vec![1; 31], CryptoError::KeyLength),
    ] {
        assert_eq!(CompactP256::public(&secret, &mut point), Err(refusal), "{secret:02x?}");
        assert_eq!(CompactP256::sign(&secret, &[1; 32], &mut [0; 72]), Err(refusal));
    }
    let secret = [5; 32];
    CompactP256::public(&secret, &mut point).unwrap();
    for hash in [&[][..], &[1; 65]] {
        assert_eq!(CompactP256::sign(&secret, hash, &mut [0; 72]), Err(CryptoError::HashLength));
        assert!(!CompactP256::verify(&point, hash, &[0; 72]));
    }
    let mut product = [0; 65];
    for (at, value) in [(64, point[64] ^ 1), (0, 2), (0, 0), (1, 0xFF)] {
        let mut wrong = point;
        wrong[at] = value;
        if at == 1 {
            wrong[1..33].fill(0xFF);
        }
        assert_eq!(CompactP256::agree(&secret, &wrong, &mut product), Err(CryptoError::NotOnCurve), "byte {at}");
    }
    assert_eq!(CompactP256::agree(&secret, &point[..64], &mut product), Err(CryptoError::NotOnCurve));
    assert_eq!(CompactP256::agree(&secret, &point, &mut [0; 64]), Err(CryptoError::OutputLength));
    assert_eq!(CompactP256::sign(&secret, &[1; 32], &mut [0; 60]), Err(CryptoError::OutputLength));
    // Random bytes that are no key, and that never are one.
    struct Stubborn(u32);
    impl Random for Stubborn {
        fn fill(&mut self, bytes: &mut [u8]) -> Result<(), CryptoError> {
            bytes.fill(if self.0 == 0 { 1 } else { 0xFF });
            self.0 = self.0.saturating_sub(1);
            Ok(())
        }
    }
    let (mut secret, mut point) = ([0; 32], [0; 65]);
    CompactP256::generate(&mut Stubborn(3), &mut secret, &mut point).unwrap();
    assert_eq!(secret, [1; 32]);
    let never = CompactP256::generate(&mut Stubborn(u32::MAX), &mut secret, &mut point);
    assert_eq!((never, secret), (Err(CryptoError::NoRandom), [0; 32]));
}
