//! A company whose agents work on tickets of one source repository.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use workforce_forge_imitation::{ForgeImitation, ImitatedForge, TOKEN};

use super::repositories::{file_url, git, make_remote, make_source};
use super::watch::{Watch, When};
use crate::harness::{Server, attachments_in, folder};
use crate::linearizability::MASTER_KEY;
use crate::office::Database;

/// The name of the repository at the forge.
pub(super) const REPOSITORY: &str = "acme/shop";

/// Nothing takes nearly so long, not even what is put off for a while.
const PATIENCE: Duration = Duration::from_secs(180);

/// Where the source repository comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Host {
    /// A forge, whose pushes go to a bare repository.
    Forge(ImitatedForge),
    /// A bare repository alone.
    Remote,
    /// Nowhere.
    Nothing,
}

/// An agent with a key. Nothing is started for it.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) id: String,
    pub(super) key: String,
}

/// A server, what it works on, and who works there.
pub(super) struct Scene<'a> {
    // Dropped in this order: the server first.
    server: Option<Server>,
    pub(super) forge: Option<ForgeImitation>,
    pub(super) watch: Watch,
    pub(super) source: PathBuf,
    pub(super) remote: PathBuf,
    pub(super) company: String,
    pub(super) project: String,
    /// Plans, and looks at what was done.
    pub(super) lead: Member,
    /// Does the parts.
    pub(super) developer: Member,
    logs: Vec<Arc<Mutex<String>>>,
    variables: Vec<(String, String)>,
    pub(super) database: &'a Database,
    home: TempDir,
}

/// A ticket whose plan was approved.
#[derive(Clone, Debug)]
pub(super) struct Ticket {
    pub(super) key: String,
    pub(super) issue: String,
    pub(super) branch: String,
    pub(super) worktree: PathBuf,
}

impl<'a> Scene<'a> {
    /// Starts a server with all that it needs.
    pub(super) fn open(database: &'a Database, host: Host) -> Self {
        Self::open_with(database, host, Vec::new())
    }

    /// The same with more variables, which all its servers get.
    pub(super) fn open_with(
        database: &'a Database,
        host: Host,
        variables: Vec<(String, String)>,
    ) -> Self {
        let home = folder();
        let at = |name: &str| home.path().canonicalize().unwrap().join(name);
        let (source, remote) = (at("source"), at("remote.git"));
        let watch = Watch::place(at("bin"));
        make_source(&source);
        let mut forge = None;
        let mut address = None;
        if !matches!(host, Host::Nothing) {
            make_remote(&source, &remote);
        }
        match host {
            Host::Forge(kind) => {
                let started = ForgeImitation::start(kind).unwrap();
                started.add_repository_of(REPOSITORY, &remote);
                let url = started.repository_url(REPOSITORY);
                let rewrite = format!("url.{}.insteadOf", file_url(&remote));
                git(&source, &["config", &rewrite, &url]);
                address = Some(url);
                forge = Some(started);
            }
            Host::Remote => {
                git(&source, &["remote", "add", "origin", &file_url(&remote)]);
            }
            Host::Nothing => {}
        }
        let mut scene = Self {
            server: None,
            forge,
            watch,
            source,
            remote,
            company: String::new(),
            project: String::new(),
            lead: Member::nobody(),
            developer: Member::nobody(),
            logs: Vec::new(),
            variables,
            database,
            home,
        };
        scene.start();
        let company = scene.post("/api/companies", &json!({ "name": "Acme" }));
        scene.company = id_of(&company);
        scene.lead = scene.hire("Lead", None);
        scene.developer = scene.hire("Developer", Some(&scene.lead));
        let mut workspace = json!({ "cwd": scene.source, "name": "shop" });
        if let Some(address) = address {
            workspace["repoUrl"] = json!(address);
        }
        let project = json!({ "name": "Shop", "workspace": workspace });
        let project = scene.post(&scene.of_company("projects"), &project);
        scene.project = id_of(&project);
        scene
    }

    /// Adds a repository of its own to the project and to the forge; its remote.
    pub(super) fn add_workspace(&self, full_name: &str) -> PathBuf {
        let (_, name) = full_name.split_once('/').unwrap();
        let home = self.home.path().canonicalize().unwrap();
        let (source, remote) = (home.join(name), home.join(format!("{name}.git")));
        make_source(&source);
        make_remote(&source, &remote);
        let forge = self.forge.as_ref().unwrap();
        forge.add_repository_of(full_name, &remote);
        let url = forge.repository_url(full_name);
        let rewrite = format!("url.{}.insteadOf", file_url(&remote));
        git(&source, &["config", &rewrite, &url]);
        let workspace = json!({ "cwd": source, "repoUrl": url, "name": name });
        self.post(
            &format!("/api/projects/{}/workspaces", self.project),
            &workspace,
        );
        remote
    }

    /// Hires an agent.
    pub(super) fn hire(&self, name: &str, reports_to: Option<&Member>) -> Member {
        let agent = json!({
            "name": name,
            "reportsTo": reports_to.map(|member| &member.id),
            "adapterType": "process",
            "adapterConfig": { "command": "true" },
            "runtimeConfig": { "heartbeat": { "wakeOnDemand": false } },
        });
        let id = id_of(&self.post(&self.of_company("agents"), &agent));
        let key = self.post(&format!("/api/agents/{id}/keys"), &json!({}));
        let key = key["key"].as_str().unwrap().to_owned();
        Member { id, key }
    }

    /// A path of the company.
    pub(super) fn of_company(&self, what: &str) -> String {
        format!("/api/companies/{}/{what}", self.company)
    }

    /// The folder of everything.
    pub(super) fn home(&self) -> &Path {
        self.home.path()
    }

    /// The data folder of the server.
    pub(super) fn data(&self) -> PathBuf {
        self.home.path().canonicalize().unwrap().join("data")
    }

    /// The server.
    pub(super) fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    /// What the servers logged so far.
    pub(super) fn logs(&self) -> String {
        let logs = self.logs.iter().map(|log| log.lock().unwrap().clone());
        logs.collect()
    }

    fn start(&mut self) {
        let data = self.data();
        std::fs::create_dir_all(&data).unwrap();
        let server = self.launch(&data, &[], &self.watch.path());
        self.logs.push(server.log());
        self.server = Some(server);
    }

    /// Starts a server with the settings that all have.
    pub(super) fn launch(&self, data: &Path, flags: &[&str], path: &str) -> Server {
        let mut variables = vec![
            ("PATH".to_owned(), path.to_owned()),
            ("WORKFORCE_MASTER_KEY".to_owned(), MASTER_KEY.to_owned()),
        ];
        let (name, place) = attachments_in(self.home());
        variables.push((name.to_owned(), place));
        variables.extend(self.variables.iter().cloned());
        if let Some(forge) = &self.forge {
            let begin = format!("WORKFORCE_{}", forge.kind().word().to_uppercase());
            variables.push((format!("{begin}_API_URL"), forge.api_url()));
            variables.push((format!("{begin}_HOST"), forge.host().to_owned()));
            variables.push((format!("{begin}_TOKEN"), TOKEN.to_owned()));
        }
        let variables: Vec<(&str, &str)> = variables
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let mut all = self.database.flags();
        all.extend(flags);
        Server::start_with(data, &all, &variables)
    }

    /// Kills the server.
    pub(super) fn kill_now(&self) {
        self.server().signal(Signal::SIGKILL);
    }

    /// Starts the server again after its end, which is waited for.
    pub(super) fn start_again(&mut self) {
        self.watch.kill_nobody();
        self.start_after_end();
    }

    /// The same for one that is killed as well.
    pub(super) fn start_again_and_kill_at(&mut self, when: When, number: usize) {
        self.watch.kill_at(when, number);
        self.start_after_end();
    }

    /// The same whether somebody killed it or not.
    pub(super) fn end_and_start_again(&mut self) {
        self.kill_now();
        self.start_again();
    }

    fn start_after_end(&mut self) {
        if let Some(server) = self.server.take() {
            server.leave();
        }
        self.start();
    }

    /// Asks until there is something to be had.
    #[track_caller]
    pub(super) fn wait_for<T>(&self, what: &str, look: impl Fn() -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            if let Some(found) = look() {
                return found;
            }
            let is_over = begun.elapsed() > PATIENCE;
            assert!(!is_over, "{what} does not come:\n{}", self.logs());
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// The status of an issue.
    #[track_caller]
    pub(super) fn status(&self, issue: &str) -> String {
        let issue = self.get(&format!("/api/issues/{issue}"));
        issue["status"].as_str().unwrap().to_owned()
    }
}

impl Member {
    const fn nobody() -> Self {
        Self {
            id: String::new(),
            key: String::new(),
        }
    }
}

/// The id of a record.
#[track_caller]
pub(super) fn id_of(record: &Value) -> String {
    record["id"].as_str().unwrap().to_owned()
}
