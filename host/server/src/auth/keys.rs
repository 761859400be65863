//! Key sets (JWKS, RFC 7517), and the choice of the key for a token.

use jsonwebtoken::{
    Algorithm, DecodingKey,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, KeyOperations, PublicKeyUse},
};
use serde::Deserialize;
use serde_json::Value;

/// Maximum number of keys in a set. Authorization servers have two or three.
const KEYS: usize = 64;
/// Longest key name (`kid`).
const NAME: usize = 256;
/// Size of an RSA modulus in bytes: shorter ones are insecure, longer ones slow.
const MODULUS: std::ops::RangeInclusive<usize> = 256..=1024;

const RSA: &[Algorithm] = &[
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
];

/// Error of parsing a key set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum KeysError {
    /// Not JSON of the right form.
    #[error("it is not a JSON object with a list of `keys`")]
    Form,
    /// Too many keys.
    #[error("it has more than {KEYS} keys")]
    Many,
}

/// Keys that verify signatures.
#[derive(Debug, Default)]
pub(super) struct KeySet(Vec<Key>);

#[derive(Debug)]
struct Key {
    name: Option<String>,
    /// Allowed algorithms: those of its type, limited to what the set declares.
    algorithms: Vec<Algorithm>,
    key: DecodingKey,
}

/// Why no key of a set fits a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoKey {
    /// No key has that name; a newer set may have one.
    Unknown,
    /// The key of that name is for another purpose or algorithm.
    Unfit,
    /// The token names no key, and not exactly one key fits.
    Unnamed,
}

impl KeySet {
    /// Parses a set. Unsupported keys are ignored, as RFC 7517 requires.
    pub fn parse(text: &[u8]) -> Result<Self, KeysError> {
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<Value>,
        }
        let set: Set = serde_json::from_slice(text).map_err(|_| KeysError::Form)?;
        if set.keys.len() > KEYS {
            return Err(KeysError::Many);
        }
        let keys = set.keys.into_iter().filter_map(|key| serde_json::from_value(key).ok());
        Ok(Self(keys.filter_map(|key| Key::from_jwk(&key)).collect()))
    }

    /// Returns the number of usable keys.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Chooses the key for a token of this algorithm and key name.
    pub fn choose(&self, name: Option<&str>, algorithm: Algorithm) -> Result<&DecodingKey, NoKey> {
        let fits = |key: &&Key| key.algorithms.contains(&algorithm);
        let Some(name) = name else {
            let mut fitting = self.0.iter().filter(fits);
            return match (fitting.next(), fitting.next()) {
                (Some(key), None) => Ok(&key.key),
                _ => Err(NoKey::Unnamed),
            };
        };
        let mut named = self.0.iter().filter(|key| key.name.as_deref() == Some(name)).peekable();
        if named.peek().is_none() {
            return Err(NoKey::Unknown);
        }
        named.find(fits).map(|key| &key.key).ok_or(NoKey::Unfit)
    }
}

impl Key {
    /// Converts a key; returns `None` if it verifies no supported signature.
    fn from_jwk(jwk: &Jwk) -> Option<Self> {
        let common = &jwk.common;
        let signs = common.public_key_use.as_ref().is_none_or(|its| *its == PublicKeyUse::Signature);
        let verifies = common.key_operations.as_ref().is_none_or(|its| its.contains(&KeyOperations::Verify));
        if !signs || !verifies || common.key_id.as_ref().is_some_and(|name| name.len() > NAME) {
            return None;
        }
        let (can, key): (&[Algorithm], _) = match &jwk.algorithm {
            AlgorithmParameters::RSA(its) => (RSA, rsa_key(&its.n, &its.e)?),
            AlgorithmParameters::EllipticCurve(its) => {
                let can: &[_] = match its.curve {
                    EllipticCurve::P256 => &[Algorithm::ES256],
                    EllipticCurve::P384 => &[Algorithm::ES384],
                    _ => return None,
                };
                (can, DecodingKey::from_ec_components(&its.x, &its.y).ok()?)
            }
            AlgorithmParameters::OctetKeyPair(its) if its.curve == EllipticCurve::Ed25519 => {
                (&[Algorithm::EdDSA], DecodingKey::from_ed_components(&its.x).ok()?)
            }
            // A symmetric key in a public set would let every reader sign.
            _ => return None,
        };
        let only = common.key_algorithm;
        let may = |algorithm: &&Algorithm| only.is_none_or(|only| only == KeyAlgorithm::from(**algorithm));
        let algorithms: Vec<_> = can.iter().filter(may).copied().collect();
        (!algorithms.is_empty()).then(|| Self { name: common.key_id.clone(), algorithms, key })
    }
}

/// Strips leading zeros, which some servers write and ring rejects.
fn rsa_key(n: &str, e: &str) -> Option<DecodingKey> {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    let number = |text: &str| {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        Some(bytes[zeros..].to_vec())
    };
    let n = number(n).filter(|n| MODULUS.contains(&n.len()))?;
    Some(DecodingKey::from_rsa_raw_components(&n, &number(e)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn modulus(bytes: usize) -> String {
        use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
        URL_SAFE_NO_PAD.encode(vec![0xff; bytes])
    }

    #[test]
    fn keys_are_chosen_by_name_and_algorithm() {
        let point = modulus(32);
        let rsa = json!({"kty": "RSA", "n": modulus(256), "e": "AQAB"});
        let with = |more: Value| {
            let mut key = rsa.clone();
            key.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            key
        };
        let set = json!({"keys": [
            with(json!({"kid": "any", "use": "sig", "key_ops": ["verify"]})),
            with(json!({"kid": "one", "alg": "PS256"})),
            with(json!({"kid": "sealing", "use": "enc"})),
            with(json!({"kid": "sealing2", "alg": "RSA-OAEP"})),
            with(json!({"kid": "sealing3", "key_ops": ["encrypt"]})),
            with(json!({"kid": "short", "n": modulus(128)})),
            with(json!({"kid": "long", "n": modulus(1025)})),
            with(json!({"kid": "x".repeat(257)})),
            {"kty": "EC", "crv": "P-256", "kid": "curve", "x": point, "y": point},
            {"kty": "EC", "crv": "P-521", "kid": "p521", "x": point, "y": point},
            {"kty": "EC", "crv": "P-256", "kid": "lame", "x": "*", "y": point},
            {"kty": "OKP", "crv": "Ed25519", "kid": "twist", "x": point},
            {"kty": "OKP", "crv": "X25519", "kid": "agree", "x": point},
            {"kty": "oct", "kid": "secret", "k": point},
            {"kty": "AKP", "kid": "later", "pub": point},
            "rubbish",
            {"kty": 5},
        ]});
        let set = KeySet::parse(set.to_string().as_bytes()).unwrap();
        let check = |name: Option<&str>, algorithm, expected: Option<NoKey>| {
            assert_eq!(set.choose(name, algorithm).err(), expected, "{name:?} {algorithm:?}");
        };
        use Algorithm as A;
        check(Some("any"), A::RS256, None);
        check(Some("any"), A::PS512, None);
        check(Some("any"), A::ES256, Some(NoKey::Unfit));
        check(Some("any"), A::HS256, Some(NoKey::Unfit));
        check(Some("one"), A::PS256, None);
        check(Some("one"), A::RS256, Some(NoKey::Unfit));
        check(Some("curve"), A::ES256, None);
        check(Some("curve"), A::ES384, Some(NoKey::Unfit));
        check(Some("twist"), A::EdDSA, None);
        for name in [
            "sealing", "sealing2", "sealing3", "short", "long", "p521", "lame", "agree", "secret", "later",
            "",
        ] {
            check(Some(name), A::RS256, Some(NoKey::Unknown));
        }
        check(Some("secret"), A::HS256, Some(NoKey::Unknown));
        check(None, A::ES256, None);
        check(None, A::EdDSA, None);
        check(None, A::RS256, None);
        check(None, A::PS256, Some(NoKey::Unnamed));
        check(None, A::ES384, Some(NoKey::Unnamed));
        assert_eq!(set.len(), 4);
    }

    #[test]
    fn key_sets_are_bounded_and_well_formed() {
        let of = |keys: usize| json!({ "keys": vec![json!({}); keys] }).to_string();
        assert!(KeySet::parse(of(64).as_bytes()).is_ok());
        assert_eq!(KeySet::parse(of(65).as_bytes()).unwrap_err(), KeysError::Many);
        assert_eq!(KeySet::parse(b"{\"keys\": []}").unwrap().len(), 0);
        for bad in ["", "[]", "{}", "{\"keys\": {}}", "<html>", "{\"keys\": [], \"keys\": []}"] {
            assert_eq!(KeySet::parse(bad.as_bytes()).unwrap_err(), KeysError::Form, "{bad}");
        }
    }
}
