//! The folder in which the stores of all plugins are.

use std::{
    collections::HashMap,
    fmt,
    fs::{self, DirBuilder},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
    sync::{Arc, Weak},
};

use parking_lot::Mutex;

use crate::{
    StateError, Store,
    clock::{Clock, system_time},
    error,
    file::{ENDING, Place},
    pool::Pool,
    secret,
};

/// Where the stores' files are.
const STORES: &str = "stores";
const SECRET: &str = "secret";

/// The state folder: only its owner can look into it. A clone is the same folder.
#[derive(Clone)]
pub struct Folder {
    path: PathBuf,
    clock: Clock,
    /// The stores that are in use here, so that two of one name share their connections.
    pools: Arc<Mutex<HashMap<String, Weak<Pool>>>>,
}

impl Folder {
    /// Opens the folder, and makes it where it is missing.
    ///
    /// # Errors
    ///
    /// [`StateError::Storage`] if it cannot be made, or belongs to another user, or others can write to it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StateError> {
        Self::with_clock(path, Arc::new(system_time))
    }

    /// Opens the folder with another clock than the machine's, for tests of what expires.
    ///
    /// # Errors
    ///
    /// As [`Folder::open`].
    pub fn with_clock(path: impl AsRef<Path>, clock: Clock) -> Result<Self, StateError> {
        let path = path.as_ref();
        let path = own(path).and_then(fs::canonicalize).map_err(|error| error::io(path, &error))?;
        let stores = path.join(STORES);
        own(&stores).map_err(|error| error::io(&stores, &error))?;
        Ok(Self { path, clock, pools: Arc::default() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The store of this name, which may take so many bytes: keys, values and [`OVERHEAD`](crate::OVERHEAD) for each
    /// entry, over all spaces. Costs nothing: the file is opened at first use, and made at the first commit.
    ///
    /// # Errors
    ///
    /// [`StateError::Invalid`] if the name does not match `^[a-z][a-z0-9_-]{0,31}$`.
    pub fn store(&self, name: &str, quota: u64) -> Result<Store, StateError> {
        let place = self.place(name)?;
        let mut pools = self.pools.lock();
        pools.retain(|_, pool| pool.strong_count() > 0);
        let pool = pools.get(name).and_then(Weak::upgrade).unwrap_or_else(|| {
            let pool = Arc::new(Pool::new(place));
            pools.insert(name.to_owned(), Arc::downgrade(&pool));
            pool
        });
        Ok(Store { name: name.into(), pool, quota, clock: Arc::clone(&self.clock) })
    }

    /// The names of the stores that have a file, sorted.
    ///
    /// # Errors
    ///
    /// [`StateError::Storage`] if the folder cannot be read.
    pub fn names(&self) -> Result<Vec<String>, StateError> {
        let stores = self.path.join(STORES);
        let list = || {
            let mut names = Vec::new();
            for file in fs::read_dir(&stores)? {
                let file = PathBuf::from(file?.file_name());
                let name = file.file_stem().and_then(|name| name.to_str()).filter(|name| is_name(name));
                if let (Some(name), Some(ENDING)) =
                    (name, file.extension().and_then(|ending| ending.to_str()))
                {
                    names.push(name.to_owned());
                }
            }
            names.sort_unstable();
            io::Result::Ok(names)
        };
        list().map_err(|error| error::io(&stores, &error))
    }

    /// Random bytes that belong to the folder, the same for all processes, made at first use.
    ///
    /// # Errors
    ///
    /// [`StateError::Storage`] if the file cannot be read or made, or has not 32 bytes.
    pub fn secret(&self) -> Result<[u8; 32], StateError> {
        secret::read_or_make(&self.path, SECRET).map_err(|error| error::io(&self.path.join(SECRET), &error))
    }

    /// Takes a store's file away, if it is there. Processes that use it go on with an empty store, whose versions are
    /// higher than all before. [`Store::clear`] is gentler: it leaves the file.
    ///
    /// # Errors
    ///
    /// [`StateError::Storage`] if it cannot be removed, [`StateError::Invalid`] for what is no name.
    pub fn remove(&self, name: &str) -> Result<(), StateError> {
        self.place(name)?.remove()
    }

    fn place(&self, name: &str) -> Result<Place, StateError> {
        if !is_name(name) {
            let said =
                format!("`{name}` is no name of a store: up to 32 of a-z, 0-9, _ and -, a letter first");
            return Err(StateError::Invalid(said));
        }
        Ok(Place::new(&self.path.join(STORES), name))
    }
}

impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Folder").field(&self.path).finish()
    }
}

fn is_name(name: &str) -> bool {
    let rest = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'-';
    name.len() <= 32 && name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(rest)
}

/// Makes a folder where it is missing, and sees to it that nobody else can write there. One that is there keeps its
/// mode: it may be more than ours.
fn own(path: &Path) -> io::Result<&Path> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    let meta = fs::metadata(path)?;
    let said = if meta.uid() != rustix::process::geteuid().as_raw() {
        "the folder belongs to another user"
    } else if meta.mode() & 0o022 != 0 {
        "others can write to the folder: take that right from them (chmod go-w), or choose another folder"
    } else {
        return Ok(path);
    };
    Err(io::Error::new(io::ErrorKind::PermissionDenied, said))
}
