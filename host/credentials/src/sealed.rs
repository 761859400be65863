//! What keeps sealed credentials: files of a folder, or what else implements the port.

use std::{
    any::Any,
    fmt,
    fs::{self, File},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

use data_encoding::HEXLOWER;
use loggia_egress::CallerKey;
use loggia_system::{file::private_options, folder};

/// Subfolder of the state folder.
const FOLDER: &str = "credentials";
/// Bytes of the largest credential that is read.
const FILE_BYTES: u64 = 64 << 10;

/// What keeps sealed credentials. All functions block.
pub trait SealedRecords: fmt::Debug + Send + Sync {
    /// Reads the sealed credential of a caller.
    ///
    /// # Errors
    ///
    /// If there is one that cannot be read.
    fn read(&self, facade: &str, caller: CallerKey) -> io::Result<Option<Vec<u8>>>;

    /// Stores the sealed credential of a caller, in place of another one.
    ///
    /// # Errors
    ///
    /// If it cannot be written; the previous one is kept.
    fn write(&self, facade: &str, caller: CallerKey, sealed: &[u8]) -> io::Result<()>;

    /// Removes the credential of a caller; returns whether there was one.
    ///
    /// # Errors
    ///
    /// If it cannot be removed.
    fn remove(&self, facade: &str, caller: CallerKey) -> io::Result<bool>;

    /// Lists the owners of all credentials, by facade and key.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    fn list(&self) -> io::Result<Vec<(String, CallerKey)>>;

    /// Locks the credential of a caller against other changes until the result is dropped. Waits for another change.
    ///
    /// # Errors
    ///
    /// If it cannot be locked.
    fn lock(&self, facade: &str, caller: CallerKey) -> io::Result<Box<dyn Any + Send>>;

    /// Where the credential of a caller is, for messages.
    fn place(&self, facade: &str, caller: CallerKey) -> PathBuf;

    /// Where all are, for messages.
    fn root(&self) -> PathBuf;
}

/// Files of a state folder.
#[derive(Debug)]
pub(crate) struct FolderRecords(PathBuf);

impl FolderRecords {
    pub(crate) fn new(state: &Path) -> Self {
        Self(state.join(FOLDER))
    }

    fn create_folder(&self, facade: &str) -> io::Result<PathBuf> {
        let within = self.0.join(facade);
        folder::create_private(&within)?;
        Ok(within)
    }
}

impl SealedRecords for FolderRecords {
    fn read(&self, facade: &str, caller: CallerKey) -> io::Result<Option<Vec<u8>>> {
        match read_file(&self.place(facade, caller)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            found => found.map(Some),
        }
    }

    fn write(&self, facade: &str, caller: CallerKey, sealed: &[u8]) -> io::Result<()> {
        let within = self.create_folder(facade)?;
        // Temporary files are readable by their owner only.
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(&within)?;
        file.write_all(sealed)?;
        file.as_file().sync_all()?;
        file.persist(self.place(facade, caller))?;
        folder::sync(&within)
    }

    fn remove(&self, facade: &str, caller: CallerKey) -> io::Result<bool> {
        match fs::remove_file(self.place(facade, caller)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn list(&self) -> io::Result<Vec<(String, CallerKey)>> {
        let mut listed = Vec::new();
        for facade in names(&self.0)? {
            let keys = names(&self.0.join(&facade))?;
            listed.extend(keys.iter().filter_map(|name| parse_key(name)).map(|key| (facade.clone(), key)));
        }
        Ok(listed)
    }

    fn lock(&self, facade: &str, caller: CallerKey) -> io::Result<Box<dyn Any + Send>> {
        self.create_folder(facade)?;
        let path = self.place(facade, caller).with_extension("lock");
        let file: File = private_options().create(true).truncate(false).write(true).open(path)?;
        file.lock()?;
        Ok(Box::new(file))
    }

    fn place(&self, facade: &str, caller: CallerKey) -> PathBuf {
        self.0.join(facade).join(HEXLOWER.encode(&caller.0))
    }

    fn root(&self) -> PathBuf {
        self.0.clone()
    }
}

/// Reads a file that a vault may have written.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let meta = fs::metadata(path)?;
    // Reading a pipe would block until something is written to it.
    if !meta.is_file() || meta.len() > FILE_BYTES {
        return Err(io::Error::new(ErrorKind::InvalidData, "not a file of a vault"));
    }
    fs::read(path)
}

/// Names in a folder, sorted; none without a folder.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        entries => entries?,
    };
    let names = entries.map(|entry| Ok(entry?.file_name().into_string().ok()));
    let mut names: Vec<String> = names.filter_map(Result::transpose).collect::<io::Result<_>>()?;
    names.sort_unstable();
    Ok(names)
}

/// Parses the key of a caller.
pub fn parse_key(text: &str) -> Option<CallerKey> {
    HEXLOWER.decode(text.as_bytes()).ok()?.try_into().ok().map(CallerKey)
}
