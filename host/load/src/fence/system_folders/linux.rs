//! The usual places, and other mounts of the kernel's file systems.

use std::{fs, path::PathBuf};

/// Mount points of kernel file systems, which are fenced wherever else they are mounted, too.
const SYSTEM_FOLDERS: [&str; 3] = ["/proc", "/sys", "/dev"];
/// Kernel file system types.
const KERNEL_FILE_SYSTEMS: [&str; 15] = [
    "proc",
    "sysfs",
    "devtmpfs",
    "devpts",
    "cgroup",
    "cgroup2",
    "debugfs",
    "tracefs",
    "securityfs",
    "configfs",
    "bpf",
    "efivarfs",
    "pstore",
    "mqueue",
    "binfmt_misc",
];

/// Lists the folders, which need not exist.
pub(in super::super) fn system_folders() -> impl Iterator<Item = PathBuf> {
    SYSTEM_FOLDERS.map(PathBuf::from).into_iter().chain(kernel_mounts())
}

/// Lists the mount points of kernel file systems; empty if they cannot be read.
fn kernel_mounts() -> Vec<PathBuf> {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    text.lines().filter_map(kernel_mount).collect()
}

/// Parses a mountinfo line (proc(5)): the mount point, if its file system is the kernel's.
fn kernel_mount(line: &str) -> Option<PathBuf> {
    let (mount, kind) = line.split_once(" - ")?;
    let kind = kind.split(' ').next()?;
    // mountinfo writes white space and backslashes as octal numbers.
    let point = ["\\040", "\\011", "\\012", "\\134"].into_iter().zip([" ", "\t", "\n", "\\"]);
    let written = mount.split(' ').nth(4)?.to_owned();
    let point = point.fold(written, |text, (octal, plain)| text.replace(octal, plain));
    KERNEL_FILE_SYSTEMS.contains(&kind).then(|| PathBuf::from(point))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_mounts_are_found_by_kind() {
        let check = |line: &str, expected: Option<&str>| {
            assert_eq!(kernel_mount(line), expected.map(PathBuf::from), "{line}");
        };
        check("22 28 0:20 / /proc rw,nosuid - proc proc rw", Some("/proc"));
        check(
            "22 28 0:20 / /srv/with\\040space rw shared:1 master:2 - sysfs sysfs rw",
            Some("/srv/with space"),
        );
        check("30 28 8:1 / / rw - ext4 /dev/sda1 rw", None);
        check("30 28 0:5 / /dev/shm rw - tmpfs tmpfs rw", None);
        check("nonsense", None);
    }
}
