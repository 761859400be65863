//! Where the configuration of a client is on this machine.

use std::{ffi::OsString, path::PathBuf};

use anyhow::Context;
use loggia_load::places;

use super::facts::{ClientRow, PathBase, SystemPath};

/// Whose configuration is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ConfigScope {
    /// The user's, for all projects.
    User,
    /// That of the project in the current folder.
    Project,
}

impl ConfigScope {
    /// Its word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// Folders of the user, and the folder of the project.
pub struct SystemFolders {
    home: PathBuf,
    config: PathBuf,
    app_data: PathBuf,
    /// The current folder.
    pub project: PathBuf,
}

impl SystemFolders {
    /// The folders of this process.
    ///
    /// # Errors
    ///
    /// If there is no home folder, or the current folder was deleted.
    pub fn of_process() -> anyhow::Result<Self> {
        let home = places::home().context("there is no home directory: set HOME")?;
        let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        Ok(Self {
            config: absolute("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
            app_data: absolute("APPDATA").unwrap_or_else(|| home.join("AppData/Roaming")),
            home,
            project: std::env::current_dir().context("the current folder cannot be read")?,
        })
    }

    /// The file of a project that is there, and is not the user's: in the home folder, both may be one.
    pub fn project_file(&self, client: &ClientRow) -> Option<PathBuf> {
        let file = self.config_file(client, ConfigScope::Project)?;
        (file.exists() && self.config_file(client, ConfigScope::User).as_ref() != Some(&file)).then_some(file)
    }

    /// The file of a client; `None` if it has none of this scope.
    pub fn config_file(&self, client: &ClientRow, scope: ConfigScope) -> Option<PathBuf> {
        let user = &client.user;
        if scope == ConfigScope::Project {
            return client.project.map(|path| self.project.join(path));
        }
        if let Some((name, path)) = user.moved
            && let Some(folder) = variable(name)
        {
            return Some(PathBuf::from(folder).join(path));
        }
        let place = match std::env::consts::OS {
            "macos" => user.macos,
            "windows" => user.windows,
            _ => user.linux,
        };
        Some(self.resolve(place))
    }

    /// Whether a client seems to be installed: it has a file or a folder of its own.
    pub fn is_installed(&self, client: &ClientRow) -> bool {
        let Some(file) = self.config_file(client, ConfigScope::User) else { return false };
        let folder = match client.user.mark {
            Some(mark) => Some(self.home.join(mark)),
            None => file.parent().map(ToOwned::to_owned),
        };
        file.exists() || folder.is_some_and(|folder| folder.is_dir())
    }

    fn resolve(&self, place: SystemPath) -> PathBuf {
        let base = match place.base {
            PathBase::Home => &self.home,
            PathBase::Config => &self.config,
            PathBase::AppData => &self.app_data,
        };
        base.join(place.path)
    }
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
