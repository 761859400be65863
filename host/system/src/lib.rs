//! What the host asks of the operating system and each system answers differently. Each module has the same functions on all
//! systems, and documents what a system cannot do; `docs/operators/serving.md` lists it for operators.
//!
//! | module | concept |
//! |---|---|
//! | `identity` | whether two names lead to one file |
//! | `stat` | whether a file has changed |
//! | `file` | files of one user, and opening without waiting |
//! | `folder` | folders of one user, and their names on the disk |
//! | `thread` | CPU time and priority of a thread |
//! | `descriptors` | the limit of open files |

#[cfg(not(any(unix, windows)))]
compile_error!("Loggia runs on Unix and Windows");

pub mod descriptors;
pub mod file;
pub mod folder;
mod identity;
mod stat;
pub mod thread;

pub use identity::FileIdentity;
pub use stat::FileStat;
