//! A file to import, read through the facade `files`.

use loggia_sdk::{failure::code, host::Request, prelude::*};

/// Maximum size of a file.
const FILE: u64 = 8 * 1024 * 1024;
/// Bytes per call: the most that `files.get` returns.
const PART: u64 = 131_072;

/// Reads a whole text file.
///
/// # Errors
///
/// The failures of `files.get`; `denied` with the grant that is missing.
pub fn read(path: &str) -> Result<String> {
    let (mut text, mut offset) = (String::new(), 0);
    loop {
        let request = Request::new("files", "get").param("path", path).param("encoding", "text");
        let part = request.param("offset", offset).param("limit", PART).call().map_err(explain)?.data;
        let size = part["size"].as_u64().unwrap_or_default();
        if size > FILE {
            let message = format!("too large to import: {path} has {size} bytes");
            return Err(Failure::invalid_params(message).hint(format!("At most {} MiB.", FILE >> 20)));
        }
        text.push_str(part["text"].as_str().unwrap_or_default());
        match part["next_offset"].as_u64() {
            // Never backwards, whatever the other facade answers.
            Some(next) if next > offset => offset = next,
            _ => return Ok(text),
        }
    }
}

/// Adds the way without a grant to a refusal.
fn explain(mut failure: Failure) -> Failure {
    if failure.code != code::DENIED {
        return failure;
    }
    let hint = failure.hint.take().map_or(String::new(), |hint| format!("{}. ", hint.trim_end_matches('.')));
    failure.hint(format!("{hint}Or pass the content of the file as `text`."))
}
