//! The addresses of this machine's interfaces, as the system lists them.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::addresses;
#[cfg(windows)]
pub(crate) use windows::addresses;
