//! The table of a README that a test writes.

use std::{fs, path::Path};

use anyhow::{Context, Result};

const BEGIN: &str = "<!-- written by a test -->\n";
const END: &str = "<!-- to here -->\n";

/// Reads the table between the two marks of `plugins/<readme>`; with `LOGGIA_WRITE` set, replaces it by `now` before.
pub fn read_table(readme: &str, now: &str) -> Result<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins").join(readme);
    let text = fs::read_to_string(&path)?;
    let (before, rest) = text.split_once(BEGIN).context("no begin")?;
    let (there, after) = rest.split_once(END).context("no end")?;
    if std::env::var_os("LOGGIA_WRITE").is_some() {
        fs::write(&path, [before, BEGIN, now, END, after].concat())?;
        return Ok(now.to_owned());
    }
    Ok(there.to_owned())
}
