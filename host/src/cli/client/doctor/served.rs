//! What `loggia serve` would serve with the arguments of an entry.

use std::path::Path;

use clap::Parser;
use loggia_clients::{
    ProgramEntry,
    doctor::{DoctorFinding, check_command, check_version},
};
use loggia_workbench::loaded::load_path;

use crate::cli::serve::{ServeCommand, ServePreview};

/// Plugins that are named if they do not load.
const NAMED: usize = 5;

/// The arguments of `loggia serve`, read as it reads them.
#[derive(Parser)]
#[command(name = "loggia serve", no_binary_name = true)]
struct ServeLine {
    #[command(flatten)]
    serve: ServeCommand,
}

/// Checks a program and what it would serve. Returns whether it is of use to start it.
pub fn check_program(program: &ProgramEntry, findings: &mut Vec<DoctorFinding>) -> bool {
    let Some(path) = check_command(program, findings) else { return false };
    if path.file_stem().is_none_or(|stem| stem != "loggia") {
        return true;
    }
    check_version(&path, findings);
    match program.args.split_first() {
        Some((first, rest)) if first == "serve" => check_served(rest, program.cwd.as_deref(), findings),
        _ => {
            findings.push(DoctorFinding::problem(
                "the entry does not start `loggia serve`",
                "add the entry again, with --replace",
            ));
            false
        }
    }
}

/// Checks what `loggia serve` would serve with these arguments. Returns whether it would serve anything.
fn check_served(args: &[String], cwd: Option<&str>, findings: &mut Vec<DoctorFinding>) -> bool {
    let line = match ServeLine::try_parse_from(args) {
        Ok(line) => line,
        Err(error) => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            let text = format!("`loggia serve` does not take the entry's arguments: {first}");
            findings.push(DoctorFinding::problem(text, "add the entry again, with --replace"));
            return false;
        }
    };
    let ServePreview { folder, http, options } = match line.serve.preview() {
        Ok(preview) => preview,
        Err(error) => {
            findings
                .push(DoctorFinding::problem(format!("{error:#}"), "`loggia config check FILE` explains it"));
            return false;
        }
    };
    if let Some(address) = http {
        findings.push(DoctorFinding::problem(
            format!("the server would serve HTTP on {address}, and the client waits on stdio"),
            format!(
                "start it yourself, and add the entry with --url http://{address}{}",
                loggia_server::ENDPOINT_PATH
            ),
        ));
        return false;
    }
    let Some(folder) = folder else {
        findings.push(DoctorFinding::problem(
            "the entry names no plugin folder",
            "add it again, with --plugins DIR",
        ));
        return false;
    };
    if folder.is_relative() && cwd.is_none() {
        findings.push(DoctorFinding::problem(
            format!(
                "the plugin folder {} is a relative path, and clients start servers in folders of their own",
                folder.display()
            ),
            "use its absolute path",
        ));
        return false;
    }
    let folder = cwd.map_or(folder.clone(), |cwd| Path::new(cwd).join(&folder));
    if !folder.is_dir() {
        let text = format!("there is no plugin folder {}", folder.display());
        findings.push(DoctorFinding::problem(text, "create it, or add the entry again with --plugins DIR"));
        return false;
    }
    let remedy = format!("`loggia check {}`", folder.display());
    let plugins = match load_path(&folder, &options) {
        Ok(plugins) => plugins,
        Err(error) => {
            findings.push(DoctorFinding::problem(format!("{error:#}"), remedy));
            return false;
        }
    };
    if plugins.is_empty() {
        let text = format!("there is no plugin in {}", folder.display());
        findings.push(DoctorFinding::problem(text, "put .wasm files into it, or name another folder"));
        return false;
    }
    let refused = plugins.iter().filter_map(|plugin| Some((plugin.stem(), plugin.refusal()?)));
    for (name, why) in refused.take(NAMED) {
        findings.push(DoctorFinding::problem(format!("the plugin `{name}`: {why}"), &remedy));
    }
    // The others are served.
    true
}
