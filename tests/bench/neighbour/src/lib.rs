//! A misbehaving plugin, next to which others are measured.

use loggia_bench_tools as tools;
use loggia_sdk::{http, prelude::*};

struct Neighbour;

/// Does its worst.
#[facade(name = "neighbour")]
impl Neighbour {
    /// Loops forever.
    #[action(read)]
    fn spin(&self) -> Result<String> {
        Ok(tools::spin())
    }

    /// Allocates without end.
    #[action(read)]
    fn hog(&self) -> Result<String> {
        Ok(tools::hog())
    }

    /// Traps immediately.
    #[action(read)]
    fn trap(&self) -> Result<()> {
        std::process::abort()
    }

    /// Logs without end.
    #[action(read)]
    fn flood_logs(&self) -> Result<()> {
        let line = "x".repeat(100);
        loop {
            info!("{line}");
        }
    }

    /// Sends this many requests; returns how many were answered.
    #[action(read, open_world)]
    fn flood_http(&self, url: String, n: usize) -> Result<usize> {
        let answers = http::send_all((0..n).map(|_| http::get(&url)).collect());
        Ok(answers.into_iter().filter(Result::is_ok).count())
    }
}

loggia_sdk::export!(Neighbour);
