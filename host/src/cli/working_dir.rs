//! The root of a call from a terminal: the directory in which the command runs.

use std::{env, sync::Arc};

use futures_util::{FutureExt, future::BoxFuture};
use loggia_facade::{ClientRoot, ClientRoots, RootSource};
use loggia_gate::access::CallOrigin;

/// Names the directory in which the command runs as the only root.
#[derive(Debug)]
struct WorkingDir;

impl RootSource for WorkingDir {
    fn roots(&self) -> BoxFuture<'_, ClientRoots> {
        let roots = match env::current_dir() {
            Ok(path) => {
                ClientRoots { roots: vec![ClientRoot { path, name: None }], ..ClientRoots::default() }
            }
            Err(error) => ClientRoots::absent(format!("its working directory cannot be read: {error}")),
        };
        std::future::ready(roots).boxed()
    }
}

/// Returns the origin of calls from a terminal, which are a person's.
pub fn terminal_origin() -> CallOrigin {
    CallOrigin::local().by_person().with_roots(Some(Arc::new(WorkingDir)))
}
