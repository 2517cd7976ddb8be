//! `rein-model-server --script FILE.json [--port PORT]`: the scripted model
//! server for benchmarks and trials from outside. Prints its base URL on a line
//! of stdout and serves until it is killed.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use rein_testkit::{ModelServer, ScriptFile};

const USAGE: &str = "usage: rein-model-server --script FILE.json [--port PORT]";

fn main() -> ExitCode {
    match serve(std::env::args().skip(1)) {
        Ok(never) => match never {},
        Err(error) => {
            // Nobody is left to tell if stderr is closed.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(arguments: impl Iterator<Item = String>) -> Result<std::convert::Infallible, Box<dyn Error>> {
    let (path, port) = parse(arguments)?;
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path} cannot be read: {error}"))?;
    let script = ScriptFile::parse(&text).map_err(|error| format!("{path} is not a script: {error}"))?;
    let server = ModelServer::start_on(script.into_script(), port)
        .map_err(|error| format!("port {port} cannot be listened on: {error}"))?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{}", server.base_url())?;
    stdout.flush()?;
    loop {
        std::thread::park();
    }
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<(String, u16), Box<dyn Error>> {
    let (mut script, mut port) = (None, 0);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(USAGE)?;
        match name.as_str() {
            "--script" => script = Some(value),
            "--port" => port = value.parse().map_err(|_| format!("`{value}` is not a port; {USAGE}"))?,
            _ => return Err(format!("`{name}` is not known; {USAGE}").into()),
        }
    }
    Ok((script.ok_or(USAGE)?, port))
}
