//! Bytes as text, in the alphabet of RFC 4648.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The text of some bytes, padded.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let letter = |bits: u32, shift: u32| LETTERS[(bits >> shift) as usize & 63];
    let four = |a: u8, b: u8, c: u8| {
        let bits = u32::from(a) << 16 | u32::from(b) << 8 | u32::from(c);
        [letter(bits, 18), letter(bits, 12), letter(bits, 6), letter(bits, 0)]
    };
    let mut text = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    let (whole, rest) = bytes.as_chunks::<3>();
    for &[a, b, c] in whole {
        text.extend_from_slice(&four(a, b, c));
    }
    match *rest {
        [a] => text.extend_from_slice(&[four(a, 0, 0)[0], four(a, 0, 0)[1], b'=', b'=']),
        [a, b] => {
            let [one, two, three, _] = four(a, b, 0);
            text.extend_from_slice(&[one, two, three, b'=']);
        }
        _ => {}
    }
    // The letters are all text.
    String::from_utf8(text).unwrap_or_default()
}

/// The bytes of a text; `None` if it is none of this alphabet, or not padded.
#[cfg(feature = "store")]
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let letters = text.as_bytes();
    let padding = letters.iter().rev().take_while(|&&letter| letter == b'=').count();
    if !letters.len().is_multiple_of(4) || padding > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(letters.len() / 4 * 3);
    for four in letters[..letters.len() - padding].chunks(4) {
        let mut bits = 0_u32;
        for letter in four {
            let code = LETTERS.iter().position(|known| known == letter)?;
            bits = bits << 6 | u32::try_from(code).ok()?;
        }
        bits <<= 6 * (4 - four.len());
        bytes.extend_from_slice(&bits.to_be_bytes()[1..four.len()]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::encode;

    #[cfg(feature = "store")]
    #[test]
    fn reads_what_it_writes_and_nothing_else() {
        use super::decode;
        for length in 0..20 {
            let bytes: Vec<u8> =
                (0..length).map(|byte: u8| byte.wrapping_mul(37).wrapping_add(200)).collect();
            assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }
        for wrong in ["a", "ab==c", "a===", "a b=", "äöü="] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn speaks_the_standard() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(bytes.as_bytes()), text);
        }
        assert_eq!(encode(&[0xff, 0xfe, 0x00]), "//4A");
    }
}
