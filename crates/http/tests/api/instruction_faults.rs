//! Who may not touch instructions, folders that are gone, and changes that meet.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};

use serde_json::{Value, json};
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::instructions::BundlePath;
use workforce_domain::port::{ExternalListing, InstructionFileError, InstructionFiles};
use workforce_http::Ports;
use workforce_testkit::store::TestStore;

use crate::support::{Api, api_tests, id};

fn bundle(agent: &Value) -> String {
    format!("/api/agents/{}/instructions-bundle", id(agent))
}

fn file(agent: &Value, path: &str) -> String {
    format!("{}/file?path={path}", bundle(agent))
}

/// A folder that may hold an external bundle: an entry file and another.
fn folder(api: &Api, name: &str) -> PathBuf {
    let folder = api.home.path().canonicalize().unwrap().join(name);
    fs::create_dir_all(&folder).unwrap();
    for file in ["AGENTS.md", "notes.md"] {
        fs::write(folder.join(file), "outside").unwrap();
    }
    folder
}

fn move_out(api: &Api, agent: &Value, folder: &Path) {
    let change = json!({ "mode": "external", "rootPath": folder });
    api.patch(&bundle(agent), &change).ok(200);
}

type Deed = Box<dyn FnOnce() + Send>;

/// What is done as soon as the disk is asked about a folder, by the folder.
static DEEDS: LazyLock<Mutex<HashMap<PathBuf, Deed>>> = LazyLock::new(Mutex::default);

/// A disk that lets somebody else act at the worst moment: after the store was
/// looked at, and before it is written.
struct Meddled(Arc<dyn InstructionFiles>);

impl Meddled {
    fn meddle(&self, root: &str) {
        let deed = DEEDS.lock().unwrap().remove(&PathBuf::from(root));
        if let Some(deed) = deed {
            deed();
        }
    }
}

impl InstructionFiles for Meddled {
    fn managed_root(&self, company: CompanyId, agent: AgentId) -> String {
        self.0.managed_root(company, agent)
    }

    fn check_root(&self, root: &str) -> Result<(), InstructionFileError> {
        self.meddle(root);
        self.0.check_root(root)
    }

    fn list(&self, root: &str) -> Result<ExternalListing, InstructionFileError> {
        self.0.list(root)
    }

    fn read(&self, root: &str, path: &BundlePath) -> Result<String, InstructionFileError> {
        self.0.read(root, path)
    }

    fn write<'a>(
        &self,
        root: &'a str,
        path: &'a BundlePath,
        content: &'a str,
        expected: Option<&'a str>,
        may_create: bool,
    ) -> Result<(), InstructionFileError> {
        self.meddle(root);
        self.0.write(root, path, content, expected, may_create)
    }

    fn delete(&self, root: &str, path: &BundlePath) -> Result<(), InstructionFileError> {
        self.meddle(root);
        self.0.delete(root, path)
    }
}

fn meddled(store: TestStore) -> Api {
    Api::through(store, |ports, _home| Ports {
        instructions: Arc::new(Meddled(ports.instructions)),
        ..ports
    })
}

/// Makes the bundle of an agent managed again as soon as the disk is asked
/// about `folder`.
fn taken_back_meanwhile(api: &Api, agent: &Value, folder: &Path) {
    let address = format!("{}{}", api.base, bundle(agent));
    let deed = move || {
        let change = json!({ "mode": "managed" }).to_string();
        let answer = ureq::patch(&address).send(change).unwrap();
        assert_eq!(answer.status(), 200);
    };
    DEEDS
        .lock()
        .unwrap()
        .insert(folder.to_owned(), Box::new(deed));
}

api_tests! {
    fn instructions_are_for_those_they_concern(api) {
        let company = api.company("Acme");
        let boss = api.agent(&company, "Boss");
        let agents = format!("/api/companies/{}/agents", id(&company));
        let ada = json!({ "name": "Ada", "reportsTo": id(&boss) });
        let ada = api.post(&agents, &ada).ok(201);
        let keys = [api.key(&boss), api.key(&api.agent(&company, "Bob"))];
        let [above, beside] = keys.each_ref().map(|key| api.bearing(key));
        above.get(&file(&ada, "AGENTS.md")).ok(200);
        beside.get(&file(&ada, "AGENTS.md")).problem(403, "forbidden");
        for caller in [&above, &beside] {
            let change = json!({ "entryFile": "AGENTS.md" });
            caller.patch(&bundle(&ada), &change).problem(403, "forbidden");
            caller.send("DELETE", &file(&ada, "x.md"), &Value::Null).problem(403, "forbidden");
        }
    }

    fn an_agent_leaves_an_external_bundle_alone(api) {
        let ada = api.agent(&api.company("Acme"), "Ada");
        let folder = folder(api, "bundle");
        move_out(api, &ada, &folder);
        let key = api.key(&ada);
        let delete = file(&ada, "notes.md");
        api.bearing(&key).send("DELETE", &delete, &Value::Null).problem(403, "board_required");
        assert!(folder.join("notes.md").exists());
    }

    fn a_folder_that_is_gone_is_told(api) {
        let ada = api.agent(&api.company("Acme"), "Ada");
        let folder = folder(api, "bundle");
        move_out(api, &ada, &folder);
        fs::remove_dir_all(&folder).unwrap();
        let delete = file(&ada, "notes.md");
        api.send("DELETE", &delete, &[], b"").problem(409, "instructions_unavailable");
        api.get(&delete).problem(409, "instructions_unavailable");
        let rebuild = json!({ "mode": "managed", "replaceExisting": true });
        api.patch(&bundle(&ada), &rebuild).problem(409, "instructions_unavailable");
        assert_eq!(api.get(&bundle(&ada)).ok(200)["mode"], "external");
        api.patch(&bundle(&ada), &json!({ "mode": "managed" })).ok(200);
    }

    fn of_two_changes_that_meet_the_later_is_refused(api = meddled) {
        let ada = api.agent(&api.company("Acme"), "Ada");
        let (here, there) = (folder(api, "here"), folder(api, "there"));
        move_out(api, &ada, &here);
        taken_back_meanwhile(api, &ada, &there);
        let change = json!({ "rootPath": there });
        api.patch(&bundle(&ada), &change).problem(409, "instructions_file_conflict");
        assert_eq!(api.get(&bundle(&ada)).ok(200)["mode"], "managed");

        move_out(api, &ada, &here);
        taken_back_meanwhile(api, &ada, &here);
        let delete = file(&ada, "notes.md");
        api.send("DELETE", &delete, &[], b"").problem(409, "instructions_file_conflict");

        move_out(api, &ada, &there);
        taken_back_meanwhile(api, &ada, &there);
        let put = json!({ "path": "AGENTS.md", "content": "new" }).to_string();
        let path = format!("{}/file", bundle(&ada));
        api.send("PUT", &path, &[], put.as_bytes()).problem(409, "instructions_file_conflict");
        assert_eq!(api.get(&bundle(&ada)).ok(200)["mode"], "managed");
    }
}
