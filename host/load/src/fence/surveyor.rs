//! Surveys of one host: for versions when they are admitted, and for the roots of clients in calls.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use loggia_policy::model::PolicyPaths;
use loggia_sandbox::{FoundRoot, RootFence};

use super::{
    rules::{DirChain, TrustFence},
    survey::{PolicyFiles, TrustPlaces, link_dirs, survey},
};

/// Locates what the host trusts, with what it knows of the folder's policies.
#[derive(Default)]
pub struct FenceSurveyor {
    places: TrustPlaces,
    /// Policies of the folder, as of the last survey. The lock is held during a survey, so that concurrent admissions
    /// do not reread them. A survey only reads files and takes no other lock.
    policies: Mutex<PolicyFiles>,
    /// Paths of the versions that serve, whose policies may have changed since. Held for a copy.
    serving: Mutex<Vec<PolicyPaths>>,
}

impl FenceSurveyor {
    /// Creates a surveyor of these places.
    pub fn new(places: TrustPlaces) -> Self {
        Self { places, ..Self::default() }
    }

    /// Builds the fence for all plugins of a folder. `more` are the paths of versions that keep serving after their
    /// policies changed.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    pub fn survey<'a>(
        &self,
        folder: &Path,
        more: impl IntoIterator<Item = &'a PolicyPaths>,
    ) -> io::Result<TrustFence> {
        let mut policies = self.policies.lock().unwrap_or_else(PoisonError::into_inner);
        survey(&self.places, folder, &mut policies, more)
    }

    /// Records the paths of all versions that serve.
    pub fn set_serving(&self, paths: Vec<PolicyPaths>) {
        *self.serving.lock().unwrap_or_else(PoisonError::into_inner) = paths;
    }

    fn serving(&self) -> Vec<PolicyPaths> {
        self.serving.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The fence around the roots of clients, for one facade.
pub struct ClientRootFence {
    surveyor: Arc<FenceSurveyor>,
    /// Plugin folder.
    folder: PathBuf,
    /// Paths of the facade's own policy.
    own: PolicyPaths,
}

impl ClientRootFence {
    /// Creates the fence for a facade whose policy names these paths.
    pub fn new(surveyor: &Arc<FenceSurveyor>, folder: PathBuf, own: PolicyPaths) -> Self {
        Self { surveyor: Arc::clone(surveyor), folder, own }
    }

    fn refusal(fence: &TrustFence, found: &FoundRoot, all: &[FoundRoot]) -> Option<String> {
        let links = match link_dirs(&found.named) {
            Ok(links) => links,
            Err(error) => return Some(format!("cannot be checked: {error}")),
        };
        // The plugin could change the link, and so choose among the directories that the client did not name.
        let is_changeable =
            |link: &PathBuf| all.iter().any(|root| root.writable && link.starts_with(&root.path));
        if links.iter().any(is_changeable) {
            return Some("leads through a link in another root, which the plugin may write".to_owned());
        }
        let chain = match DirChain::resolve(&found.path) {
            Ok(chain) if chain.dir() == Some(found.identity) => chain,
            Ok(_) => return Some("was replaced while it was checked".to_owned()),
            Err(error) => return Some(format!("cannot be checked: {error}")),
        };
        fence.breach(&found.path, &chain, found.writable).map(|breach| breach.reason())
    }
}

impl RootFence for ClientRootFence {
    fn refusals(&self, found: &[FoundRoot]) -> Vec<Option<String>> {
        let serving = self.surveyor.serving();
        match self.surveyor.survey(&self.folder, serving.iter().chain([&self.own])) {
            Ok(fence) => found.iter().map(|root| Self::refusal(&fence, root, found)).collect(),
            Err(error) => {
                let reason = format!("the directories that no plugin may have cannot be determined: {error}");
                vec![Some(reason); found.len()]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use loggia_system::FileIdentity;

    use super::*;

    #[test]
    fn roots_stay_out_of_what_is_trusted() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let at = |name: &str| root.join(name);
        for dir in ["home/plugins", "home/state/x", "home/work", "home/keys/below", "home/old", "cache"] {
            fs::create_dir_all(at(dir)).unwrap();
        }
        let secret = "[grants]\nhttp = ['https://a.example.com']\n\
                      secrets = [{ from-file = '../keys/token', host = 'a.example.com', header = 'x' }]";
        fs::write(at("home/plugins/other.toml"), secret).unwrap();
        let places = TrustPlaces { cache: at("cache"), state: at("home/state"), ..TrustPlaces::default() };
        let surveyor = Arc::new(FenceSurveyor::new(places));
        let fence = ClientRootFence::new(&surveyor, at("home/plugins"), PolicyPaths::default());
        let check = |dir: &str, writable: bool, expected: Option<&str>| {
            let identity = FileIdentity::of_target(&at(dir)).unwrap();
            let found = FoundRoot { named: at(dir), path: at(dir), identity, writable };
            let refusals = fence.refusals(&[found]);
            let [refusal] = refusals.as_slice() else { panic!("{refusals:?}") };
            let refusal = refusal.as_deref().map(|text| text.replace(&root.display().to_string(), ""));
            assert_eq!(refusal.as_deref(), expected, "{dir}");
        };
        let state = Some(
            "is, contains or lies in the state folder /home/state: write access there controls what plugins may do",
        );
        let plugins = Some(
            "is, contains or lies in the plugin folder /home/plugins: write access there controls what plugins may do",
        );
        check("home/work", true, None);
        check("home/state/x", false, state);
        check("home", false, plugins);
        check("home/plugins", false, plugins);
        check("home/keys/below", true, None);
        let keys = Some(
            "is or contains the folder of a secret /home/keys: the plugin could read or replace a secret",
        );
        check("home/keys", false, keys);
        // A policy that changed still serves with its old secret.
        check("home/old", false, None);
        surveyor.set_serving(vec![PolicyPaths { secrets: vec![at("home/old/token")], dirs: Vec::new() }]);
        fs::write(at("home/old/token"), "x").unwrap();
        let old = Some(
            "is or contains the folder of a secret /home/old: the plugin could read or replace a secret",
        );
        check("home/old", false, old);
        // A directory that is not the one that was opened.
        let identity = FileIdentity::new(0, 0);
        let found = FoundRoot { named: at("home/work"), path: at("home/work"), identity, writable: false };
        assert_eq!(fence.refusals(&[found]), [Some("was replaced while it was checked".to_owned())]);
    }
    #[test]
    fn no_root_leads_through_a_link_in_another() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let at = |name: &str| root.join(name);
        for dir in ["plugins", "work/app", "work/other"] {
            fs::create_dir_all(at(dir)).unwrap();
        }
        symlink("../other", at("work/app/sub")).unwrap();
        symlink("app/sub", at("work/way")).unwrap();
        let places = TrustPlaces { cache: at("cache"), state: at("state"), ..TrustPlaces::default() };
        let surveyor = Arc::new(FenceSurveyor::new(places));
        let fence = ClientRootFence::new(&surveyor, at("plugins"), PolicyPaths::default());
        for (named, is_app_writable, refused) in [
            ("work/app/sub", true, true),
            ("work/way", true, true),
            ("work/other", true, false),
            ("work/app/sub", false, false),
            ("work/way", false, false),
        ] {
            let found = |named: &str, writable| {
                let path = at(named).canonicalize().unwrap();
                let identity = FileIdentity::of_target(&path).unwrap();
                FoundRoot { named: at(named), path, identity, writable }
            };
            let roots = [found("work/app", is_app_writable), found(named, false)];
            let refusals: Vec<bool> = fence.refusals(&roots).iter().map(Option::is_some).collect();
            assert_eq!(refusals, [false, refused], "{named}");
        }
    }
}
