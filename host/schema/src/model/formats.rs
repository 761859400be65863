//! The asserted values of `format`.

/// An asserted value of `format`.
pub(crate) struct StringFormat {
    /// The value of the keyword.
    keyword: &'static str,
    /// The name in messages.
    pub(crate) name: &'static str,
    /// A valid sample.
    pub(crate) sample: &'static str,
}

const fn format(key: &'static str, name: &'static str, sample: &'static str) -> StringFormat {
    StringFormat { keyword: key, name, sample }
}

const FORMATS: [StringFormat; 15] = [
    format("date", "date", "2026-01-31"),
    format("date-time", "date and time", "2026-01-31T09:00:00Z"),
    format("time", "time", "09:00:00Z"),
    format("duration", "duration", "PT15M"),
    format("email", "email address", "ada@example.com"),
    format("hostname", "host name", "example.com"),
    format("ipv4", "IPv4 address", "192.0.2.1"),
    format("ipv6", "IPv6 address", "2001:db8::1"),
    format("uri", "URI", "https://example.com/page"),
    format("uri-reference", "URI reference", "/page"),
    format("iri", "IRI", "https://example.com/page"),
    format("uuid", "UUID", "123e4567-e89b-12d3-a456-426614174000"),
    format("json-pointer", "JSON pointer", "/a/0"),
    format("regex", "regular expression", "^a+$"),
    format("uri-template", "URI template", "https://example.com/{id}"),
];

/// Finds an asserted format by the value of its keyword; none for others, such as `int64`.
pub(crate) fn find(key: &str) -> Option<&'static StringFormat> {
    FORMATS.iter().find(|format| format.keyword == key)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::contract::rules::compile;

    #[test]
    fn every_format_is_asserted_and_its_sample_is_valid() {
        for format in &FORMATS {
            let validator = compile(&json!({"format": format.keyword})).unwrap();
            assert!(validator.is_valid(&json!(format.sample)), "{}: {}", format.keyword, format.sample);
            if !matches!(format.keyword, "uri-reference") {
                assert!(!validator.is_valid(&json!("[\\ {")), "{} is not asserted", format.keyword);
            }
        }
    }
}
