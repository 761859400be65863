//! Own tokens, made by `loggia token new`: 256 random bits, of which the server stores a hash.
//!
//! A plain SHA-256 is enough for random tokens, but not for passwords, so only tokens of this form are accepted.

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use data_encoding::HEXLOWER;
use loggia_gate::access::CallerRights;
use loggia_policy::settings::credential::SHA256;
pub use loggia_policy::settings::credential::{PREFIX, TokenHash, check_name, parse_expiry, parse_hash};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use tokio_util::sync::CancellationToken;

use super::refusal::RefusalReason;

/// Random bytes of a token.
const RANDOM: usize = 32;
/// Checksum length in bytes: lets the server distinguish a mistyped token from a revoked one.
const CHECKSUM: usize = 4;

/// Generates a token.
pub fn generate() -> String {
    let mut random = [0; RANDOM];
    // Without the kernel's randomness no token would be safe. It cannot fail after boot.
    getrandom::fill(&mut random).unwrap_or_else(|e| unreachable!("the kernel gave no random bits: {e}"));
    format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode([&random[..], &checksum(&random)].concat()))
}

/// Hashes a token, in the form of `loggia.toml`.
pub fn hash(token: &str) -> String {
    format!("{SHA256}{}", HEXLOWER.encode(&Sha256::digest(token)))
}

/// Returns the seconds since 1970. With a clock before that, every token has expired.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.ok().and_then(|since| i64::try_from(since.as_secs()).ok()).unwrap_or(i64::MAX)
}

fn checksum(random: &[u8]) -> [u8; CHECKSUM] {
    let digest = Sha256::digest(random);
    std::array::from_fn(|at| digest[at])
}

/// Returns true if the token's checksum is correct.
fn has_valid_checksum(token: &str) -> bool {
    let body = token.strip_prefix(PREFIX).and_then(|body| URL_SAFE_NO_PAD.decode(body).ok());
    body.is_some_and(|body| body.len() == RANDOM + CHECKSUM && body[RANDOM..] == checksum(&body[..RANDOM]))
}

/// A token of the settings, as operators see it: without what it could be recognised by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenListing {
    /// Name of its caller.
    pub name: String,
    /// Its scopes.
    pub scopes: Vec<String>,
    /// Time from which it is refused, in seconds since 1970.
    pub expires: Option<i64>,
    /// True if that time has come.
    pub has_expired: bool,
    /// True if it is on the list of revoked tokens.
    pub is_revoked: bool,
    /// The only profile that it may use.
    pub profile: Option<String>,
}

/// A token of the settings.
#[derive(Debug, Clone)]
pub(super) struct KnownToken {
    pub name: String,
    pub hash: TokenHash,
    pub rights: CallerRights,
    pub expires: Option<i64>,
    /// The only profile that it may use.
    pub profile: Option<Arc<str>>,
    /// Cancelled when the token is revoked.
    pub revoked: CancellationToken,
}

impl KnownToken {
    fn is_same(&self, other: &Self) -> bool {
        let identity = |known: &Self| {
            (known.name.clone(), known.hash, known.rights.clone(), known.expires, known.profile.clone())
        };
        identity(self) == identity(other)
    }
}

/// The tokens of the settings.
#[derive(Debug, Default)]
pub(super) struct TokenSet(Vec<KnownToken>);

impl TokenSet {
    pub fn new(known: Vec<KnownToken>) -> Self {
        Self(known)
    }

    /// Keeps the revocation tokens of unchanged entries, so that their streams continue.
    pub fn keep_unchanged(&mut self, former: &Self) {
        for known in &mut self.0 {
            if let Some(same) = former.0.iter().find(|same| same.is_same(known)) {
                known.revoked = same.revoked.clone();
            }
        }
    }

    /// Revokes the tokens that are not among the later ones.
    pub fn revoke_missing_from(&self, later: &Self) {
        let gone = |known: &&KnownToken| !later.0.iter().any(|kept| kept.is_same(known));
        self.0.iter().filter(gone).for_each(|known| known.revoked.cancel());
    }

    /// Lists the tokens, without their hashes.
    pub fn listing(&self, now: i64) -> Vec<TokenListing> {
        let listed = self.0.iter().map(|known| TokenListing {
            name: known.name.clone(),
            scopes: known.rights.scopes().unwrap_or_else(|| vec!["*".to_owned()]),
            expires: known.expires,
            has_expired: known.expires.is_some_and(|at| at <= now),
            is_revoked: false,
            profile: known.profile.as_deref().map(str::to_owned),
        });
        listed.collect()
    }

    /// Hashes of the tokens, in the order of [`listing`](Self::listing).
    pub fn hashes(&self) -> impl Iterator<Item = TokenHash> {
        self.0.iter().map(|known| known.hash)
    }

    /// Finds a token in constant time: all hashes are compared completely, so that the duration reveals nothing about them.
    pub fn find(&self, token: &str, now: i64) -> Result<&KnownToken, RefusalReason> {
        if !has_valid_checksum(token) {
            return Err(RefusalReason::Invalid("the token is truncated or mistyped"));
        }
        let hash: TokenHash = Sha256::digest(token).into();
        let (mut found, mut at) = (Choice::from(0), 0_u64);
        for (n, known) in (0_u64..).zip(&self.0) {
            let same = known.hash.ct_eq(&hash);
            at.conditional_assign(&n, same);
            found |= same;
        }
        let known = usize::try_from(at).ok().and_then(|at| self.0.get(at)).filter(|_| found.into());
        match known {
            None => Err(RefusalReason::Invalid("the token is unknown; it may have been revoked")),
            Some(known) if known.expires.is_some_and(|expires| expires <= now) => {
                Err(RefusalReason::Invalid("the token has expired"))
            }
            Some(known) => Ok(known),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(name: &str, token: &str, expires: Option<i64>) -> KnownToken {
        let hash = parse_hash(&hash(token)).unwrap();
        KnownToken {
            name: name.into(),
            hash,
            rights: CallerRights::all(),
            expires,
            profile: None,
            revoked: CancellationToken::new(),
        }
    }

    #[test]
    fn tokens_are_random_and_checksummed() {
        let (one, other) = (generate(), generate());
        assert_ne!(one, other);
        for token in [&one, &other] {
            assert!(token.starts_with("loggia_") && token.len() == 55, "{token}");
            assert!(has_valid_checksum(token));
        }
        assert!(!has_valid_checksum(&one[..54]));
        assert!(!has_valid_checksum(&format!("{one}A")));
        assert!(!has_valid_checksum(&format!("{one}=")));
        assert!(!has_valid_checksum("loggia_"));
        for at in PREFIX.len()..one.len() {
            let mut slip = one.clone().into_bytes();
            slip[at] = if slip[at] == b'a' { b'b' } else { b'a' };
            assert!(!has_valid_checksum(&String::from_utf8(slip).unwrap()), "a slip at {at}");
        }
    }

    #[test]
    fn tokens_are_found_by_hash_until_expiry() {
        let [first, second, last, unknown] = [(); 4].map(|()| generate());
        let tokens = TokenSet::new(vec![
            known("first", &first, None),
            known("second", &second, Some(100)),
            known("last", &last, None),
        ]);
        let check = |token: &str, now: i64, expected: Result<&str, &str>| {
            let found = tokens.find(token, now).map(|known| known.name.as_str());
            assert_eq!(found.map_err(|reason| reason.to_string()), expected.map_err(str::to_owned));
        };
        check(&first, 0, Ok("first"));
        check(&second, 99, Ok("second"));
        check(&second, 100, Err("the token has expired"));
        check(&last, i64::MAX, Ok("last"));
        check(&unknown, 0, Err("the token is unknown; it may have been revoked"));
        check(&first[..40], 0, Err("the token is truncated or mistyped"));
        assert!(TokenSet::default().find(&first, 0).is_err());
    }

    #[test]
    fn removed_or_changed_tokens_are_revoked() {
        let [kept, gone, changed] = [(); 3].map(|()| generate());
        let all = |rights: CallerRights| {
            let mut changed = known("changed", &changed, None);
            changed.rights = rights;
            vec![known("kept", &kept, None), changed]
        };
        let mut before = all(CallerRights::all());
        before.push(known("gone", &gone, None));
        let before = TokenSet::new(before);
        let mut after = TokenSet::new(all(CallerRights::from_scopes([])));
        after.keep_unchanged(&before);
        before.revoke_missing_from(&after);
        let over = |tokens: &TokenSet| -> Vec<bool> {
            tokens.0.iter().map(|known| known.revoked.is_cancelled()).collect()
        };
        assert_eq!(over(&before), [false, true, true]);
        assert_eq!(over(&after), [false, false], "the one that changed is another now");
        // An unchanged token can still be revoked later.
        after.revoke_missing_from(&TokenSet::default());
        assert_eq!(over(&before), [true, true, true]);
    }

    #[test]
    fn hashes_dates_and_names_parse_strictly() {
        assert_eq!(parse_hash(&hash("a")).map(|hash| hash[..2].to_vec()), Some(vec![0xca, 0x97]));
        let digits = "0".repeat(64);
        assert!(parse_hash(&format!("sha256:{digits}")).is_some());
        for bad in
            ["", "sha256:", &digits, &format!("sha512:{digits}"), &format!("sha256:{}+0", "0".repeat(62))]
        {
            assert_eq!(parse_hash(bad), None, "{bad}");
        }
        assert_eq!(parse_hash(&format!("sha256:{}é", "0".repeat(62))), None);
        assert_eq!(parse_expiry("1970-01-02"), Some(24 * 60 * 60));
        for bad in ["", "2027-6-30", "2027-02-30", "30.06.2027", "2027-06-30T00:00:00Z", "tomorrow"] {
            assert_eq!(parse_expiry(bad), None, "{bad}");
        }
        for (name, good) in [
            ("ci", true),
            ("ada@example.com", true),
            ("", false),
            ("a b", false),
            ("a#b", false),
            ("é", false),
        ] {
            assert_eq!(check_name(name).is_ok(), good, "{name}");
        }
        assert!(check_name(&"a".repeat(65)).is_err());
    }
}
