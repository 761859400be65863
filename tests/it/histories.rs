//! The checker of `tests/fleet`: a check that cannot fail is worth nothing.

use std::{path::Path, process::Command};

use anyhow::{Result, ensure};

#[test]
fn the_checker_finds_what_is_not_linearizable() -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fleet");
    let mut python = Command::new("python3");
    let output =
        python.args(["-B", "-m", "unittest", "--quiet", "test_linear"]).current_dir(folder).output()?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success() && told.contains("Ran 13 tests"), "{told}");
    Ok(())
}
