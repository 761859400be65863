//! Finds cases files, and the plugins that they call.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use loggia_builder::{BuildError, BuildPurpose, BuildResults, PluginSource, granted};
use loggia_cases::{CaseFile, CaseProblem, parse_case_file};
use loggia_load::{FileKind, file_stem, scan_folder};
use loggia_schema::nearest;

/// Bytes of a cases file, at most: those of any YAML that we read.
const BYTES: u64 = loggia_workflow::yaml::BYTES as u64;

/// Cases files with the plugins that they may call.
pub struct LocatedCases {
    /// In the order of their paths.
    pub files: Vec<LocatedFile>,
    plugins: BTreeMap<String, PluginPlace>,
}

/// A cases file that was read.
pub struct LocatedFile {
    /// Absolute path.
    pub path: PathBuf,
    /// The cases, and the name of the plugin; or why they cannot run.
    pub content: Result<(CaseFile, String), Vec<CaseProblem>>,
}

/// Plugins that cases call.
pub struct BuiltPlugins {
    /// The files of the plugins, by name.
    pub files: BTreeMap<String, PathBuf>,
    /// Files outside the folder of its sources from which each plugin was built, by its name, as far as its builder lists them.
    pub outside: BTreeMap<String, BTreeSet<PathBuf>>,
}

/// Where a plugin is.
enum PluginPlace {
    /// A file that can be loaded.
    File(PathBuf),
    /// A crate that has to be built.
    Source(PluginSource),
}

/// A cases file, with the only plugin that it can mean unless it names another one.
struct FoundFile {
    path: PathBuf,
    own: Option<String>,
}

/// Finds the cases of a plugin crate, of a folder of them or of plugins, of one plugin, or one file of cases.
///
/// # Errors
///
/// If a folder cannot be read, or cargo rejects a manifest.
pub fn locate_cases(path: &Path) -> anyhow::Result<LocatedCases> {
    let path = fs::canonicalize(path).with_context(|| format!("there is no {}", path.display()))?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let parent = path.parent().unwrap_or(Path::new("/"));
    let is_plugin = path.is_file() && FileKind::from_file_name(&name).is_some();
    let folder = match () {
        () if path.is_dir() => path.as_path(),
        () if !is_plugin && parent.file_name().is_some_and(|name| name == "tests") => {
            parent.parent().unwrap_or(parent)
        }
        () => parent,
    };
    let mut located = locate_in(folder)?;
    if is_plugin {
        let stem = file_stem(&name);
        located.files.retain(|file| file.content.as_ref().is_ok_and(|(_, plugin)| plugin == stem));
    } else if path.is_file() {
        located.files.retain(|file| file.path == path);
        if located.files.is_empty() {
            let own = only(&located.plugins);
            located.files = vec![read_file(FoundFile { path: path.clone(), own }, &located.plugins)];
        }
    }
    Ok(located)
}

fn locate_in(folder: &Path) -> anyhow::Result<LocatedCases> {
    let scanned = scan_folder(folder).with_context(|| format!("failed to read {}", folder.display()))?;
    let mut plugins: BTreeMap<String, PluginPlace> = scanned
        .into_iter()
        .map(|(file, found)| (file_stem(&file).to_owned(), PluginPlace::File(found.path)))
        .collect();
    let mut found = find_case_files(folder);
    let sources = match loggia_builder::find_sources(folder) {
        Ok(sources) => sources,
        Err(BuildError::Nothing(_)) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    for source in sources {
        for path in find_case_files(&source.folder) {
            found.retain(|other| *other != path);
            found.push(path);
        }
        plugins.insert(source.name.clone(), PluginPlace::Source(source));
    }
    let crate_of = |path: &Path| {
        let owner = plugins.iter().find(|(_, place)| match place {
            PluginPlace::Source(source) => {
                let own = Some(&*source.folder);
                path.parent() == own || path.parent().and_then(Path::parent) == own
            }
            PluginPlace::File(_) => false,
        });
        owner.map(|(name, _)| name.clone())
    };
    let files = found.into_iter().map(|path| {
        let own = crate_of(&path).or_else(|| only(&plugins));
        read_file(FoundFile { path, own }, &plugins)
    });
    let files = files.collect();
    Ok(LocatedCases { files, plugins })
}

/// Returns the name of the only plugin.
fn only(plugins: &BTreeMap<String, PluginPlace>) -> Option<String> {
    let mut names = plugins.keys();
    names.next().filter(|_| names.next().is_none()).cloned()
}

/// Lists `*.test.yaml` in a folder and `*.yaml` in its folder `tests`, by name.
fn find_case_files(folder: &Path) -> Vec<PathBuf> {
    let list = |folder: PathBuf, suffixes: [&str; 2]| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path()).filter(move |path| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            !name.starts_with('.') && suffixes.iter().any(|suffix| name.ends_with(suffix)) && path.is_file()
        });
        let mut paths: Vec<PathBuf> = paths.collect();
        paths.sort();
        paths
    };
    let mut found = list(folder.to_owned(), [".test.yaml", ".test.yml"]);
    found.extend(list(folder.join("tests"), [".yaml", ".yml"]));
    found
}

fn read_file(found: FoundFile, plugins: &BTreeMap<String, PluginPlace>) -> LocatedFile {
    let content = read_text(&found.path).and_then(|text| {
        let file = parse_case_file(&text)?;
        let plugin = find_plugin(&file, &found, plugins).map_err(|problem| vec![problem])?;
        let missing = file.with.iter().find(|name| !plugins.contains_key(*name));
        match missing {
            Some(name) => Err(vec![unknown_plugin(name, plugins)]),
            None => Ok((file, plugin)),
        }
    });
    LocatedFile { path: found.path, content }
}

fn read_text(path: &Path) -> Result<String, Vec<CaseProblem>> {
    let failed = |error: std::io::Error| vec![CaseProblem::nowhere(format!("failed to read it: {error}"))];
    let size = fs::metadata(path).map_err(failed)?.len();
    if size > BYTES {
        return Err(vec![CaseProblem::nowhere(format!("it has {size} bytes; at most {BYTES} are accepted"))]);
    }
    fs::read_to_string(path).map_err(failed)
}

/// Finds the plugin of a file: the named one, that of the crate, that of the file's own name, or the only one.
fn find_plugin(
    file: &CaseFile,
    found: &FoundFile,
    plugins: &BTreeMap<String, PluginPlace>,
) -> Result<String, CaseProblem> {
    if let Some(name) = &file.plugin {
        let known = plugins.contains_key(name);
        return if known { Ok(name.clone()) } else { Err(unknown_plugin(name, plugins)) };
    }
    let name = found.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    match &found.own {
        _ if plugins.contains_key(stem) => Ok(stem.to_owned()),
        Some(own) => Ok(own.clone()),
        None if plugins.is_empty() => {
            Err(CaseProblem::nowhere("there is no plugin beside it, and no plugin crate"))
        }
        None => {
            let names = plugins.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            let problem = CaseProblem::nowhere(format!("it does not say which plugin it calls: {names}"));
            Err(problem.hint("write `plugin: NAME`, or name the file NAME.yaml"))
        }
    }
}

fn unknown_plugin(name: &str, plugins: &BTreeMap<String, PluginPlace>) -> CaseProblem {
    let problem = CaseProblem::nowhere(format!("there is no plugin `{name}`"));
    match nearest(name, plugins.keys().map(String::as_str)) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem,
    }
}

impl LocatedCases {
    /// The sources of plugins.
    pub fn sources(&self) -> impl Iterator<Item = &PluginSource> {
        self.plugins.values().filter_map(|place| match place {
            PluginPlace::File(_) => None,
            PluginPlace::Source(source) => Some(source),
        })
    }

    /// Builds the crates that the files need into a folder. Returns the file of each plugin; none for those that do not compile.
    ///
    /// # Errors
    ///
    /// If cargo cannot be run, or an output cannot be written.
    pub fn build_plugins(&self, out: &Path) -> anyhow::Result<BuiltPlugins> {
        let contents = self.files.iter().filter_map(|file| file.content.as_ref().ok());
        let needed: BTreeSet<&String> =
            contents.flat_map(|(file, plugin)| file.with.iter().chain([plugin])).collect();
        let mut built = BTreeMap::new();
        let mut sources = Vec::new();
        for name in needed {
            match self.plugins.get(name) {
                Some(PluginPlace::File(path)) => drop(built.insert(name.clone(), path.clone())),
                Some(PluginPlace::Source(source)) => sources.push(source.clone()),
                None => {}
            }
        }
        if sources.is_empty() {
            return Ok(BuiltPlugins { files: built, outside: BTreeMap::new() });
        }
        if sources.iter().any(PluginSource::is_crate) {
            loggia_builder::ensure_target()?;
        }
        fs::create_dir_all(out).with_context(|| format!("failed to create {}", out.display()))?;
        for source in &sources {
            match source.policy().and_then(|policy| fs::read_to_string(policy).ok()) {
                // As `dev` does: a policy cannot grant the plugin folder, but a directory beside it.
                Some(policy) => drop(granted::create_missing(&policy, out)),
                // A policy that was removed grants nothing.
                None => drop(fs::remove_file(out.join(format!("{}.toml", source.name)))),
            }
        }
        let due: Vec<&PluginSource> = sources.iter().collect();
        let BuildResults { failed, outside } =
            loggia_builder::build_sources(&due, out, BuildPurpose::Debug, |plugin| {
                built.insert(plugin.name.clone(), plugin.file.clone());
            })?;
        if !failed.is_empty() {
            let names = failed.into_iter().map(|failure| failure.name);
            return Err(BuildError::Compile(names.collect()).into());
        }
        Ok(BuiltPlugins { files: built, outside })
    }
}
