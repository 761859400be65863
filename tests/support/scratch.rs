//! State folders that no test looks into.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
};

/// State folder for hosts whose plugins store nothing. One per process of tests, since hosts record there which file
/// owns a name.
pub fn scratch() -> PathBuf {
    // Each process of tests has its own, and removes those of ended processes.
    static OWN: LazyLock<PathBuf> = LazyLock::new(|| {
        let all = Path::new(env!("LOGGIA_GUESTS")).join("state");
        for entry in fs::read_dir(&all).into_iter().flatten().flatten() {
            if !Path::new("/proc").join(entry.file_name()).exists() {
                drop(fs::remove_dir_all(entry.path()));
            }
        }
        all.join(std::process::id().to_string())
    });
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    OWN.join(NEXT.fetch_add(1, Ordering::Relaxed).to_string())
}
