//! Files of one user, and opening without waiting. For Windows, see [`folder`](crate::folder).

mod readers;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

pub use readers::FileReaders;
#[cfg(unix)]
pub use unix::{copy_owner, is_exposed, open_at_once, open_no_link, private_options, temporary_in};
#[cfg(windows)]
pub use windows::{copy_owner, is_exposed, open_at_once, open_no_link, private_options, temporary_in};

#[cfg(test)]
mod tests {
    use std::{
        fs,
        io::{Read, Write},
    };

    use super::*;

    #[test]
    fn a_new_file_belongs_to_one_user() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut file = private_options().create_new(true).write(true).open(&path).unwrap();
        file.write_all(b"text").unwrap();
        assert!(!is_exposed(&file.metadata().unwrap()));
        copy_owner(&fs::metadata(&path).unwrap(), &file).unwrap();
        let mut options = fs::OpenOptions::new();
        open_no_link(options.read(true));
        let mut text = String::new();
        options.open(&path).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
    }

    #[test]
    fn a_temporary_file_takes_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for (text, readers) in [("one", FileReaders::Everyone), ("two", FileReaders::Default)] {
            let mut file = temporary_in(folder.path(), ".beside", readers).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            file.persist(&path).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
