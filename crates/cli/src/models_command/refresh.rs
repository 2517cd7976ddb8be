//! `rein models refresh`: a newer table of models, from a file or an address.
//!
//! It is read as a whole and checked before anything is stored, and stored in
//! one step: either the new table holds or the old one, also after a power cut.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::Duration;

use rein_http::{BodyEnd, CancellationToken, Method, Request};
use rein_llm::catalog::TableSource;
use rein_llm::{Catalog, Table};

use crate::error::CommandError;
use crate::stdout;
use crate::terminal::neutralise;
use crate::wiring::Setup;

/// More than that is no table of models.
const LARGEST: usize = 32 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(30);

/// Reads, checks and stores the table.
pub async fn execute(setup: &Setup, source: &str) -> Result<(), CommandError> {
    let bytes = match ["https://", "http://"].iter().any(|scheme| source.starts_with(scheme)) {
        true => fetched(setup, source).await?,
        false => read(Path::new(source))?,
    };
    let text = String::from_utf8(bytes).map_err(|_| unusable(source, "it is not text in UTF-8"))?;
    let today = jiff::Zoned::now().date().to_string();
    // An address may hold a key behind its path.
    let shown = source.split(['?', '#']).next().unwrap_or(source);
    let table = Table::read(&text, TableSource { name: shown, today: &today }, &Catalog::bundled())
        .map_err(|error| unusable(source, &error.to_string()))?;
    let file = setup.table_file();
    store(&file, &table.to_toml()).map_err(|error| {
        CommandError::failure(format!("the table cannot be stored as {}", file.display())).caused_by(error)
    })?;
    let mut providers: Vec<&str> = table.models.iter().map(|model| model.provider.as_str()).collect();
    providers.sort_unstable();
    providers.dedup();
    let (models, providers) = (table.models.len(), providers.len());
    stdout::print(|out| {
        writeln!(out, "{models} models of {providers} providers, as of {}", neutralise(&table.date))?;
        writeln!(out, "stored in {}; remove that file to go back to what comes with rein", file.display())
    })
}

fn unusable(source: &str, reason: &str) -> CommandError {
    CommandError::usage(format!("`{source}` is no table of models: {reason}"))
        .hint("`rein models refresh --help` shows what it looks like; nothing was changed")
}

fn read(file: &Path) -> Result<Vec<u8>, CommandError> {
    let failed =
        |error: io::Error| CommandError::usage(format!("{} cannot be read", file.display())).caused_by(error);
    let mut bytes = Vec::new();
    let limit = LARGEST as u64 + 1;
    File::open(file).map_err(failed)?.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    match bytes.len() > LARGEST {
        true => Err(unusable(&file.display().to_string(), "it is larger than 32 MiB")),
        false => Ok(bytes),
    }
}

async fn fetched(setup: &Setup, address: &str) -> Result<Vec<u8>, CommandError> {
    let failed = |error: rein_http::HttpError| {
        CommandError::failure("the table of models cannot be fetched")
            .caused_by(error)
            .hint("nothing was changed")
    };
    let request = Request::new(Method::Get, address).map_err(failed)?.with_idle_timeout(PATIENCE);
    let mut response = setup.client()?.send(request, &CancellationToken::new()).await.map_err(failed)?;
    if response.status != 200 {
        let status = response.status;
        let refused = CommandError::failure(format!("{} answered with status {status}", response.host()));
        return Err(match response.headers.get("location") {
            Some(other) => refused.hint(format!("it says that the table is at {other}: name that address")),
            None => refused.hint("nothing was changed"),
        });
    }
    match response.read_limited(LARGEST).await {
        (bytes, BodyEnd::Whole) => Ok(bytes),
        (_, BodyEnd::Truncated) => Err(unusable(address, "it is larger than 32 MiB")),
        (_, BodyEnd::Broken(error)) => Err(failed(error)),
    }
}

/// A reader sees the old table or the new one.
fn store(file: &Path, text: &str) -> io::Result<()> {
    let directory = file.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let mut temporary = tempfile::Builder::new().prefix(".models-").tempfile_in(directory)?;
    temporary.write_all(text.as_bytes())?;
    temporary.as_file().sync_all()?;
    temporary.persist(file).map_err(|error| error.error)?;
    File::open(directory)?.sync_all()
}
