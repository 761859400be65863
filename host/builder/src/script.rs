//! JavaScript and TypeScript projects, which `loggia-sdk` builds.

use std::{fs, path::Path};

use data_encoding::HEXLOWER;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{
    error::BuildError,
    manifest::{folder_name, read_watch, to_plugin_name},
    source::{PluginSource, SourceBuilder},
    steps::{BuildStep, StepBuild},
    tool_folder::{TOOL_FOLDER, prepare_tool_folder},
};

const SDK: &str = "loggia-sdk";
const PROJECT: &str = "package.json";
const LOCK: &str = "package-lock.json";
/// Names of a project's program, the likeliest first.
const PROGRAMS: [&str; 8] = [
    "src/index.ts",
    "src/index.js",
    "index.ts",
    "index.js",
    "src/plugin.ts",
    "src/plugin.js",
    "plugin.ts",
    "plugin.js",
];

/// What is read of a `package.json`.
#[derive(Deserialize)]
struct ScriptProject {
    name: Option<String>,
    /// The program, unless it is what the project publishes.
    main: Option<String>,
    #[serde(default)]
    dependencies: serde_json::Map<String, Value>,
    #[serde(default, rename = "devDependencies")]
    dev_dependencies: serde_json::Map<String, Value>,
    /// Read once it is known that the project is a plugin.
    #[serde(default)]
    loggia: Value,
}

/// What a plugin's `package.json` says under `loggia`.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ScriptSettings {
    engine: ScriptEngine,
}

/// JavaScript engines of components.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ScriptEngine {
    /// The SDK's default.
    #[default]
    QuickJs,
    StarlingMonkey,
}

/// Reads a folder with a `package.json` that names the SDK. `None`: it is none.
///
/// # Errors
///
/// If the project names the SDK, but is invalid, or it does not say which file is its program.
pub(super) fn read_source(folder: &Path) -> Result<Option<PluginSource>, BuildError> {
    let path = folder.join(PROJECT);
    let Some(text) = fs::read_to_string(&path).ok().filter(|text| text.contains(SDK)) else {
        return Ok(None);
    };
    let project: ScriptProject =
        serde_json::from_str(&text).map_err(|error| BuildError::Project(path.clone(), error.to_string()))?;
    if ![&project.dependencies, &project.dev_dependencies].iter().any(|needs| needs.contains_key(SDK)) {
        return Ok(None);
    }
    let main = project.main.as_deref().into_iter();
    let program = main.chain(PROGRAMS).find(|file| folder.join(file).is_file());
    let program =
        program.ok_or_else(|| BuildError::Project(path.clone(), no_program(project.main.as_deref())))?;
    let settings: Option<ScriptSettings> = serde_json::from_value(project.loggia)
        .map_err(|error| BuildError::Project(path, format!("`loggia`: {error}")))?;
    let engine = settings.unwrap_or_default().engine;
    prepare_tool_folder(folder)?;
    let name = project.name.as_deref().map_or_else(|| folder_name(folder), to_plugin_name);
    let artifact = folder.join(TOOL_FOLDER).join(format!("{name}.wasm"));
    let lock = fs::read(folder.join(LOCK)).ok();
    let steps = plan_steps(folder, (program, engine), &artifact, (text.as_bytes(), lock.as_deref()));
    let watch = read_watch(folder);
    Ok(Some(PluginSource {
        name,
        folder: folder.to_owned(),
        builder: SourceBuilder::Steps(StepBuild { steps, artifact, watch }),
        is_guard: false,
    }))
}

fn no_program(main: Option<&str>) -> String {
    match main {
        Some(main) => format!("its `main` is `{main}`, and there is no such file"),
        None => format!(
            "it does not say which file is the plugin's program: set `main`, or name the file `{}`",
            PROGRAMS[0]
        ),
    }
}

/// Processes that build a project: its packages, as the lock says if there is one, and the component.
fn plan_steps(
    folder: &Path,
    (program, engine): (&str, ScriptEngine),
    artifact: &Path,
    (project, lock): (&[u8], Option<&[u8]>),
) -> Vec<BuildStep> {
    let [npm, npx] = if cfg!(windows) { ["npm.cmd", "npx.cmd"] } else { ["npm", "npx"] };
    let command = if lock.is_some() { "ci" } else { "install" };
    // Without a lock of the author's, one that npm wrote would make the packages look outdated.
    let install = [command, "--no-audit", "--no-fund", "--no-package-lock"];
    let install = &install[..if lock.is_some() { 3 } else { 4 }];
    let mut wanted = Sha256::new_with_prefix(project);
    wanted.update(lock.unwrap_or_default());
    let install = BuildStep::new(npm, install.iter().map(|word| (*word).to_owned()))
        .once(folder.join("node_modules/.loggia-installed"), HEXLOWER.encode(&wanted.finalize()));
    let artifact = artifact.display().to_string();
    let engine = match engine {
        ScriptEngine::QuickJs => &[][..],
        ScriptEngine::StarlingMonkey => &["--engine", "starlingmonkey"],
    };
    let build = ["--no-install", SDK, "build", program, "--out", artifact.as_str()];
    vec![install, BuildStep::new(npx, build.iter().chain(engine).map(|word| (*word).to_owned()))]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(files: &[(&str, &str)]) -> Result<Option<PluginSource>, String> {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        files.iter().for_each(|(file, text)| fs::write(folder.path().join(file), text).unwrap());
        read_source(folder.path()).map_err(|error| error.to_string())
    }

    #[cfg(unix)]
    #[test]
    fn packages_are_installed_when_they_change() {
        let project = r#"{"name": "@acme/quote", "dependencies": {"loggia-sdk": "^0.1"}}"#;
        let lines = |files: &[(&str, &str)]| {
            let source = source(files).unwrap().unwrap();
            assert_eq!(source.name, "quote");
            let StepBuild { steps, artifact, .. } = source.as_steps().unwrap();
            let line = |step: &BuildStep| format!("{} {}", step.program.display(), step.arguments.join(" "));
            let stamp = steps[0].stamp.clone().unwrap().text;
            let out = artifact.display().to_string();
            (line(&steps[0]), line(&steps[1]).replace(&out, "OUT"), stamp)
        };
        let (install, build, stamp) =
            lines(&[("package.json", project), ("src/index.ts", ""), ("index.js", "")]);
        assert_eq!(install, "npm install --no-audit --no-fund --no-package-lock");
        assert_eq!(build, "npx --no-install loggia-sdk build src/index.ts --out OUT");
        let files = [("package.json", project), ("index.js", ""), (LOCK, "{}")];
        let (install, build, locked) = lines(&files);
        assert_eq!(install, "npm ci --no-audit --no-fund");
        assert_eq!(build, "npx --no-install loggia-sdk build index.js --out OUT");
        assert_ne!(stamp, locked);
        let main = project.replace("{\"name\"", "{\"main\": \"q.mjs\", \"name\"");
        let (_, build, _) = lines(&[("package.json", &main), ("q.mjs", ""), ("index.js", "")]);
        assert_eq!(build, "npx --no-install loggia-sdk build q.mjs --out OUT");
    }

    #[test]
    fn a_project_chooses_its_engine() {
        let build = |loggia: &str| {
            let project = format!(r#"{{"dependencies": {{"loggia-sdk": "1"}}, "loggia": {loggia}}}"#);
            let source = source(&[("package.json", &project), ("index.js", "")])?.unwrap();
            let StepBuild { steps, artifact, .. } = source.as_steps().unwrap();
            Ok(steps[1].arguments.join(" ").replace(&artifact.display().to_string(), "OUT"))
        };
        let plain = "--no-install loggia-sdk build index.js --out OUT";
        for loggia in ["null", "{}", r#"{"engine": "quickjs"}"#] {
            assert_eq!(build(loggia).as_deref(), Ok(plain), "{loggia}");
        }
        let expected = format!("{plain} --engine starlingmonkey");
        assert_eq!(build(r#"{"engine": "starlingmonkey"}"#), Ok(expected));
        for (loggia, expected) in [
            (r#"{"engine": "v8"}"#, "unknown variant `v8`, expected `quickjs` or `starlingmonkey`"),
            (r#"{"engine": 7}"#, "invalid type: integer `7`"),
            (r#"{"engin": "quickjs"}"#, "unknown field `engin`, expected `engine`"),
            (r#""starlingmonkey""#, "invalid type: string"),
        ] {
            let error: String = build(loggia).unwrap_err();
            assert!(error.contains(&format!("package.json cannot be used: `loggia`: {expected}")), "{error}");
        }
    }

    #[test]
    fn other_projects_are_left_alone() {
        assert_eq!(source(&[("package.json", "{}"), ("index.js", "")]), Ok(None));
        assert_eq!(source(&[("package.json", r#"{"name": "loggia-sdk"}"#), ("index.js", "")]), Ok(None));
        let needs = r#"{"devDependencies": {"loggia-sdk": "1"}}"#;
        assert!(source(&[("package.json", needs)]).unwrap_err().contains("`src/index.ts`"));
        assert!(
            source(&[("package.json", "loggia-sdk")]).unwrap_err().contains("package.json cannot be used")
        );
    }
}
