//! Size and times.

use std::{fs::Metadata, os::windows::fs::MetadataExt};

use super::file_stat::FileStat;

/// Windows counts time in steps of 100 ns since 1601.
const STEPS: i64 = 10_000_000;
const FROM_1601_TO_1970: i64 = 11_644_473_600;

pub(super) fn from_metadata(meta: &Metadata) -> FileStat {
    let (created, modified) = (since_1970(meta.creation_time()), since_1970(meta.last_write_time()));
    FileStat { device: 0, inode: 0, size: meta.file_size(), modified, changed: created.max(modified) }
}

fn since_1970(steps: u64) -> (i64, i64) {
    let steps = i64::try_from(steps).unwrap_or(i64::MAX);
    (steps / STEPS - FROM_1601_TO_1970, steps % STEPS * 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_begins_in_1970() {
        assert_eq!(since_1970(116_444_736_000_000_007), (0, 700));
    }
}
