//! `loggia client doctor`.
//!
//! | file | concept |
//! |---|---|
//! | `served.rs` | what `loggia serve` would serve with the entry's arguments |

mod served;

use std::{process::ExitCode, time::Duration};

use loggia_clients::{
    AddressEntry, CLIENTS, ClientRow, ConfigScope, EntryKind, ProgramEntry, SystemFolders,
    doctor::{
        DoctorFinding, FindingLevel, check_address, check_command, check_file, check_tools, explain_answer,
    },
};
use loggia_text::{printable, units};
use loggia_upstream::{
    HttpSpec, ServerLook, StdioSpec, TransportSpec, UpstreamRuntimes, UpstreamSpec, look_at_endpoint,
    look_at_server,
};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use self::served::check_program;
use super::{
    change::read_file,
    options::{EntryOptions, client_names},
};
use crate::cli::{columns, common::io_runtime, exit, term};

/// Find out why an MCP client does not see Loggia's tools.
///
/// Checks the client's file and the entry in it, starts the server or connects to it as the client does, and compares
/// its tools with the client's limits. Each finding has a remedy. No output holds a token.
///
/// Without CLIENT, checks all clients that have an entry. Exits with 10 if there is a problem, and with 11 if no client
/// has an entry.
#[derive(clap::Args)]
pub struct DoctorCommand {
    /// The client
    #[arg(value_name = "CLIENT", value_parser = client_names())]
    client: Option<String>,
    #[command(flatten)]
    entry: EntryOptions,
    /// Time for the server to start and to list its tools
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = units::parse_duration)]
    timeout: Duration,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const HEAD: [&str; 5] = ["client", "scope", "level", "finding", "remedy"];

/// One file of a client, with what was found.
struct CheckedFile {
    client: &'static ClientRow,
    scope: ConfigScope,
    file: String,
    has_entry: bool,
    findings: Vec<DoctorFinding>,
}

impl DoctorCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let folders = SystemFolders::of_process()?;
        let runtime = io_runtime()?;
        let mut checked = Vec::new();
        for client in
            CLIENTS.iter().filter(|client| self.client.as_deref().is_none_or(|name| name == client.name))
        {
            let files = [ConfigScope::User, ConfigScope::Project]
                .map(|scope| self.check(&folders, client, scope, &runtime));
            let mut files: Vec<CheckedFile> = files.into_iter().flatten().collect();
            // What the other file lacks does not matter.
            if self.client.is_none() || files.iter().any(|file| file.has_entry) {
                files.retain(|file| file.has_entry);
            }
            checked.append(&mut files);
        }
        if checked.is_empty() {
            let name = &self.entry.name;
            term::note(&format!(
                "no client has an entry `{name}`: `loggia client list` lists clients, `loggia client add CLIENT` adds one"
            ));
            return Ok(ExitCode::from(exit::NOTHING));
        }
        self.print(&checked);
        let is_problem = |finding: &DoctorFinding| finding.level == FindingLevel::Problem;
        let failed = checked.iter().any(|file| file.findings.iter().any(is_problem));
        Ok(if failed { ExitCode::from(exit::REFUSED) } else { ExitCode::SUCCESS })
    }

    fn check(
        &self,
        folders: &SystemFolders,
        client: &'static ClientRow,
        scope: ConfigScope,
        runtime: &Runtime,
    ) -> Option<CheckedFile> {
        let file = match scope {
            ConfigScope::User => folders.config_file(client, scope)?,
            ConfigScope::Project => folders.project_file(client)?,
        };
        let mut findings = Vec::new();
        let found =
            check_file(client, &file, read_file(&file), &self.entry.name, &folders.project, &mut findings);
        let has_entry = found.is_some();
        if let Some(found) = found {
            findings.insert(0, DoctorFinding::fine(format!("`{}` is in {}", self.entry.name, found.place)));
            match found.kind {
                None => {}
                Some(EntryKind::Stdio(program)) => {
                    self.check_program(client, &program, runtime, &mut findings)
                }
                Some(EntryKind::Http(address)) => {
                    self.check_address(client, &address, runtime, &mut findings)
                }
                Some(EntryKind::Bridge { program, address }) => {
                    check_command(&program, &mut findings);
                    findings.push(DoctorFinding::note(
                        "the bridge was not started: its server was asked directly",
                    ));
                    self.check_address(client, &address, runtime, &mut findings);
                }
            }
        }
        Some(CheckedFile { client, scope, file: file.display().to_string(), has_entry, findings })
    }

    fn check_program(
        &self,
        client: &ClientRow,
        program: &ProgramEntry,
        runtime: &Runtime,
        findings: &mut Vec<DoctorFinding>,
    ) {
        if !check_program(program, findings) {
            return;
        }
        let spec = TransportSpec::Stdio(StdioSpec {
            command: program.command.clone(),
            args: program.args.clone(),
            env: program.env.clone(),
            cwd: program.cwd.clone().map(Into::into),
        });
        match self.look(spec, runtime) {
            Ok(look) => check_tools(client, &self.entry.name, &look, findings),
            Err(reason) => findings.push(DoctorFinding::problem(
                format!("the server was started, and {reason}"),
                format!("run the entry's command in a terminal, and read what it says: {}", line(program)),
            )),
        }
    }

    fn check_address(
        &self,
        client: &ClientRow,
        entry: &AddressEntry,
        runtime: &Runtime,
        findings: &mut Vec<DoctorFinding>,
    ) {
        let Some(spec) = check_address(client, entry, findings) else { return };
        match self.look(TransportSpec::Http(spec.clone()), runtime) {
            Ok(look) => {
                let ours = env!("CARGO_PKG_VERSION");
                if look.title.eq_ignore_ascii_case("loggia") && look.version != ours {
                    let text = format!("the server is loggia {}, and this one is {ours}", look.version);
                    findings.push(DoctorFinding::note(text));
                }
                check_tools(client, &self.entry.name, &look, findings);
            }
            Err(reason) => findings.push(self.explain(client, &spec, &reason, runtime)),
        }
    }

    fn explain(&self, client: &ClientRow, spec: &HttpSpec, reason: &str, runtime: &Runtime) -> DoctorFinding {
        let asked = async { tokio::time::timeout(self.timeout, look_at_endpoint(spec)).await };
        match runtime.block_on(asked) {
            Ok(answer) => explain_answer(client, spec, answer, reason),
            Err(_) => DoctorFinding::problem(
                format!("the server did not answer within {} s", self.timeout.as_secs()),
                "check the address and the network",
            ),
        }
    }

    fn look(&self, transport: TransportSpec, runtime: &Runtime) -> Result<ServerLook, String> {
        let mut spec = UpstreamSpec::new("client", transport);
        spec.limits.connect = self.timeout;
        runtime.block_on(look_at_server(spec, &UpstreamRuntimes::single(runtime.handle())))
    }

    fn print(&self, checked: &[CheckedFile]) {
        if self.json {
            let all = checked.iter().map(|file| {
                json!({
                    "client": file.client.name, "scope": file.scope.word(), "file": file.file,
                    "findings": file.findings.iter().map(DoctorFinding::to_json).collect::<Vec<_>>(),
                })
            });
            return term::print(&format!("{:#}", Value::Array(all.collect())));
        }
        if term::stdout_is_terminal() {
            for file in checked {
                term::print(&format!("{}, {}", file.client.title, printable(&file.file)));
                file.findings.iter().for_each(|finding| term::print(&finding.to_lines()));
            }
            return;
        }
        let rows: Vec<[String; 5]> = checked
            .iter()
            .flat_map(|file| {
                file.findings.iter().map(|finding| {
                    let [level, text, remedy] = finding.to_row();
                    [file.client.name.to_owned(), file.scope.word().to_owned(), level, text, remedy]
                })
            })
            .collect();
        term::print(&columns::tab_separated(&HEAD, &rows));
    }
}

/// The command of an entry, without the values of its variables.
fn line(program: &ProgramEntry) -> String {
    let names = program.env.keys().map(|name| format!("{name}=… ")).collect::<String>();
    format!("`{names}{} {}`", program.command, program.args.join(" "))
}
