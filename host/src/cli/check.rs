//! `loggia check`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, ensure};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets::UTF8_HORIZONTAL_ONLY};

use super::{Common, exit, runtime, term};
use crate::{
    gate::printable,
    reload::{AdmitError, Admitted, Found, Owners, scan},
    serve::Host,
};

/// Load plugins without serving them, and say what is wrong.
///
/// Ends with 0 if every plugin would be served, with 10 if one would not (it does not load, or another owns its name),
/// and with 11 if there is none.
#[derive(clap::Args)]
pub struct Check {
    /// A .wasm file, or a folder of them
    #[arg(value_name = "FILE|DIR")]
    path: PathBuf,
    #[command(flatten)]
    common: Common,
}

impl Check {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        term::logs("error");
        let files = files(&self.path)?;
        if files.is_empty() {
            term::note(&format!("no plugins: there is no .wasm file in {}", self.path.display()));
            return Ok(ExitCode::from(exit::NOTHING));
        }
        let host = Host::new(&self.common.options())?;
        let checked = runtime()?.block_on(async {
            let mut checked = Vec::new();
            for (file, found) in files {
                let admitted = host.loader.admit(&found, None).await;
                checked.push((file, admitted));
            }
            checked
        });
        let claims = checked.iter().filter_map(|(file, admitted)| {
            let name = &admitted.as_ref().ok()?.entry.surface().name;
            Some((file.as_str(), name.as_str()))
        });
        let owners = Owners::of(claims, &Owners::default());
        let rows: Vec<Row> =
            checked.iter().map(|(file, admitted)| Row::of(file, admitted, &owners)).collect();
        let refused = rows.iter().filter(|row| !row.serves).count();
        term::out(&if term::stdout_is_terminal() { table(&rows) } else { lines(&rows) });
        if refused > 0 {
            term::note(&format!("{refused} of {} would not be served", rows.len()));
            return Ok(ExitCode::from(exit::REFUSED));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn files(path: &Path) -> anyhow::Result<BTreeMap<String, Found>> {
    ensure!(path.exists(), "there is no {}", path.display());
    if path.is_dir() {
        return scan(path).with_context(|| format!("failed to read {}", path.display()));
    }
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(BTreeMap::from([(name, Found::at(path)?)]))
}

/// One plugin, as it is told.
struct Row {
    name: String,
    serves: bool,
    actions: String,
    imports: String,
    size: String,
}

const HEAD: [&str; 4] = ["name", "actions", "imports", "size"];

impl Row {
    fn of(file: &str, admitted: &Result<Admitted, AdmitError>, owners: &Owners) -> Self {
        let refused = |why: &str| Self {
            name: printable(file).into_owned(),
            serves: false,
            actions: printable(why).into_owned(),
            imports: String::new(),
            size: String::new(),
        };
        let Admitted { entry, facts } = match admitted {
            Ok(admitted) => admitted,
            Err(error) => return refused(&format!("does not load: {error}")),
        };
        let surface = entry.surface();
        if let Some(refusal) = owners.refusal(file, &surface.name) {
            return refused(&refusal);
        }
        let actions: Vec<&str> = surface.actions.iter().map(|action| action.name.as_str()).collect();
        Self {
            name: surface.name.clone(),
            serves: true,
            actions: actions.join(", "),
            imports: imports(&facts.imports),
            size: format!("{} KB", facts.bytes.div_ceil(1000)),
        }
    }

    fn cells(&self) -> [&str; 4] {
        [&self.name, &self.actions, &self.imports, &self.size]
    }
}

/// The packages that a component imports from, without versions: what it could use, if it were granted.
fn imports(names: &[String]) -> String {
    let mut packages: Vec<&str> = names.iter().filter_map(|name| name.split(['/', '@']).next()).collect();
    packages.sort_unstable();
    packages.dedup();
    packages.join(", ")
}

fn table(rows: &[Row]) -> String {
    let mut table = Table::new();
    table
        .load_style(UTF8_HORIZONTAL_ONLY)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(HEAD);
    if let Some(size) = table.column_mut(3) {
        size.set_cell_alignment(CellAlignment::Right);
    }
    for row in rows {
        table.add_row(row.cells());
    }
    table.to_string()
}

fn lines(rows: &[Row]) -> String {
    let lines = rows.iter().map(|row| row.cells().join("\t"));
    [HEAD.join("\t")].into_iter().chain(lines).collect::<Vec<_>>().join("\n")
}
