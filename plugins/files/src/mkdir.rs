//! `mkdir`: a directory, with those above it.

use std::fs;

use loggia_sdk::prelude::*;

use crate::roots::Place;

/// Result of `mkdir`.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Made {
    pub path: String,
    /// False if it existed.
    pub created: bool,
}

/// Makes the directory unless it exists.
pub fn mkdir(place: &Place) -> Result<Made> {
    let (path, real) = (place.path(), place.followed()?);
    match fs::metadata(&real) {
        Ok(metadata) if metadata.is_dir() => return Ok(Made { path, created: false }),
        Ok(_) => return Err(Failure::conflict(format!("it is not a directory: {path}"))),
        Err(_) => {}
    }
    fs::create_dir_all(real).map_err(|error| place.unchanged(error))?;
    Ok(Made { path, created: true })
}
