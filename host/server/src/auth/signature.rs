//! ring as a crypto provider of `jsonwebtoken`.
//!
//! That crate offers two of its own: aws-lc, which compiles minutes of C and would be a second crypto library beside that of
//! TLS, and RustCrypto, whose `rsa` has an unfixed advisory (RUSTSEC-2023-0071). ring is a dependency already. It only
//! verifies here: this server signs nothing.

use jsonwebtoken::{
    Algorithm, AlgorithmFamily, DecodingKey, DecodingKeyKind, EncodingKey,
    crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils},
    errors::{Error, ErrorKind},
    signature,
};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters, RsaPublicKeyComponents,
    UnparsedPublicKey, VerificationAlgorithm,
};

static RING: CryptoProvider = CryptoProvider {
    signer_factory: signer,
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

/// Installs ring as the provider of `jsonwebtoken`, once per process.
pub(super) fn install() {
    // Fails if it is already installed.
    let _ = RING.install_default();
}

/// A key with its only verification method.
struct Verifier {
    algorithm: Algorithm,
    key: DecodingKey,
    method: VerifyMethod,
}

enum VerifyMethod {
    Rsa(&'static RsaParameters),
    Curve(&'static dyn VerificationAlgorithm),
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    use Algorithm as A;
    let (family, method) = match algorithm {
        A::RS256 => (AlgorithmFamily::Rsa, VerifyMethod::Rsa(&RSA_PKCS1_2048_8192_SHA256)),
        A::RS384 => (AlgorithmFamily::Rsa, VerifyMethod::Rsa(&RSA_PKCS1_2048_8192_SHA384)),
        A::RS512 => (AlgorithmFamily::Rsa, VerifyMethod::Rsa(&RSA_PKCS1_2048_8192_SHA512)),
        A::PS256 => (AlgorithmFamily::Rsa, VerifyMethod::Rsa(&RSA_PSS_2048_8192_SHA256)),
        A::PS384 => (AlgorithmFamily::Rsa, VerifyMethod::Rsa(&RSA_PSS_2048_8192_SHA384)),
        A::PS512 => (AlgorithmFamily::Rsa, VerifyMethod::Rsa(&RSA_PSS_2048_8192_SHA512)),
        A::ES256 => (AlgorithmFamily::Ec, VerifyMethod::Curve(&ECDSA_P256_SHA256_FIXED)),
        A::ES384 => (AlgorithmFamily::Ec, VerifyMethod::Curve(&ECDSA_P384_SHA384_FIXED)),
        A::EdDSA => (AlgorithmFamily::Ed, VerifyMethod::Curve(&ED25519)),
        _ => return Err(ErrorKind::UnsupportedAlgorithm.into()),
    };
    if key.family() != family {
        return Err(ErrorKind::InvalidKeyFormat.into());
    }
    Ok(Box::new(Verifier { algorithm: *algorithm, key: key.clone(), method }))
}

fn signer(_: &Algorithm, _: &EncodingKey) -> Result<Box<dyn JwtSigner>, Error> {
    Err(ErrorKind::UnsupportedAlgorithm.into())
}

impl signature::Verifier<Vec<u8>> for Verifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let checked = match (&self.method, self.key.kind()) {
            (VerifyMethod::Rsa(parameters), DecodingKeyKind::RsaModulusExponent { n, e }) => {
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            (VerifyMethod::Curve(algorithm), DecodingKeyKind::SecretOrDer(point)) => {
                UnparsedPublicKey::new(*algorithm, point).verify(message, signature)
            }
            _ => return Err(signature::Error::new()),
        };
        checked.map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for Verifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

#[cfg(test)]
mod tests {
    use jsonwebtoken::crypto::verify;

    use super::*;

    /// RFC 7515, appendices A.2 and A.3; RFC 8037, appendix A.4.
    #[test]
    fn rfc_signatures_verify_and_others_fail() {
        install();
        let n = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";
        let rsa = DecodingKey::from_rsa_components(n, "AQAB").unwrap();
        let (x, y) =
            ("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0");
        let ec = DecodingKey::from_ec_components(x, y).unwrap();
        let ed = DecodingKey::from_ed_components("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo").unwrap();
        let joe =
            "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
        for (algorithm, key, header, payload, signature) in [
            (
                Algorithm::RS256,
                &rsa,
                "eyJhbGciOiJSUzI1NiJ9",
                joe,
                "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw",
            ),
            (
                Algorithm::ES256,
                &ec,
                "eyJhbGciOiJFUzI1NiJ9",
                joe,
                "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
            ),
            (
                Algorithm::EdDSA,
                &ed,
                "eyJhbGciOiJFZERTQSJ9",
                "RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
                "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
            ),
        ] {
            let message = format!("{header}.{payload}");
            assert!(verify(signature, message.as_bytes(), key, algorithm).unwrap(), "{algorithm:?}");
            let other = format!("{message}A");
            assert!(!verify(signature, other.as_bytes(), key, algorithm).unwrap(), "{algorithm:?}");
            assert!(!verify(&signature[..84], message.as_bytes(), key, algorithm).unwrap(), "{algorithm:?}");
        }
        // A key works only for its own family, and symmetric algorithms never do.
        for (algorithm, key) in [
            (Algorithm::RS256, &ec),
            (Algorithm::ES256, &ed),
            (Algorithm::EdDSA, &rsa),
            (Algorithm::HS256, &rsa),
            (Algorithm::HS256, &DecodingKey::from_secret(b"secret")),
        ] {
            assert!(verify("AAAA", b"message", key, algorithm).is_err(), "{algorithm:?}");
        }
    }
}
