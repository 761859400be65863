//! Sources with a `plugin.toml`, which any command builds.

use std::{fs, io, path::Path};

use loggia_load::places;
use loggia_policy::settings::PluginManifest;

use super::{
    error::BuildError,
    source::{MANIFEST, PluginSource, SourceBuilder},
    steps::{BuildStep, StepBuild},
};

/// Manifests are small; something else of this name is not read.
const MAX_BYTES: u64 = 1 << 20;

/// Reads the manifest of a folder. `None`: it has none, or one that leaves the command to the tools of its language.
///
/// # Errors
///
/// If the manifest is invalid, or names an artifact or a pattern without a command.
pub(super) fn read_source(folder: &Path) -> Result<Option<PluginSource>, BuildError> {
    let Some(manifest) = read_manifest(folder)? else { return Ok(None) };
    Ok(to_source(manifest, folder))
}

/// Whether the manifest of a folder has a command, so that cargo does not build the folder's crate.
pub(super) fn is_built(folder: &Path) -> bool {
    matches!(read_source(folder), Ok(Some(_)))
}

/// Patterns of what is watched in a folder whose manifest leaves the command to the tools of its language.
pub(super) fn read_watch(folder: &Path) -> Vec<String> {
    read_manifest(folder).ok().flatten().map(|manifest| manifest.watch).unwrap_or_default()
}

fn read_manifest(folder: &Path) -> Result<Option<PluginManifest>, BuildError> {
    let path = folder.join(MANIFEST);
    let unreadable = |error| BuildError::Unreadable(path.clone(), error);
    let size = match fs::metadata(&path) {
        Ok(file) if file.is_file() => file.len(),
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    if size > MAX_BYTES {
        return Err(unreadable(io::Error::other("it is larger than 1MiB")));
    }
    let text = fs::read_to_string(&path).map_err(unreadable)?;
    let manifest = PluginManifest::parse(&text, &places::setting(folder))
        .map_err(|problems| BuildError::PluginManifest(path, problems.lines()))?;
    Ok(Some(manifest))
}

/// The build that a manifest describes, if it has a command.
fn to_source(manifest: PluginManifest, folder: &Path) -> Option<PluginSource> {
    let PluginManifest { name, build, artifact, watch } = manifest;
    let name = name.unwrap_or_else(|| folder_name(folder));
    let artifact = artifact.unwrap_or_else(|| folder.join(format!("{name}.wasm")));
    let steps = StepBuild { steps: vec![BuildStep::shell(&build?)], artifact, watch };
    Some(PluginSource {
        name,
        folder: folder.to_owned(),
        builder: SourceBuilder::Steps(steps),
        is_guard: false,
    })
}

/// The name of a folder, as a plugin's.
pub(super) fn folder_name(folder: &Path) -> String {
    folder.file_name().map(|name| to_plugin_name(&name.to_string_lossy())).unwrap_or_default()
}

/// The name of a project as that of a plugin: in lower case, with `-` for what no name may have. `plugin` if nothing is left.
pub(super) fn to_plugin_name(name: &str) -> String {
    let own = name.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let name: String = own
        .chars()
        .map(|c| if c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' { c } else { '-' })
        .collect();
    let name = name.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    if name.is_empty() { "plugin".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<PluginSource>, String> {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("Weather App");
        fs::create_dir(&own).unwrap();
        fs::write(own.join(MANIFEST), text).unwrap();
        let found = read_source(&own).map_err(|error| error.to_string());
        found.map_err(|error| error.replace(&own.display().to_string(), "~"))
    }

    #[test]
    fn a_command_builds_the_folder() {
        let source = read("build = 'make wasm'").unwrap().unwrap();
        let steps = source.as_steps().unwrap();
        assert_eq!(source.name, "weather-app");
        assert_eq!(steps.artifact, source.folder.join("weather-app.wasm"));
        assert_eq!((steps.steps.as_slice(), steps.watch.len()), (&[BuildStep::shell("make wasm")][..], 0));
        let text = "name = 'sky'\nbuild = 'make'\nartifact = 'out/sky.wasm'\nwatch = ['src/**', '*.c']";
        let source = read(text).unwrap().unwrap();
        let steps = source.as_steps().unwrap();
        assert_eq!(
            (source.name.as_str(), &steps.watch[..]),
            ("sky", &["src/**".to_owned(), "*.c".to_owned()][..])
        );
        assert_eq!(steps.artifact, source.folder.join("out/sky.wasm"));
        assert_eq!(read("watch = ['*.sql']"), Ok(None), "the tools of the language build it");
    }

    #[test]
    fn mistakes_have_a_line_and_a_remedy() {
        let check = |text: &str, expected: &str| {
            let error = read(text).unwrap_err();
            assert!(error.contains(expected) && error.contains("~/plugin.toml"), "{error}");
        };
        check("name = 'sky'\nbiuld = 'make'", "line 2: unknown key `biuld`; did you mean `build`?");
        check("build = ''", "line 1: `build` is empty");
        check("name = 'plugin'\nbuild = 'make'", "other than `plugin`");
        check("build = 'make'\nwatch = '*.c'", "line 2: `watch` must be a list");
        check("[grants]\nstore = true", "the policy of a plugin is the file NAME.toml");
    }

    #[test]
    fn names_of_projects_become_names_of_plugins() {
        for (name, expected) in
            [("@acme/Notes", "notes"), ("my.tool", "my-tool"), ("a_b", "a_b"), ("-x-", "x"), ("é", "plugin")]
        {
            assert_eq!(to_plugin_name(name), expected, "{name}");
        }
    }
}
