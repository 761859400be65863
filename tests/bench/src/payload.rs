//! Payloads of requests.

/// Size in bytes of a small call's input, a JSON object.
pub const SMALL: usize = 100;
/// The size of a large call's input.
pub const LARGE: usize = 64 << 10;

/// A JSON object of exactly `size` bytes (80 at least), as text.
pub fn payload(size: usize) -> String {
    let mut text = String::from(r#"{"first":"mark-a""#);
    let tail = r#","last":"mark-z"}"#;
    let empty_pad = r#","pad":"""#;
    let mut n = 0;
    loop {
        let member = format!(r#","k{n}":"value-{n}-abcdefghijklmnopqrstuvwxyz-0123456789""#);
        if text.len() + member.len() + empty_pad.len() + tail.len() > size {
            break;
        }
        text.push_str(&member);
        n += 1;
    }
    let fill = size.saturating_sub(text.len() + tail.len() + empty_pad.len());
    text.push_str(&format!(r#","pad":"{}""#, "x".repeat(fill)));
    text.push_str(tail);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_has_exactly_its_size() {
        for size in [80, SMALL, 117, 1000, 1001, 1049, LARGE] {
            let text = payload(size);
            assert_eq!(text.len(), size);
            assert!(serde_json::from_str::<serde_json::Value>(&text).unwrap().is_object());
        }
    }
}
