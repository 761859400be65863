//! The suite of backends, on files.

use std::sync::Arc;

use loggia_state::{
    StateFolder, state_suite,
    testing::{Room, clock},
};

fn room() -> Room {
    let dir = tempfile::tempdir().unwrap();
    let (clock, told) = clock();
    let folder = StateFolder::with_clock(dir.path(), Arc::clone(&told)).unwrap();
    Room { folder, clock, kept: Box::new(dir) }
}

state_suite!(room);
