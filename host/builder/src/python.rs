//! Python projects, which `loggia-sdk` or `componentize-py` build, in a virtual environment that is made in the project's folder.

use std::{
    fs,
    path::{Path, PathBuf},
};

use toml::{Table, Value};

use super::{
    error::BuildError,
    manifest::{folder_name, read_watch, to_plugin_name},
    source::{PluginSource, SourceBuilder},
    steps::{BuildStep, StepBuild},
    tool_folder::{TOOL_FOLDER, prepare_tool_folder},
};

/// What a project needs to be a plugin.
const SDK: &str = "loggia-sdk";
const BARE_TOOL: &str = "componentize-py";
/// Names of a project's program, the likeliest first.
const PROGRAMS: [&str; 4] = ["app.py", "plugin.py", "src/app.py", "main.py"];

/// Reads a folder with a `pyproject.toml` or a `requirements.txt` that names the SDK or its compiler. `None`: it is none.
///
/// # Errors
///
/// If the project names the SDK, but its manifest is invalid, or it does not say which file is its program.
pub(super) fn read_source(folder: &Path) -> Result<Option<PluginSource>, BuildError> {
    let Some(project) = read_project(folder)? else { return Ok(None) };
    let program = find_program(folder, &project)
        .ok_or_else(|| BuildError::Project(folder.join(project.file), no_program(&project)))?;
    prepare_tool_folder(folder)?;
    let artifact = folder.join(TOOL_FOLDER).join(format!("{}.wasm", project.name));
    let steps = plan_steps(folder, &project, &program, &artifact);
    let watch = read_watch(folder);
    Ok(Some(PluginSource {
        name: project.name,
        folder: folder.to_owned(),
        builder: SourceBuilder::Steps(StepBuild { steps, artifact, watch }),
        is_guard: false,
    }))
}

/// A project, as its files describe it.
#[derive(Debug, PartialEq, Eq)]
struct PythonProject {
    name: String,
    /// The file that names what it needs.
    file: &'static str,
    /// Arguments of pip that install what it needs.
    requirements: Vec<String>,
    /// Text of the file, by which its packages are current.
    text: String,
    /// Program, if the file names it.
    program: Option<String>,
    has_sdk: bool,
}

fn read_project(folder: &Path) -> Result<Option<PythonProject>, BuildError> {
    let read = |file: &str| fs::read_to_string(folder.join(file)).ok().filter(|text| names_tool(text));
    if let Some(text) = read("requirements.txt") {
        return Ok(Some(PythonProject {
            name: folder_name(folder),
            file: "requirements.txt",
            requirements: ["-r", "requirements.txt"].map(str::to_owned).to_vec(),
            program: None,
            has_sdk: requires(text.lines(), SDK),
            text,
        }));
    }
    let Some(text) = read("pyproject.toml") else { return Ok(None) };
    let project = parse_pyproject(&text)
        .map_err(|reason| BuildError::Project(folder.join("pyproject.toml"), reason))?;
    Ok(project.map(|project| PythonProject {
        name: Some(project.name).filter(|name| !name.is_empty()).unwrap_or_else(|| folder_name(folder)),
        text: text.clone(),
        ..project
    }))
}

/// Cheap test, before a file is parsed.
fn names_tool(text: &str) -> bool {
    [SDK, BARE_TOOL, "loggia_sdk"].iter().any(|name| text.contains(name))
}

/// Reads a `pyproject.toml`; `None` if it requires neither tool.
fn parse_pyproject(text: &str) -> Result<Option<PythonProject>, String> {
    let file: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let project = file.get("project").and_then(Value::as_table);
    let listed = project.and_then(|project| project.get("dependencies")).and_then(Value::as_array);
    let requirements: Vec<String> =
        listed.into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect();
    let lines = || requirements.iter().map(String::as_str);
    if !requires(lines(), SDK) && !requires(lines(), BARE_TOOL) {
        return Ok(None);
    }
    let text_at = |table: Option<&Value>, key: &str| table?.get(key)?.as_str().map(str::to_owned);
    let tool = file.get("tool").and_then(|tool| tool.get("loggia"));
    Ok(Some(PythonProject {
        name: text_at(file.get("project"), "name").map(|name| to_plugin_name(&name)).unwrap_or_default(),
        file: "pyproject.toml",
        program: text_at(tool, "app"),
        has_sdk: requires(lines(), SDK),
        requirements,
        text: String::new(),
    }))
}

/// Whether one of these requirements is a package, in any spelling of its name.
fn requires<'a>(mut lines: impl Iterator<Item = &'a str>, package: &str) -> bool {
    lines.any(|line| {
        let line = line.trim_start().to_ascii_lowercase().replace('_', "-");
        let name = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '.').next();
        // A requirement by path or URL names its package in the path.
        name == Some(package) || (line.contains('/') && !line.starts_with('#') && line.contains(package))
    })
}

/// The program: the named one, one with a usual name or that of the plugin, or the only one.
fn find_program(folder: &Path, project: &PythonProject) -> Option<String> {
    if let Some(program) = &project.program {
        return folder.join(program).is_file().then(|| program.clone());
    }
    let own = format!("{}.py", project.name.replace('-', "_"));
    let usual = PROGRAMS.into_iter().chain([own.as_str()]).find(|file| folder.join(file).is_file());
    usual.map(str::to_owned).or_else(|| {
        let files = fs::read_dir(folder).ok()?.flatten();
        let mut files = files.filter_map(|entry| entry.file_name().into_string().ok());
        let mut programs: Vec<String> = files.by_ref().filter(|file| file.ends_with(".py")).collect();
        programs.pop().filter(|_| programs.is_empty())
    })
}

fn no_program(project: &PythonProject) -> String {
    if let Some(program) = &project.program {
        return format!("its `app` is `{program}`, and there is no such file");
    }
    let name = &project.name;
    format!(
        "it does not say which file is the plugin's program: name it {}, or set `app = \"FILE.py\"` under [tool.loggia] of \
         pyproject.toml",
        PROGRAMS
            .map(|file| format!("`{file}`"))
            .into_iter()
            .chain([format!("`{name}.py`")])
            .collect::<Vec<_>>()
            .join(", ")
    )
}

/// Processes that build a project: its environment, its packages, the component.
fn plan_steps(folder: &Path, project: &PythonProject, program: &str, artifact: &Path) -> Vec<BuildStep> {
    let venv = folder.join(TOOL_FOLDER).join("venv");
    let scripts = venv.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let python = scripts.join("python");
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let pip = words(&["-m", "pip", "install", "--disable-pip-version-check", "--quiet"]);
    let artifact = artifact.display().to_string();
    let system = if cfg!(windows) { "python" } else { "python3" };
    let venv_text = venv.display().to_string();
    let make = BuildStep::new(system, words(&["-m", "venv", &venv_text]))
        .once(venv.join(".loggia-made"), "1".to_owned());
    let install = BuildStep::new(&python, pip.into_iter().chain(project.requirements.iter().cloned()))
        .once(venv.join(".loggia-installed"), project.text.clone());
    let build = if project.has_sdk {
        BuildStep::new(&python, words(&["-m", "loggia_sdk", "build", program, "--out", &artifact]))
    } else {
        let path = Path::new(program);
        let module = path.file_stem().unwrap_or_default().to_string_lossy();
        let within = path.parent().filter(|within| !within.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let within = within.display().to_string();
        let tool: PathBuf = scripts.join("componentize-py");
        BuildStep::new(
            tool,
            words(&["-d", "wit", "-w", "plugin", "componentize", "-p", &within, &module, "-o", &artifact]),
        )
    };
    vec![make, install, build]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The command lines of a project with these files, without the paths of its folder.
    fn lines(files: &[(&str, &str)]) -> Result<Option<(String, Vec<String>)>, String> {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("weather");
        fs::create_dir(&own).unwrap();
        files.iter().for_each(|(file, text)| fs::write(own.join(file), text).unwrap());
        let found = read_source(&own).map_err(|error| error.to_string())?;
        Ok(found.map(|source| {
            let line = |step: &BuildStep| {
                let words = step.arguments.join(" ");
                format!("{} {words}", step.program.display()).replace(&format!("{}/", own.display()), "")
            };
            let steps = source.as_steps().unwrap().steps.iter().map(line).collect();
            (source.name, steps)
        }))
    }

    #[cfg(unix)]
    #[test]
    fn projects_are_built_in_their_own_environment() {
        let venv = "python3 -m venv .loggia/venv";
        let pip = ".loggia/venv/bin/python -m pip install --disable-pip-version-check --quiet";
        let build = |name: &str, app: &str| {
            format!(".loggia/venv/bin/python -m loggia_sdk build {app} --out .loggia/{name}.wasm")
        };
        let found = lines(&[("requirements.txt", "loggia_sdk==0.1\n"), ("app.py", ""), ("other.py", "")]);
        let expected =
            vec![venv.to_owned(), format!("{pip} -r requirements.txt"), build("weather", "app.py")];
        assert_eq!(found.unwrap().unwrap(), ("weather".to_owned(), expected));
        let project = "[project]\nname = 'Sky_Watch'\ndependencies = ['loggia-sdk >= 0.1', 'idna']\n\
                       [tool.loggia]\napp = 'sky.py'\n";
        let found = lines(&[("pyproject.toml", project), ("app.py", ""), ("sky.py", "")]);
        let expected =
            vec![venv.to_owned(), format!("{pip} loggia-sdk >= 0.1 idna"), build("sky_watch", "sky.py")];
        assert_eq!(found.unwrap().unwrap(), ("sky_watch".to_owned(), expected));
        let found = lines(&[("requirements.txt", "componentize-py"), ("only.py", "")]).unwrap().unwrap();
        let bare = ".loggia/venv/bin/componentize-py -d wit -w plugin componentize -p . only -o .loggia/weather.wasm";
        assert_eq!(found.1[2], bare);
        let by_path = lines(&[("requirements.txt", "/srv/sdk/python # loggia-sdk"), ("app.py", "")]);
        assert_eq!(by_path.unwrap().unwrap().1[2], build("weather", "app.py"));
    }

    #[test]
    fn other_projects_are_left_alone() {
        assert_eq!(lines(&[("requirements.txt", "flask"), ("app.py", "")]), Ok(None));
        assert_eq!(lines(&[("requirements.txt", "# not loggia\n"), ("app.py", "")]), Ok(None));
        assert_eq!(lines(&[("pyproject.toml", "[project]\nname = 'loggia-sdk'")]), Ok(None));
        let error = lines(&[("requirements.txt", "loggia-sdk"), ("a.py", ""), ("b.py", "")]).unwrap_err();
        assert!(error.contains("`app.py`") && error.contains("[tool.loggia]"), "{error}");
        let error = lines(&[("pyproject.toml", "loggia-sdk = [")]).unwrap_err();
        assert!(error.contains("pyproject.toml cannot be used: TOML parse error"), "{error}");
    }
}
