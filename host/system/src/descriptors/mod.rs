//! The limit of open files.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{limit, raise_limit};
#[cfg(windows)]
pub use windows::{limit, raise_limit};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_never_falls() {
        let before = limit().unwrap_or(u64::MAX);
        raise_limit().unwrap();
        assert!(limit().unwrap_or(u64::MAX) >= before);
    }
}
