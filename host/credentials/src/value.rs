//! Rules for the value of a credential.

/// Bytes of the shortest credential. A shorter one would match ordinary text of responses, in which it is redacted.
const SHORTEST: usize = 8;
/// Bytes of the longest.
const LONGEST: usize = 4 << 10;

/// Checks a credential's value: from 8 to 4096 visible ASCII characters and spaces, since it is sent in a header.
///
/// # Errors
///
/// The rule that it breaks, to be read after its name.
pub(crate) fn check_value(value: &str) -> Result<(), &'static str> {
    if !(SHORTEST..=LONGEST).contains(&value.len()) {
        return Err("must have from 8 to 4096 characters");
    }
    if !value.chars().all(|c| matches!(c, ' '..='~')) {
        return Err("must contain only visible ASCII characters and spaces");
    }
    Ok(())
}
