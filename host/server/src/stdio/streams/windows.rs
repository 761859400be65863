//! Standard handles, which threads read and write.

use std::{
    fs::File,
    io,
    os::windows::io::{AsHandle, AsRawHandle},
};

use windows_sys::Win32::System::Console::{STD_OUTPUT_HANDLE, SetStdHandle};

use super::client::StdioStreams;

/// Takes over both, and makes the handle of stdout that of stderr. The duplicate is not inheritable.
#[allow(unsafe_code)]
pub(super) fn take() -> io::Result<StdioStreams> {
    let write = File::from(io::stdout().as_handle().try_clone_to_owned()?);
    // SAFETY: the handle of stderr is open for as long as the process runs.
    if unsafe { SetStdHandle(STD_OUTPUT_HANDLE, io::stderr().as_raw_handle()) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(StdioStreams { read: Box::pin(tokio::io::stdin()), write: Box::pin(tokio::fs::File::from_std(write)) })
}
