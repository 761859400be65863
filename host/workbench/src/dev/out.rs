//! The output of `dev`: built plugins, and the directories beside them that policies grant.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use loggia_builder::{
    self, BuildError, BuildFailure, BuildPurpose, BuildResults, BuiltPlugin, InputSurvey, PlacedFile,
    PluginSource, granted, workflows,
};

/// Output folder of `dev`. Plugins are in a subfolder, since no plugin may be granted the plugin folder or anything in
/// it.
pub struct BuildOutput {
    folder: PathBuf,
    plugins: PathBuf,
    /// Inputs of the last builds.
    built: InputSurvey,
    /// Why the newest sources of plugins do not build, by name.
    failed: BTreeMap<String, String>,
}

/// What became of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildEnd {
    /// No input had changed.
    Unchanged,
    /// Everything is built.
    Complete,
    /// Some plugins do not build.
    Partial,
}

impl BuildOutput {
    /// Creates the folder if it is missing.
    ///
    /// # Errors
    ///
    /// If it cannot be made.
    pub fn create(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder.join("plugins"))?;
        let folder = fs::canonicalize(folder)?;
        let plugins = folder.join("plugins");
        Ok(Self { folder, plugins, built: InputSurvey::default(), failed: BTreeMap::new() })
    }

    /// The whole output, without links.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Folder of the built plugins.
    pub fn plugins(&self) -> &Path {
        &self.plugins
    }

    /// Why the newest sources of plugins do not build, by name.
    pub fn failed(&self) -> &BTreeMap<String, String> {
        &self.failed
    }

    /// Files outside the path from which plugins were built last.
    pub fn outside_files(&self) -> BTreeSet<&Path> {
        self.built.outside.files()
    }

    /// Builds every plugin under a path whose inputs have changed, whether others fail or not, copies workflows and policies, and
    /// removes outputs of removed sources.
    ///
    /// # Errors
    ///
    /// If the sources cannot be found.
    pub fn build(&mut self, path: &Path) -> Result<BuildEnd, BuildError> {
        let found = find_sources(path);
        let (sources, workflows) = match &found {
            Ok((sources, workflows)) => (sources.as_slice(), workflows.as_slice()),
            Err(BuildError::Nothing(_)) => Default::default(),
            Err(_) => return found.map(|_| BuildEnd::Partial),
        };
        self.failed.retain(|name, _| sources.iter().any(|source| source.name == *name));
        self.remove_stale(sources, workflows).map_err(|e| BuildError::Write(self.plugins.clone(), e))?;
        let (sources, workflows) = found?;
        let mut end = BuildEnd::Unchanged;
        for file in &workflows {
            let name = file.file_name().unwrap_or_default().display();
            match workflows::place_workflow(file, &self.plugins) {
                Ok(PlacedFile { is_new: true, .. }) => {
                    end = BuildEnd::Complete;
                    tracing::info!("copied {name}");
                }
                Ok(_) => {}
                Err(error) => {
                    end = BuildEnd::Partial;
                    tracing::error!("{name}: {:#}", anyhow::Error::new(error));
                }
            }
        }
        for source in &sources {
            // Directories first, or the host would try the plugin without them.
            if let Some(policy) = source.policy().and_then(|policy| fs::read_to_string(policy).ok()) {
                for path in granted::create_missing(&policy, &self.plugins).created {
                    tracing::info!("created {}, granted by a policy", path.display());
                }
            }
            loggia_builder::place_policy(source, &self.plugins)?;
        }
        // Before the build, so that a save during it leads to another one.
        let begun = SystemTime::now();
        let inputs = InputSurvey::read(&sources, path, &self.folder, &self.built.outside);
        let due: Vec<&PluginSource> =
            sources.iter().filter(|source| !inputs.has_same(source, &self.built)).collect();
        self.built = inputs;
        if due.is_empty() {
            return Ok(end);
        }
        tracing::info!(
            "building {} …",
            due.iter().map(|source| &*source.name).collect::<Vec<_>>().join(", ")
        );
        let result = loggia_builder::build_sources(
            &due,
            &self.plugins,
            BuildPurpose::Debug,
            |BuiltPlugin { name, bytes, .. }| {
                tracing::info!("built {name} ({} KB)", bytes.div_ceil(1000));
            },
        );
        let BuildResults { failed, outside } = result.inspect_err(|_| self.built = InputSurvey::default())?;
        for (plugin, files) in outside {
            let files = files.into_iter().filter(|file| !file.starts_with(path));
            self.built.outside.record(&plugin, files, begun);
        }
        due.iter().for_each(|source| drop(self.failed.remove(&source.name)));
        self.failed.extend(failed.into_iter().map(|BuildFailure { name, reason }| (name, reason)));
        if self.failed.is_empty() {
            return Ok(if end == BuildEnd::Partial { end } else { BuildEnd::Complete });
        }
        tracing::error!("{}", BuildError::Compile(self.failed.keys().cloned().collect()));
        Ok(BuildEnd::Partial)
    }

    /// Removes outputs of removed sources, workflows and policies. A list of our outputs protects files of others.
    fn remove_stale(&self, sources: &[PluginSource], workflows: &[PathBuf]) -> io::Result<()> {
        let list = self.folder.join("built.txt");
        let before = fs::read_to_string(&list).unwrap_or_default();
        let names = workflows.iter().filter_map(|file| file.file_name()?.to_str().map(str::to_owned));
        let now: BTreeSet<String> = sources.iter().flat_map(output_names).chain(names).collect();
        for gone in stale_names(&before, &now) {
            match fs::remove_file(self.plugins.join(gone)) {
                Ok(()) => tracing::info!("removed {gone}: its source was removed"),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        fs::write(&list, now.iter().map(|name| format!("{name}\n")).collect::<String>())
    }
}

/// Finds the plugin sources and the workflow files under a path.
///
/// # Errors
///
/// If there are none, or a manifest is invalid.
pub fn find_sources(path: &Path) -> Result<(Vec<PluginSource>, Vec<PathBuf>), BuildError> {
    let workflows = workflows::find_workflows(path);
    match loggia_builder::find_sources(path) {
        Err(BuildError::Nothing(_)) if !workflows.is_empty() => Ok((Vec::new(), workflows)),
        found => Ok((found?, workflows)),
    }
}

/// File names that sources produce.
fn output_names(source: &PluginSource) -> impl Iterator<Item = String> {
    let policy = source.policy().map(|_| format!("{}.toml", source.name));
    [format!("{}.wasm", source.name)].into_iter().chain(policy)
}

/// Lists outputs that are no longer produced. Ignores lines that are not plain file names.
fn stale_names<'a>(before: &'a str, now: &BTreeSet<String>) -> impl Iterator<Item = &'a str> {
    let plain = |name: &&str| Path::new(name).file_name().is_some_and(|file| file == *name);
    before.lines().filter(plain).filter(|name| !now.contains(*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_builds_of_removed_sources_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let out = BuildOutput::create(&root.path().join("out")).unwrap();
        let put = |name: &str| fs::write(out.plugins().join(name), "").unwrap();
        let names = || {
            let entries = fs::read_dir(out.plugins()).unwrap();
            let mut names: Vec<_> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        let source = |name: &str| PluginSource::example(name, root.path());
        fs::create_dir(root.path().join("a")).unwrap();
        fs::write(root.path().join("a/a.toml"), "").unwrap();
        out.remove_stale(&[source("a"), source("b")], &[]).unwrap();
        for name in ["a.wasm", "a.toml", "b.wasm", "theirs.wasm"] {
            put(name);
        }
        out.remove_stale(&[source("a"), source("b")], &[]).unwrap();
        assert_eq!(names(), ["a.toml", "a.wasm", "b.wasm", "theirs.wasm"]);
        // A removed policy must not keep granting.
        fs::remove_file(root.path().join("a/a.toml")).unwrap();
        out.remove_stale(&[source("a"), source("b")], &[]).unwrap();
        assert_eq!(names(), ["a.wasm", "b.wasm", "theirs.wasm"]);
        out.remove_stale(&[source("b")], &[]).unwrap();
        assert_eq!(names(), ["b.wasm", "theirs.wasm"]);
        out.remove_stale(&[], &[]).unwrap();
        assert_eq!(names(), ["theirs.wasm"]);
        assert_eq!(stale_names("../x\n\n/etc/y\nz\n", &BTreeSet::new()).collect::<Vec<_>>(), ["z"]);
    }

    #[test]
    fn workflows_are_copied_and_removed_with_their_source() {
        let root = tempfile::tempdir().unwrap();
        let mut out = BuildOutput::create(&root.path().join("out")).unwrap();
        let sources = root.path().join("plugins");
        fs::create_dir(&sources).unwrap();
        for name in ["deploy.workflow.yaml", "deploy.toml", "other.toml", "notes.txt"] {
            fs::write(sources.join(name), name).unwrap();
        }
        assert_eq!(out.build(&sources).unwrap(), BuildEnd::Complete);
        let plugins = out.plugins().to_owned();
        let there = |name: &str| fs::read_to_string(plugins.join(name)).ok();
        for name in ["deploy.workflow.yaml", "deploy.toml"] {
            assert_eq!(there(name).as_deref(), Some(name));
        }
        assert_eq!((there("other.toml"), there("notes.txt")), (None, None));
        fs::remove_file(sources.join("deploy.toml")).unwrap();
        fs::write(sources.join("deploy.workflow.yaml"), "2").unwrap();
        assert_eq!(out.build(&sources).unwrap(), BuildEnd::Complete);
        assert_eq!(out.build(&sources).unwrap(), BuildEnd::Unchanged);
        assert_eq!((there("deploy.workflow.yaml").as_deref(), there("deploy.toml")), (Some("2"), None));
        fs::remove_file(sources.join("deploy.workflow.yaml")).unwrap();
        assert!(matches!(out.build(&sources), Err(BuildError::Nothing(_))));
        assert_eq!(there("deploy.workflow.yaml"), None);
    }
}
