//! The exchange between two sides that know the same, that do not, and with somebody between them.

use super::*;
use proptest::prelude::*;

fn secret(text: &str) -> Method {
    Method::Secret(Secret::new(text.as_bytes()).unwrap())
}

/// The whole exchange; who each side found, or whether it refused.
fn meet(caller: &Method, called: &Method) -> (bool, bool) {
    let door = Door::new(called).unwrap();
    let Ok(answer) = caller.answer(b"hello", b"", &door.challenge()) else { return (false, false) };
    let Ok((peer, proof)) = door.admit(b"hello", b"", &answer.proof) else { return (false, false) };
    (answer.confirm(&proof).is_ok_and(|peer| peer.proven), peer.proven)
}

#[test]
fn those_who_know_the_secret_believe_each_other() {
    let (right, wrong) = (secret("the right secret"), secret("the wrong secret"));
    assert_eq!(meet(&right, &right), (true, true));
    assert_eq!(meet(&wrong, &right), (false, false));
    assert_eq!(meet(&right, &wrong), (false, false));
    assert_eq!(meet(&Method::Open, &Method::Open), (false, false));
}

#[test]
fn another_method_is_named() {
    let door = Door::new(&Method::Open).unwrap();
    let refusal = secret("the right secret").answer(b"", b"", &door.challenge()).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "the peer asks for nothing, and a shared secret is set here; both need the same"
    );
    let refusal = Method::Open.answer(b"", b"", &[9; 33]).unwrap_err();
    assert!(matches!(refusal, Refusal::Unknown(9)), "{refusal}");
}

#[test]
fn a_proof_can_not_be_reflected() {
    // Somebody without the secret lets the called one prove itself, and says the same back.
    let method = secret("the right secret");
    let (one, two) = (Door::new(&method).unwrap(), Door::new(&method).unwrap());
    let answer = method.answer(b"hello", b"", &one.challenge()).unwrap();
    let (_, proof) = one.admit(b"hello", b"", &answer.proof).unwrap();
    let mirrored = [&answer.proof[..32], &proof].concat();
    assert!(matches!(two.admit(b"hello", b"", &mirrored), Err(Refusal::Wrong)));
    // Nor is a caller content with its own proof.
    let door = Door::new(&method).unwrap();
    let answer = method.answer(b"hello", b"", &door.challenge()).unwrap();
    let own = answer.proof[32..].to_vec();
    assert!(matches!(answer.confirm(&own), Err(Refusal::Wrong)));
}

#[test]
fn a_proof_is_good_once_and_for_its_greeting() {
    let method = secret("the right secret");
    let door = Door::new(&method).unwrap();
    let answer = method.answer(b"hello", b"channel", &door.challenge()).unwrap();
    let again = Door { method: &method, nonce: door.nonce };
    let other_hello = Door { method: &method, nonce: door.nonce };
    let other_channel = Door { method: &method, nonce: door.nonce };
    assert!(again.admit(b"hello", b"channel", &answer.proof).is_ok());
    assert!(other_hello.admit(b"hello, old version", b"channel", &answer.proof).is_err());
    assert!(other_channel.admit(b"hello", b"another", &answer.proof).is_err());
    // The next question is another one.
    let next = Door::new(&method).unwrap();
    assert_ne!(next.nonce, door.nonce);
    assert!(next.admit(b"hello", b"channel", &answer.proof).is_err());
}

proptest! {
    #[test]
    fn any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let method = secret("the right secret");
        let door = Door::new(&method).unwrap();
        let answer = method.answer(b"", b"", &door.challenge()).unwrap();
        prop_assert!(door.admit(b"", b"", &bytes).is_err());
        prop_assert!(answer.confirm(&bytes).is_err());
        // A challenge of the right shape is answered, whatever its number.
        let shaped = bytes.len() == 33 && bytes[0] == 1;
        prop_assert_eq!(method.answer(b"", b"", &bytes).is_ok(), shaped);
    }

    #[test]
    fn every_changed_bit_is_noticed(at in 0_usize..64, bit in 0_u8..8) {
        let method = secret("the right secret");
        let door = Door::new(&method).unwrap();
        let answer = method.answer(b"", b"", &door.challenge()).unwrap();
        let mut proof = answer.proof.clone();
        proof[at] ^= 1 << bit;
        prop_assert!(door.admit(b"", b"", &proof).is_err());
    }
}
