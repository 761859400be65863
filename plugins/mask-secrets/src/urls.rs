//! Passwords in URLs.

use crate::scan::Found;

/// Longest name and password that are read.
const MAX_USER_INFO: usize = 1024;

/// Finds the passwords of `scheme://user:password@host`.
pub fn find_passwords(text: &str) -> Vec<Found> {
    let bytes = text.as_bytes();
    let password = |(at, _): (usize, &str)| {
        let from = at + 3;
        if at == 0 || !bytes[at - 1].is_ascii_alphanumeric() {
            return None;
        }
        let ends = |byte: &u8| {
            byte.is_ascii_whitespace() || matches!(byte, b'/' | b'?' | b'#' | b'"' | b'<' | b'>' | b'`')
        };
        let length = bytes[from..].iter().take(MAX_USER_INFO).take_while(|byte| !ends(byte)).count();
        let authority = &bytes[from..from + length];
        let host = authority.iter().rposition(|byte| *byte == b'@')?;
        let user = authority[..host].iter().position(|byte| *byte == b':')?;
        (user + 1 < host).then_some(from + user + 1..from + host)
    };
    text.match_indices("://").filter_map(password).collect()
}
