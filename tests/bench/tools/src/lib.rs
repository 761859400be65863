//! The five tools that every benched server offers. Each server wraps these same functions, so that only the host
//! around them differs.

use serde_json::Value;

/// Fixed at build time. The bench writes another text of the same length over it in a component's bytes, and so has
/// as many versions as it needs without a compiler.
pub const VERSION: &str = "bench-version-0001";

/// Returns its input unchanged.
pub fn echo(input: String) -> String {
    input
}

/// Parses the input as a JSON object, adds two members, writes it out again.
///
/// # Errors
///
/// If the input is not a JSON object; the parser's sentence.
pub fn transform(input: &str) -> Result<String, String> {
    let mut value: Value = serde_json::from_str(input).map_err(|e| e.to_string())?;
    let object = value.as_object_mut().ok_or("input is not a JSON object")?;
    let members = object.len();
    object.insert("seen".into(), true.into());
    object.insert("members".into(), members.into());
    serde_json::to_string(&value).map_err(|e| e.to_string())
}

/// Never returns.
pub fn spin() -> String {
    let mut n = 0u64;
    loop {
        n = std::hint::black_box(n.wrapping_add(1));
    }
}

/// Allocates (and touches) memory until something stops it.
pub fn hog() -> String {
    let mut kept: Vec<Vec<u8>> = Vec::new();
    loop {
        kept.push(std::hint::black_box(vec![1u8; 1 << 20]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transform_adds_two_members_and_keeps_the_rest() {
        let text = transform(r#"{"a":1,"b":[2]}"#).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value, serde_json::json!({"a": 1, "b": [2], "seen": true, "members": 2}));
    }

    #[test]
    fn transform_refuses_non_objects() {
        assert!(transform("[1]").is_err());
        assert!(transform("{").is_err());
    }
}
