//! Names of variables and headers that usually hold credentials.

/// Parts of such names.
const PARTS: [&str; 7] = ["auth", "cookie", "credential", "key", "passw", "secret", "token"];
/// Whole words of such names.
const WORDS: [&str; 3] = ["pass", "pat", "pwd"];

/// Whether a variable or a header of this name usually holds a credential.
pub(crate) fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    PARTS.iter().any(|part| name.contains(part)) || name.split(['_', '-']).any(|word| WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_credentials_are_known() {
        for name in ["GITHUB_TOKEN", "Authorization", "x-api-key", "DB_PASSWORD", "GITHUB_PAT", "MYSQL_PWD"] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["PATH", "NODE_ENV", "Accept", "REGION", "COMPATIBLE"] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
