//! Open-ended fields of a record.

/// Names with JSON texts. Unknown names are ignored.
pub(crate) type RawExtras = Vec<(String, String)>;

/// Bytes counted for a content block or an extra in addition to its own: an empty one is still an object to the host
/// and to the client.
pub(super) const PART_OVERHEAD: usize = 128;

/// Bytes of these extras, as the limit of a result counts them.
pub(super) fn extras_size(extras: &RawExtras) -> usize {
    extras.iter().map(|(name, json)| PART_OVERHEAD + name.len() + json.len()).sum()
}

/// Bytes of a text that may be absent.
pub(super) fn text_size(text: Option<&String>) -> usize {
    text.map_or(0, String::len)
}
