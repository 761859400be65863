//! `loggia new`.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::bail;
use loggia_api::ImportOptions;
use loggia_cases::case_schema;
use loggia_text::printable;

use loggia_workbench::scaffold::{
    ApiSketch, PluginLanguage, TemplateValues, check_target, find_sdk, plugin_name, sketch_api, write_folder,
};

use super::{common::UsageError, import::read_api, term};

/// Create the sources of a new plugin.
///
/// Writes a folder with a facade of two actions, a policy, test cases, .gitignore and README.md; with --from, a facade with an action
/// for each operation of an HTTP API, as a beginning. Replaces nothing: a folder that is there must be empty. The SDKs are not published yet, so the plugin names one by its path: --sdk, or that of the source from
/// which this program was built.
#[derive(clap::Args)]
pub struct NewCommand {
    /// Folder to create. Its last part is the plugin's name
    #[arg(value_name = "NAME")]
    name: PathBuf,
    /// Language of the plugin; asked for on a terminal
    #[arg(long, value_name = "LANGUAGE")]
    lang: Option<PluginLanguage>,
    /// Sketch the actions from the description of an API: `openapi`, and a file or a URL
    #[arg(long, num_args = 2, value_names = ["FORMAT", "FILE|URL"])]
    from: Vec<String>,
    /// Source of Loggia, or of the language's SDK
    #[arg(long, value_name = "DIR")]
    sdk: Option<PathBuf>,
}

impl NewCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let name = plugin_name(&self.name).map_err(UsageError)?;
        check_target(&self.name)?;
        let Some(language) = self.lang.or_else(ask_language) else {
            let names = PluginLanguage::names().join(", ");
            bail!(UsageError(format!("choose a language: --lang is one of {names}")));
        };
        let sdk = find_sdk(language, self.sdk.as_deref())?;
        let mut files = language.render(&TemplateValues { name, sdk: &language.refer_to(&sdk.path) });
        if let [format, location] = &self.from[..] {
            replace_by_sketch(&mut files, (name, language), (format, location))?;
        }
        add_case_schema(&mut files);
        write_folder(&self.name, &files)?;
        term::print(&format!("created {}", self.name.display()));
        for (file, _) in &files {
            term::print(&format!("  {}", file.display()));
        }
        term::note(&sdk.explain());
        term::note(&format!("next: cd {} && loggia dev", self.name.display()));
        Ok(ExitCode::SUCCESS)
    }
}

/// Replaces the template's actions and policy by those of an API.
fn replace_by_sketch(
    files: &mut Vec<(PathBuf, String)>,
    (name, language): (&str, PluginLanguage),
    (format, location): (&str, &str),
) -> anyhow::Result<()> {
    if format != "openapi" {
        bail!(UsageError(format!("--from reads `openapi`, not `{}`", printable(format))));
    }
    let options = ImportOptions {
        name: name.to_owned(),
        location: location.to_owned(),
        server: None,
        tags: Vec::new(),
    };
    let ApiSketch { program, policy, left_out } = sketch_api(&read_api(&options)?, language.sketch());
    for operation in left_out {
        term::note(&format!("left out: {}", printable(&operation)));
    }
    // Cases would call the API.
    files.retain(|(file, _)| !file.starts_with("tests"));
    for (file, text) in files {
        if file.ends_with(language.program()) {
            text.clone_from(&program);
        } else if file.ends_with(format!("{name}.toml")) {
            text.clone_from(&policy);
        } else if file.ends_with("Cargo.toml") {
            *text = text.replace(" }", ", features = [\"http\"] }");
        }
    }
    Ok(())
}

/// Adds what the cases name as their schema, if there are cases.
fn add_case_schema(files: &mut Vec<(PathBuf, String)>) {
    if let Some(at) = files.iter().position(|(file, _)| file.starts_with("tests")) {
        let text = format!("{:#}\n", case_schema());
        files.insert(at + 1, (Path::new("tests").join("cases.schema.json"), text));
    }
}

/// Asks for the language on a terminal.
fn ask_language() -> Option<PluginLanguage> {
    let names = PluginLanguage::names().join(", ");
    loop {
        let answer = term::ask(&format!("Language ({names}): "))?;
        match PluginLanguage::from_name(&answer) {
            Some(language) => return Some(language),
            None if answer.is_empty() => return None,
            None => term::note(&format!("there is no language `{answer}`")),
        }
    }
}
