//! RFC 4231 and RFC 5869.

use crate::{fields, from_hex};
use proofmill_sha256::{HKDF_MOST, Hmac, hkdf_expand, hkdf_extract};

#[test]
fn hmac_of_rfc_4231() {
    let text = include_str!("../data/rfc-4231-sha256.txt");
    let (keys, messages, codes) = (fields(text, "Key"), fields(text, "Msg"), fields(text, "MD"));
    assert_eq!(codes.len(), 6);
    for ((key, message), code) in keys.into_iter().zip(messages).zip(codes) {
        let message = from_hex(message);
        for length in [1, 7, 1000] {
            let mut hmac = Hmac::new(&from_hex(key));
            message.chunks(length).for_each(|part| hmac.update(part));
            assert_eq!(hmac.finish(), from_hex(code)[..]);
        }
    }
}

#[test]
fn hkdf_of_rfc_5869() {
    let text = include_str!("../data/rfc-5869-HKDF-SHA256.txt");
    let all = |name| fields(text, name).into_iter().map(from_hex).collect::<Vec<_>>();
    let (secrets, salts, infos, keys, outputs) =
        (all("IKM"), all("salt"), all("info"), all("PRK"), all("OKM"));
    assert_eq!(outputs.len(), 3);
    for i in 0..3 {
        let key = hkdf_extract(&salts[i], &secrets[i]);
        assert_eq!(key, keys[i][..]);
        let mut output = vec![0; outputs[i].len()];
        hkdf_expand(&key, &infos[i], &mut output);
        assert_eq!(output, outputs[i]);
    }
}

#[test]
fn the_longest_output_is_given() {
    let mut output = vec![0; HKDF_MOST];
    hkdf_expand(&[1; 32], b"", &mut output);
    let mut shorter = [0; 100];
    hkdf_expand(&[1; 32], b"", &mut shorter);
    assert_eq!(output[..100], shorter);
    assert_ne!(output[HKDF_MOST - 32..], [0; 32]);
}

#[test]
#[should_panic(expected = "at most 8160 bytes")]
fn a_longer_output_is_a_bug() {
    hkdf_expand(&[1; 32], b"", &mut [0; HKDF_MOST + 1]);
}

#[test]
fn states_are_not_shown() {
    let text = format!("{:?} {:?}", Hmac::new(b"key"), proofmill_sha256::Sha256::new());
    assert_eq!(text, "Hmac { .. } Sha256 { length: 0, .. }");
}
