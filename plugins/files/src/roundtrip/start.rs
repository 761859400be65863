//! `roundtrip_start`: reads the files and records their contents.

use std::{fs::File, io::Read, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use loggia_sdk::prelude::*;

use super::{
    BYTES, Manifest, begin_anew,
    journal::{at_rest, granted},
    manifest::{Seen, expires, manifests},
    place,
    settle::{TURNS, busy, settle},
};
use crate::{
    entry::Kind,
    roots::{Place, Roots},
    version,
};

/// Maximum size of a manifest's files as JSON: the host accepts 1 MiB.
const TOTAL: usize = 900 << 10;

/// Result of `roundtrip_start`.
#[detail]
#[derive(Debug, Serialize, JsonSchema)]
pub struct Started {
    /// Id for `roundtrip_preview` and `roundtrip_commit`.
    #[detail(minimal)]
    pub manifest_id: String,
    /// Expiry time, in UTC.
    pub expires: String,
    #[detail(minimal)]
    pub files: Vec<Snapshot>,
}

/// Current state of a file.
#[detail]
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Snapshot {
    #[detail(minimal)]
    pub path: String,
    /// The file does not exist.
    #[detail(minimal)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Content of a binary file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
}

/// Reads the files and makes a manifest of them.
pub fn start(roots: &Roots, paths: &[String], patience: Duration) -> Result<Reply<Started>> {
    let mut paths = paths.iter().map(|path| Ok(place(roots, path)?.path())).collect::<Result<Vec<_>>>()?;
    // Duplicates are read once.
    paths.sort_unstable();
    paths.dedup();
    granted()?;
    let manifests = manifests()?;
    for _ in 0..TURNS {
        settle(roots, patience)?;
        // Files of another round trip must not be read halfway: it would change what the transaction saw.
        let started = state::transaction(|tx| {
            if !at_rest(tx)? {
                return Ok(None);
            }
            let files = read(roots, &paths)?;
            let seen = |file: &Snapshot| Seen { path: file.path.clone(), sha256: file.sha256.clone() };
            let seen: Vec<_> = files.iter().map(seen).collect();
            let manifest =
                manifests.of(tx).create("rt_", |id| Manifest { id: id.to_owned(), files: seen.clone() })?;
            Ok(Some((manifest.id, files)))
        })?;
        if let Some((manifest_id, files)) = started {
            return Ok(Reply::new(Started { manifest_id, expires: expires()?, files }));
        }
    }
    Err(busy())
}

/// Reads all files, up to the size limit of a reply.
fn read(roots: &Roots, paths: &[String]) -> Result<Vec<Snapshot>> {
    let mut total = 0;
    let mut files = Vec::new();
    for path in paths {
        let file = snapshot(&roots.place(path)?)?;
        let text = file.text.as_ref().map_or(0, |text| json!(text).to_string().len());
        total += text + file.base64.as_ref().map_or(0, String::len) + file.path.len() + 200;
        if total > TOTAL {
            let message = format!(
                "too much for one round trip: with {} the files exceed {} KiB",
                file.path,
                TOTAL >> 10
            );
            let fewer = paths.iter().take(files.len()).cloned();
            let failure = Failure::invalid_params(message)
                .hint("Take fewer files at once; `get` reads large ones in parts.");
            return Err(if files.is_empty() { failure } else { failure.next(begin_anew(fewer)) });
        }
        files.push(file);
    }
    Ok(files)
}

/// Reads a file; reports a missing one.
fn snapshot(place: &Place) -> Result<Snapshot> {
    let path = place.path();
    let mut file = Snapshot { path, missing: false, sha256: None, size: None, text: None, base64: None };
    let Some(bytes) = content(place)? else { return Ok(Snapshot { missing: true, ..file }) };
    file.sha256 = Some(version::sha256(&bytes));
    file.size = Some(bytes.len() as u64);
    match text(bytes) {
        Ok(text) => file.text = Some(text),
        Err(bytes) => file.base64 = Some(STANDARD.encode(bytes)),
    }
    Ok(file)
}

/// Content of a file; `None` if it does not exist.
///
/// # Errors
///
/// `invalid_params` if it is not a file, or too large; `conflict` if it is a link.
pub fn content(place: &Place) -> Result<Option<Vec<u8>>> {
    let path = place.path();
    let metadata = match place.metadata() {
        Ok(metadata) => metadata,
        Err(failure) if failure.code == loggia_sdk::failure::code::NOT_FOUND => return Ok(None),
        Err(failure) => return Err(failure),
    };
    match Kind::from(metadata.file_type()) {
        Kind::File if metadata.len() <= BYTES => {}
        Kind::File => {
            let failure = Failure::invalid_params(format!(
                "too large for a round trip: {path} has {} bytes, and {BYTES} is the most",
                metadata.len()
            ));
            return Err(failure
                .hint("Read it in parts with `get`.")
                .next(Next::action("get").param("path", &path)));
        }
        Kind::Directory => {
            let failure = Failure::invalid_params(format!("it is a directory: {path}"));
            return Err(failure
                .hint("A round trip takes files: name them one by one.")
                .next(Next::action("list").param("path", &path)));
        }
        _ => {
            let failure = Failure::conflict(format!("it is neither a file nor a directory: {path}"));
            return Err(failure.hint("Name the target of a link, not the link."));
        }
    }
    let mut bytes = Vec::new();
    let file = File::open(place.real()?).map_err(|error| place.failed(error))?;
    file.take(BYTES + 1).read_to_end(&mut bytes).map_err(|error| place.failed(error))?;
    Ok(Some(bytes))
}

/// Converts bytes to text; returns them if they are not UTF-8.
pub fn text(bytes: Vec<u8>) -> std::result::Result<String, Vec<u8>> {
    if bytes.contains(&0) {
        return Err(bytes);
    }
    String::from_utf8(bytes).map_err(|error| error.into_bytes())
}
