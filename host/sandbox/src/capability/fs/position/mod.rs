//! Reading and writing a file at a position, and at its end.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(all(unix, not(target_os = "linux")))]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub(super) use linux::{append, read_at, write_all_at};
#[cfg(all(unix, not(target_os = "linux")))]
pub(super) use unix::{append, read_at, write_all_at};
#[cfg(windows)]
pub(super) use windows::{append, read_at, write_all_at};

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, File},
        io::{Seek, Write},
    };

    use super::*;

    #[test]
    fn the_position_of_the_file_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut file = File::options().create_new(true).read(true).write(true).open(&path).unwrap();
        file.write_all(b"12345").unwrap();
        file.rewind().unwrap();
        append(&file, b"67").unwrap();
        write_all_at(&file, b"ab", 1).unwrap();
        let mut bytes = [0; 8];
        assert_eq!((read_at(&file, &mut bytes, 2).unwrap(), &bytes[..5]), (5, &b"b4567"[..]));
        assert_eq!(fs::read(&path).unwrap(), b"1ab4567");
    }
}
