//! A test authorization server's keys, and tokens signed with them.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as B64};
use hmac::{Hmac, KeyInit, Mac};
use ring::{
    rand::SystemRandom,
    rsa::{KeyPairComponents, PublicKeyComponents},
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
        KeyPair, RSA_PKCS1_SHA256, RSA_PSS_SHA512, RsaKeyPair,
    },
};
use serde_json::{Value, json};

use super::{ISSUER, RESOURCE, token};

const N: &str = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";

/// The key of RFC 7515, appendix A.2, which everybody knows: ring makes no RSA keys.
fn rsa() -> RsaKeyPair {
    let n = B64.decode(N).unwrap();
    let [d, p, q, dp, dq, qi] = [
        "Eq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyWPEAeP88vLNO97IjlA7_GQ5sLKMgvfTeXZx9SE-7YwVol2NXOoAJe46sui395IW_GO-pWJ1O0BkTGoVEn2bKVRUCgu-GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzjkn439X0M_V51gfpRLI9JYanrC4D4qAdGcopV_0ZHHzQlBjudU2QvXt4ehNYTCBr6XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl_x_jTj3ccPDVZFD9pIuhLhBOneufuBiB4cS98l2SR_RQyGWSeWjnczT0QU91p1DhOVRuOopznQ",
        "4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH_5IB3jw3bcxGn6QLvnEtfdUdiYrqBdss1l58BQ3KhooKeQTa9AB0Hw_Py5PJdTJNPY8cQn7ouZ2KKDcmnPGBY5t7yLc1QlQ5xHdwW1VhvKn-nXqhJTBgIPgtldC-KDV5z-y2XDwGUc",
        "uQPEfgmVtjL0Uyyx88GZFF1fOunH3-7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYsp1ZSe7zFYHj7C6ul7TjeLQeZD_YwD66t62wDmpe_HlB-TnBA-njbglfIsRLtXlnDzQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdc",
        "BwKfV3Akq5_MFZDFZCnW-wzl-CCo83WoZvnLQwCTeDv8uzluRSnm71I3QCLdhrqE2e9YkxvuxdBfpT_PI7Yz-FOKnu1R6HsJeDCjn12Sk3vmAktV2zb34MCdy7cpdTh_YVr7tss2u6vneTwrA86rZtu5Mbr1C1XsmvkxHQAdYo0",
        "h_96-mK1R_7glhsum81dZxjTnYynPbZpHziZjeeHcXYsXaaMwkOlODsWa7I9xXDoRwbKgB719rrmI2oKr6N3Do9U0ajaHF-NKJnwgjMd2w9cjz3_-kyNlxAr2v4IKhGNpmM5iIgOS1VZnOZ68m6_pbLBSp3nssTdlqvd0tIiTHU",
        "IYd7DHOhrWvxkwPQsRM2tOgrjbcrfvtQJipd-DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd_QJQ3ydy5cY7YIBi87w93IKLEdfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp_gh6A5603k2-ZQwVK0JKSHuLFkuQ3U",
    ]
    .map(|text| B64.decode(text).unwrap());
    let public_key = PublicKeyComponents { n: &n[..], e: &[1, 0, 1][..] };
    RsaKeyPair::from_components(&KeyPairComponents {
        public_key,
        d: &d[..],
        p: &p[..],
        q: &q[..],
        dP: &dp[..],
        dQ: &dq[..],
        qInv: &qi[..],
    })
    .unwrap()
}

/// The keys of an authorization server.
pub struct SigningKeys {
    random: SystemRandom,
    rsa: RsaKeyPair,
    ec: EcdsaKeyPair,
    ec384: EcdsaKeyPair,
    ed: Ed25519KeyPair,
}

impl SigningKeys {
    pub fn generate() -> Self {
        let random = SystemRandom::new();
        let ec = |way| {
            let made = EcdsaKeyPair::generate_pkcs8(way, &random).unwrap();
            EcdsaKeyPair::from_pkcs8(way, made.as_ref(), &random).unwrap()
        };
        let ed = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
        Self {
            rsa: rsa(),
            ec: ec(&ECDSA_P256_SHA256_FIXED_SIGNING),
            ec384: ec(&ECDSA_P384_SHA384_FIXED_SIGNING),
            ed: Ed25519KeyPair::from_pkcs8(ed.as_ref()).unwrap(),
            random,
        }
    }

    pub fn public(&self) -> Value {
        let point =
            |key: &[u8]| key[1..].chunks(key.len() / 2).map(|half| B64.encode(half)).collect::<Vec<_>>();
        let (ec, ec384) = (point(self.ec.public_key().as_ref()), point(self.ec384.public_key().as_ref()));
        json!({"keys": [
            {"kty": "RSA", "kid": "rsa", "use": "sig", "n": N, "e": "AQAB"},
            {"kty": "RSA", "kid": "sealing", "use": "enc", "n": N, "e": "AQAB"},
            {"kty": "RSA", "kid": "pss", "alg": "PS512", "n": N, "e": "AQAB"},
            {"kty": "EC", "crv": "P-256", "kid": "ec", "alg": "ES256", "x": ec[0], "y": ec[1]},
            {"kty": "EC", "crv": "P-384", "kid": "ec384", "x": ec384[0], "y": ec384[1]},
            {"kty": "OKP", "crv": "Ed25519", "kid": "ed", "x": B64.encode(self.ed.public_key())},
            {"kty": "oct", "kid": "shared", "k": "AAAA"},
        ]})
    }

    /// A token with this header, signed as its `alg` says.
    pub fn sign(&self, header: &Value, claims: &Value) -> String {
        let message = format!("{}.{}", B64.encode(header.to_string()), B64.encode(claims.to_string()));
        let bytes = message.as_bytes();
        let by_rsa = |way: &'static dyn ring::signature::RsaEncoding| {
            let mut signature = vec![0; self.rsa.public().modulus_len()];
            self.rsa.sign(way, &self.random, bytes, &mut signature).unwrap();
            signature
        };
        let signature = match header["alg"].as_str().unwrap() {
            "RS256" => by_rsa(&RSA_PKCS1_SHA256),
            "PS512" => by_rsa(&RSA_PSS_SHA512),
            "ES256" => self.ec.sign(&self.random, bytes).unwrap().as_ref().to_vec(),
            "ES384" => self.ec384.sign(&self.random, bytes).unwrap().as_ref().to_vec(),
            "EdDSA" => self.ed.sign(bytes).as_ref().to_vec(),
            // With what anybody can read: the public key, in the form in which it is most often passed around.
            "HS256" => {
                let mut mac = Hmac::<sha2::Sha256>::new_from_slice(pem().as_bytes()).unwrap();
                mac.update(bytes);
                mac.finalize().into_bytes().to_vec()
            }
            "none" => Vec::new(),
            other => unreachable!("{other}"),
        };
        format!("{message}.{}", B64.encode(signature))
    }

    /// A token that counts, with something else in its claims.
    pub fn token(&self, other: Value) -> String {
        self.sign(&json!({"alg": "RS256", "kid": "rsa", "typ": "at+jwt"}), &claims(other))
    }

    /// A token that counts, with something else in its header.
    pub fn headed(&self, other: Value) -> String {
        let mut header = json!({"alg": "RS256", "kid": "rsa"});
        merge(&mut header, other);
        self.sign(&header, &claims(json!({})))
    }
}

fn pem() -> String {
    use base64::engine::general_purpose::STANDARD;
    // SubjectPublicKeyInfo of a modulus of 2048 bits and the exponent 65537.
    let mut der = B64.decode("MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA").unwrap();
    der.extend(B64.decode(N).unwrap());
    der.extend([2, 3, 1, 0, 1]);
    let lines: Vec<String> = STANDARD
        .encode(der)
        .as_bytes()
        .chunks(64)
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .collect();
    format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", lines.join("\n"))
}

fn merge(into: &mut Value, other: Value) {
    for (name, value) in other.as_object().unwrap() {
        match value {
            Value::Null => drop(into.as_object_mut().unwrap().remove(name)),
            value => into[name] = value.clone(),
        }
    }
}

/// Claims that count, with others in their place; null takes one away.
pub fn claims(other: Value) -> Value {
    let now = token::now();
    let mut claims = json!({
        "iss": ISSUER, "aud": RESOURCE, "sub": "ada", "exp": now + 600, "nbf": now - 5, "iat": now - 5,
        "scope": "openid notes:read notes:add",
    });
    merge(&mut claims, other);
    claims
}
