//! `cargo xtask clients`: makes clients from `openapi.json` with three generators, and lets each do
//! six things on a running server. What they are is in `clients/`; all else lies in the target
//! folder. Needs Node.js, npm and Python with `venv`, and the registries of their packages.

mod server;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use walkdir::WalkDir;

use self::server::Server;
use crate::command::{self, command};
use crate::packages;
use crate::repository::Repository;

/// Where the clients are written down.
const SOURCES: &str = "clients";

/// What was installed is left as it is while these do not change.
const LOCKS: [&str; 2] = ["package-lock.json", "requirements.txt"];

/// Whether the programs that this needs are there.
pub(crate) fn can_run(repository: &Repository) -> bool {
    ["node", "npm", "python3"].iter().all(|program| {
        let mut command = command(repository, program);
        let silent = command
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        silent.status().is_ok_and(|status| status.success())
    })
}

/// Looks at the document, makes the clients, checks their types and runs them.
pub(crate) fn run(repository: &Repository) -> Result<()> {
    let server = packages::program(repository, "workforce")?;
    let target = repository.root().join("target");
    let work = Work {
        repository,
        folder: target.join(SOURCES),
    };
    work.copy()?;
    work.install()?;
    work.node(
        "spectral",
        "lint --fail-severity warn --ruleset spectral.yaml openapi.json",
    )?;
    work.node(
        "redocly",
        "lint --config redocly-lint.yaml --max-problems 100 openapi.json",
    )?;
    work.node(
        "openapi-typescript",
        "openapi.json --output openapi-fetch/generated/schema.ts",
    )?;
    work.node(
        "openapi-ts",
        "--input openapi.json --output hey-api/generated",
    )?;
    work.node("tsc", "--project .")?;
    work.python(
        "openapi-python-client",
        "generate --path openapi.json --output-path python/generated --overwrite \
         --fail-on-warning --config python/generator.yaml",
    )?;
    work.python("mypy", "--strict python/steps.py")?;

    let data_dir = tempfile::tempdir().context("failed to make a data folder")?;
    let server = Server::start(server, data_dir.path(), &work.folder.join("server.log"))?;
    let url = server.url();
    for program in ["built/openapi-fetch/steps.js", "built/hey-api/steps.js"] {
        work.run("node", program, &url)?;
    }
    work.run(work.tool("python"), "python/steps.py", &url)
}

/// The copy of the clients in which everything is made.
struct Work<'a> {
    repository: &'a Repository,
    folder: PathBuf,
}

impl Work<'_> {
    fn copy(&self) -> Result<()> {
        let root = self.repository.root();
        let sources = root.join(SOURCES);
        for entry in WalkDir::new(&sources) {
            let entry = entry?;
            let to = self.folder.join(entry.path().strip_prefix(&sources)?);
            if entry.file_type().is_dir() {
                fs::create_dir_all(&to)?;
            } else {
                fs::copy(entry.path(), &to).with_context(|| format!("failed to write {to:?}"))?;
            }
        }
        fs::copy(root.join("openapi.json"), self.folder.join("openapi.json"))
            .context("failed to copy the document")?;
        Ok(())
    }

    /// Installs what the locks name, unless that was done before.
    fn install(&self) -> Result<()> {
        let stamp = self.folder.join("installed");
        let locks = LOCKS.map(|lock| fs::read_to_string(self.folder.join(lock)));
        let [node, python] = locks;
        let wanted = node? + &python?;
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
            return Ok(());
        }
        self.call("npm", "ci --no-audit --no-fund --ignore-scripts")?;
        self.call("python3", "-m venv --clear venv")?;
        self.call(
            self.tool("pip"),
            "install --quiet --requirement requirements.txt",
        )?;
        fs::write(&stamp, wanted).context("failed to note what is installed")
    }

    /// A program of the Python environment.
    fn tool(&self, name: &str) -> PathBuf {
        self.folder.join("venv/bin").join(name)
    }

    fn node(&self, tool: &str, arguments: &str) -> Result<()> {
        self.call(self.folder.join("node_modules/.bin").join(tool), arguments)
    }

    fn python(&self, tool: &str, arguments: &str) -> Result<()> {
        self.call(self.tool(tool), arguments)
    }

    fn call(&self, program: impl AsRef<OsStr>, arguments: &str) -> Result<()> {
        command::run(self.command(program.as_ref(), arguments))
    }

    /// Runs the program of a client against a server.
    fn run(&self, program: impl AsRef<OsStr>, steps: &str, url: &str) -> Result<()> {
        let mut command = self.command(program.as_ref(), steps);
        command.env("WORKFORCE_URL", url);
        command::run(command)
    }

    fn command(&self, program: &OsStr, arguments: &str) -> Command {
        let generated: &Path = &self.folder.join("python/generated");
        let mut command = command(self.repository, program);
        command
            .args(arguments.split_whitespace())
            .current_dir(&self.folder)
            .env("PYTHONPATH", generated)
            .env("MYPYPATH", generated)
            // No tool tells its maker that it runs.
            .env("REDOCLY_TELEMETRY", "off")
            .env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true")
            .stdin(Stdio::null());
        command
    }
}
