//! Puts a component that loads into a plugin folder.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail, ensure};
use loggia_load::FileKind;
use loggia_oci::PulledArtifact;
use loggia_serve::HostOptions;
use loggia_text::printable;
use loggia_workbench::loaded::LoadedPlugin;

use super::{
    fetch::TrustedArtifact,
    origins::{PluginOrigin, PluginOrigins},
    trial::load_alone,
};
use crate::cli::{replace_file::put_file, term};

/// Where a component goes.
pub struct InstallPlace {
    pub folder: PathBuf,
    /// File name, `<name>.wasm`.
    pub file: String,
}

impl InstallPlace {
    /// A file of this name in a folder.
    ///
    /// # Errors
    ///
    /// If it can be no name of a plugin.
    pub fn new(folder: PathBuf, name: &str) -> anyhow::Result<Self> {
        let file = format!("{name}.wasm");
        let is_plain = !name.contains(['/', '\\']) && !name.starts_with('.');
        ensure!(
            is_plain && FileKind::from_file_name(&file).is_some(),
            "`{}` is no name for a plugin's file; choose one with --name",
            printable(name)
        );
        Ok(Self { folder, file })
    }

    fn path(&self) -> PathBuf {
        self.folder.join(&self.file)
    }

    /// Fails if the file is there, and is not what came from a registry last.
    pub fn check_unchanged(&self, origin: Option<&PluginOrigin>) -> anyhow::Result<()> {
        let path = self.path();
        if fs::symlink_metadata(&path).is_err() {
            return Ok(());
        }
        let Some(origin) = origin else {
            bail!(
                "{} exists, and came from no registry: remove it, or choose another name with --name",
                path.display()
            );
        };
        let bytes = fs::read(&path).with_context(|| format!("failed to read {}", path.display()))?;
        ensure!(
            loggia_oci::digest_of(&bytes) == origin.artifact,
            "{} was changed since it came from {}: remove it first",
            path.display(),
            origin.from
        );
        Ok(())
    }

    /// Loads the component as a server would, with the policy beside the file; then replaces the file and records its origin.
    ///
    /// # Errors
    ///
    /// If it does not load, or the file cannot be written.
    pub fn install(
        &self,
        from: &str,
        trusted: &TrustedArtifact,
        component: Option<String>,
        pulled: &PulledArtifact,
        options: &HostOptions,
    ) -> anyhow::Result<()> {
        let policy = self.path().with_extension("toml");
        let loaded = load_alone(&self.file, &pulled.component, &policy, options)?;
        let origin = PluginOrigin {
            from: from.to_owned(),
            manifest: trusted.artifact.digest.clone(),
            artifact: pulled.digest.clone(),
            component,
            signer: trusted.signer.clone(),
        };
        let put = || put_file(&self.path(), &pulled.component);
        PluginOrigins::new(&self.folder).record(&self.file, origin, put)?;
        let signed =
            trusted.signer.as_ref().map_or_else(String::new, |signer| format!(", signed by `{signer}`"));
        term::note(&format!("{} is {}{signed}", self.path().display(), trusted.artifact.reference));
        describe(&loaded, &self.path());
        Ok(())
    }
}

/// Prints what the plugin offers and asks for.
fn describe(plugin: &LoadedPlugin, path: &Path) {
    let Ok((entry, facts)) = &plugin.loaded else { return };
    let surface = entry.surface();
    let actions: Vec<_> = surface.actions.iter().map(|action| action.name.as_str()).collect();
    term::note(&format!("{}: {}", surface.name, actions.join(", ")));
    for want in &surface.wants {
        let needed = if want.needed { "" } else { ", optional" };
        term::note(&printable(&format!("asks for {}{needed}: {}", want.grant, want.reason)));
    }
    for flag in &facts.flags {
        term::note(&printable(&format!("warning: {flag}")));
    }
    if !surface.wants.is_empty() && fs::symlink_metadata(path.with_extension("toml")).is_err() {
        term::note(&format!(
            "it is granted nothing; `loggia policy init {}` drafts a policy",
            path.display()
        ));
    }
}
