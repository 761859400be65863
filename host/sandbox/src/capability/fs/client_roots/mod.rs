//! Directories that the client of a call names as its roots, each opened and checked in every call.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use loggia_facade::{ClientRoot, ClientRoots, RefusedRoot, Session};
use loggia_policy::model::DirGrant;
use loggia_system::FileIdentity;
use loggia_text::{printable, shorten};

use super::{
    root::{GrantedRoot, open_dir},
    root_names::RootNames,
};
use crate::{
    capability::root_fence::{FoundRoot, RootFence},
    meter::CpuMeter,
};

/// Maximum number of characters of a notice.
const NOTICE: usize = 1000;
/// Maximum number of refusals that are remembered, so that each is logged once.
const LOGGED: usize = 256;

/// Grants of a facade of which clients name the directories.
pub(super) struct RootGrants {
    facade: String,
    grants: Vec<DirGrant>,
    /// Guest paths of the directories that are granted themselves.
    taken: Vec<String>,
    fence: Arc<dyn RootFence>,
    /// Refusals that were logged. Held for an insertion; no other lock is taken under it.
    logged: Mutex<BTreeSet<String>>,
}

/// The roots of one call, and why there are none or not all.
#[derive(Default)]
pub(crate) struct OpenedRoots {
    pub(super) roots: Vec<GrantedRoot>,
    /// Sentence for the caller.
    pub(super) notice: Option<String>,
}

/// A root that a grant allows, before the fence has seen it.
struct AllowedRoot {
    /// Index in the client's list.
    root: usize,
    /// Index of the grant.
    grant: usize,
    found: FoundRoot,
    opened: GrantedRoot,
}

impl RootGrants {
    /// `None`: no grant takes its directories from clients.
    pub(super) fn new(facade: &str, dirs: &[DirGrant], fence: &Arc<dyn RootFence>) -> Option<Self> {
        let (grants, granted): (Vec<_>, Vec<_>) = dirs.iter().cloned().partition(|grant| grant.roots);
        (!grants.is_empty()).then(|| Self {
            facade: facade.to_owned(),
            grants,
            taken: granted.into_iter().map(|grant| grant.at).collect(),
            fence: Arc::clone(fence),
            logged: Mutex::default(),
        })
    }

    /// Opens the roots of a call's client, on a thread that may block.
    pub(super) async fn open_for(self: &Arc<Self>, session: &Session, meter: &Arc<CpuMeter>) -> OpenedRoots {
        let named = session.client_roots().await;
        let grants = Arc::clone(self);
        meter.run_blocking(move || grants.open(&named)).await
    }

    fn open(&self, named: &ClientRoots) -> OpenedRoots {
        if let Some(absence) = &named.absence {
            let notice = format!(
                "The client named no roots: {absence}. The operator can grant directories without `roots`."
            );
            return OpenedRoots { roots: Vec::new(), notice: Some(shorten(&notice, NOTICE)) };
        }
        let mut allowed = Vec::new();
        let mut reasons = BTreeMap::new();
        for (at, root) in named.roots.iter().enumerate() {
            match self.find(at, root) {
                Ok(found) => allowed.extend(found),
                Err(reason) => {
                    self.log_once(&format!("{} {reason}", root.path.display()));
                    reasons.insert(at, reason);
                }
            }
        }
        let roots = self.admit(&named.roots, allowed, &mut reasons);
        let refused = reasons
            .into_iter()
            .map(|(at, reason)| RefusedRoot { root: named.roots[at].label(), reason }.to_string());
        let refused: Vec<String> = named.refused.iter().map(ToString::to_string).chain(refused).collect();
        let notice = (!refused.is_empty()).then(|| {
            let begin = match roots.is_empty() {
                true => "No root of the client can be used",
                false => "Left out of the client's roots",
            };
            shorten(&format!("{begin}: {}.", refused.join("; ")), NOTICE)
        });
        OpenedRoots { roots, notice }
    }

    /// Gives the roots that the fence lets through their guest paths; adds the reason for each other that no grant has.
    fn admit(
        &self,
        named: &[ClientRoot],
        allowed: Vec<AllowedRoot>,
        reasons: &mut BTreeMap<usize, String>,
    ) -> Vec<GrantedRoot> {
        let found: Vec<FoundRoot> = allowed.iter().map(|allowed| allowed.found.clone()).collect();
        let refusals = if found.is_empty() { Vec::new() } else { self.fence.refusals(&found) };
        let mut names = RootNames::new(&self.taken);
        let (mut roots, mut used, mut mounted) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        for (AllowedRoot { root, grant, found, mut opened }, refusal) in allowed.into_iter().zip(refusals) {
            if let Some(refusal) = refusal {
                self.log_once(&format!("{} {refusal}", found.path.display()));
                reasons.insert(root, "is a directory that no plugin may have".to_owned());
                continue;
            }
            used.insert(root);
            // The client may name one directory twice, by two paths.
            if mounted.insert((grant, found.identity)) {
                opened.at = names.take(&self.grants[grant].at, &named[root]);
                roots.push(opened);
            }
        }
        reasons.retain(|root, _| !used.contains(root));
        roots
    }

    /// Opens a root, once for each grant that allows it.
    fn find(&self, at: usize, root: &ClientRoot) -> Result<Vec<AllowedRoot>, String> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => "does not exist".to_owned(),
            io::ErrorKind::NotADirectory => "is not a directory".to_owned(),
            io::ErrorKind::PermissionDenied => "cannot be opened: permission denied".to_owned(),
            kind => format!("cannot be opened: {kind}"),
        };
        // Opened first, so that what is checked is what is used.
        let opened = open_dir(&root.path).map_err(failed)?;
        let path = root.path.canonicalize().map_err(failed)?;
        let id = FileIdentity::of_file(&opened).map_err(failed)?;
        let is_at = |path: &Path| {
            open_dir(path).and_then(|dir| FileIdentity::of_file(&dir)).is_ok_and(|found| found == id)
        };
        if !is_at(&path) {
            return Err("was replaced while it was opened".to_owned());
        }
        let mut allowed = Vec::new();
        for (number, grant) in
            self.grants.iter().enumerate().filter(|(_, grant)| lies_below(&path, &grant.path))
        {
            let dir = opened.try_clone().map_err(failed)?;
            allowed.push(AllowedRoot {
                root: at,
                grant: number,
                found: FoundRoot {
                    named: root.path.clone(),
                    path: path.clone(),
                    identity: id,
                    writable: grant.writable,
                },
                opened: GrantedRoot::new(dir, grant.at.clone(), grant.writable).map_err(failed)?,
            });
        }
        match allowed.is_empty() {
            true => Err("is not below a directory that the policy allows".to_owned()),
            false => Ok(allowed),
        }
    }

    /// Logs a refusal, unless it was logged already. Further ones than are remembered are not logged.
    fn log_once(&self, refusal: &str) {
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.len() < LOGGED && logged.insert(refusal.to_owned()) {
            let facade = &self.facade;
            tracing::warn!(facade, "a root of the client is left out: {}", printable(refusal));
        }
    }
}

/// Whether a path without links lies below the directory of a grant, which may have links on its path.
fn lies_below(path: &Path, grant: &Path) -> bool {
    grant.canonicalize().is_ok_and(|grant| path != grant && path.starts_with(grant))
}

#[cfg(test)]
mod tests;
