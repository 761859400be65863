//! Folders of the kernel: they expose processes, their memory and environment, and devices.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
pub(super) use linux::system_folders;
#[cfg(not(target_os = "linux"))]
pub(super) use other::system_folders;
