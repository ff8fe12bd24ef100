//! `workforce doctor` finds what is wrong, and repairs what it says that it can.

use std::fs::{File, Permissions, set_permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use nix::sys::signal::Signal;
use nix::unistd::geteuid;
use serde_json::{Value, json};
use tempfile::TempDir;
use workforce_testkit::store::SideConnection;

use crate::harness::{PATIENCE, Server, binary, folder, script};
use crate::office::{Database, Office, on_both};

/// A data folder without a server, with an office that has worked.
struct Site<'a> {
    data: TempDir,
    database: &'a Database,
    office: Office,
    runs: Vec<String>,
}

/// What the doctor says.
struct Told {
    code: i32,
    json: Value,
}

impl Told {
    /// The level of what it says about one check; `None` when it says nothing but good.
    fn level(&self, check: &str) -> Option<&str> {
        let findings = self.json["findings"].as_array().unwrap();
        let bad = findings
            .iter()
            .filter(|it| it["check"] == check && it["level"] != "ok");
        bad.filter_map(|it| it["level"].as_str()).next()
    }

    #[track_caller]
    fn finds(&self, check: &str, level: &str) {
        assert_eq!(self.level(check), Some(level), "{}", self.json);
        let code = i32::from(level == "problem");
        assert!(self.code >= code, "{}", self.json);
    }

    #[track_caller]
    fn finds_nothing_in(&self, check: &str) {
        assert_eq!(self.level(check), None, "{}", self.json);
    }
}

impl<'a> Site<'a> {
    fn new(database: &'a Database) -> Self {
        let data = folder();
        permit(data.path(), 0o700);
        let server = Server::start_with(data.path(), &database.flags(), &[]);
        let office = Office::open(&server);
        let runs = [(); 2].map(|()| {
            let run = office.invoke(&server);
            office.wait_for_success(&server, &run);
            run.rsplit('/').next().unwrap().to_owned()
        });
        let cost = json!({
            "agentId": office.agent, "provider": "p", "model": "m", "inputTokens": 1,
            "outputTokens": 2, "costCents": 7, "occurredAt": "2026-11-20T10:00:00Z",
        });
        server.post(
            &format!("/api/companies/{}/cost-events", office.company),
            &cost,
        );
        let issue = format!("/api/companies/{}/issues/{}", office.company, office.issue);
        assert_eq!(
            server.upload(&format!("{issue}/attachments"), "file").0,
            201
        );
        server.signal(Signal::SIGTERM);
        server.wait();
        Self {
            data,
            database,
            office,
            runs: runs.into(),
        }
    }

    fn doctor(&self, flags: &[&str], variables: &[(&str, &str)]) -> Told {
        let output = binary()
            .args(["doctor", "--json", "--data-dir"])
            .arg(self.data.path())
            .args(self.database.flags())
            .args(flags)
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let json = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{error}: {text} {output:?}"));
        Told {
            code: output.status.code().unwrap(),
            json,
        }
    }

    fn look(&self) -> Told {
        self.doctor(&[], &[])
    }

    /// Found, repaired, and not found again.
    #[track_caller]
    fn mends(&self, check: &str, level: &str) {
        self.look().finds(check, level);
        let fixed = self.doctor(&["--fix"], &[]);
        assert_eq!(
            fixed.json["repaired"].as_array().unwrap().len(),
            1,
            "{}",
            fixed.json
        );
        fixed.finds_nothing_in(check);
        let again = self.look();
        again.finds_nothing_in(check);
        assert_eq!(again.code, 0, "{}", again.json);
    }

    fn execute(&self, statement: &str) {
        let file = self.data.path().join("workforce.db");
        let connection = match self.database {
            Database::Sqlite => file.to_str().unwrap(),
            Database::Postgres(database) => database.url(),
        };
        SideConnection::to(connection).execute(statement);
    }

    fn run_folder(&self, run: &str) -> std::path::PathBuf {
        let folder = self
            .data
            .path()
            .join("runs")
            .join(&self.office.company)
            .join(run);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }
}

/// Ends with its process.
struct Leftover(Child);

impl Drop for Leftover {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn permit(path: &Path, mode: u32) {
    set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

on_both! {
    fn what_can_be_repaired_is(database) {
        let site = Site::new(database);
        let well = site.look();
        assert_eq!(well.code, 0, "{}", well.json);

        site.execute("UPDATE spend_totals SET spent_micros = spent_micros + 1");
        site.mends("totals_equal_the_ledger", "problem");

        site.execute(&format!(
            "INSERT INTO issue_leases (issue_id, company_id, agent_id, run_id, fence)
             SELECT i.id, r.company_id, r.agent_id, r.id, 0
             FROM issues i JOIN heartbeat_runs r ON r.company_id = i.company_id
             WHERE r.id = '{}'", site.runs[0]));
        site.mends("leases_of_runs_end_with_them", "problem");

        let (hour_ago, digest) = match database {
            Database::Sqlite => ("started_at - 3600000000", format!("x'{}'", "00".repeat(32))),
            Database::Postgres(_) => {
                ("started_at - interval '1 hour'", format!("'\\x{}'", "00".repeat(32)))
            }
        };
        site.execute(&format!(
            "UPDATE heartbeat_runs SET status = 'running', finished_at = NULL,
                 instance_id = id, token_hash = {digest}, lease_expires_at = {hour_ago}
             WHERE id = '{}'", site.runs[1]));
        site.mends("stuck-runs", "problem");

        let leftover = Command::new("sleep")
            .arg("600")
            .env("WORKFORCE_RUN_ID", &site.runs[0])
            .spawn()
            .unwrap();
        let mut leftover = Leftover(leftover);
        let run = site.run_folder(&site.runs[0]);
        site.look().finds("processes", "problem");
        site.doctor(&["--fix"], &[]).finds_nothing_in("processes");
        let begun = std::time::Instant::now();
        while leftover.0.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < PATIENCE, "it is still there");
            std::thread::sleep(Duration::from_millis(20));
        }

        std::fs::create_dir(run.join("tmp")).unwrap();
        let long_ago = std::time::SystemTime::UNIX_EPOCH;
        File::open(&run).unwrap().set_modified(long_ago).unwrap();
        site.mends("run-folders", "warning");
        assert!(!run.exists());

        for (name, wrong, right) in [("master.key", 0o644, 0o600), ("", 0o775, 0o711)] {
            let path = site.data.path().join(name);
            permit(&path, wrong);
            site.look().finds("permissions", "problem");
            site.doctor(&["--fix"], &[]).finds_nothing_in("permissions");
            let mode = path.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, right, "{name}");
        }
        assert_eq!(site.look().code, 0);
        let server = Server::start_with(site.data.path(), &database.flags(), &[]);
        site.office.works(&server);
    }

    fn the_key_behind_a_link_is_looked_at_and_not_changed(database) {
        let site = Site::new(database);
        let (key, elsewhere) = (site.data.path().join("master.key"), folder());
        let target = elsewhere.path().join("key");
        std::fs::rename(&key, &target).unwrap();
        std::os::unix::fs::symlink(&target, &key).unwrap();
        site.look().finds_nothing_in("permissions");
        permit(&target, 0o644);
        site.doctor(&["--fix"], &[]).finds("permissions", "problem");
        assert_eq!(target.metadata().unwrap().permissions().mode() & 0o777, 0o644);
    }

    fn a_repair_leaves_what_others_put_among_the_folders_of_runs(database) {
        let site = Site::new(database);
        let nobodys = "0190b7a0-0000-7000-8000-000000000000";
        let of_company = site.run_folder("exp1").with_file_name("");
        let strangers = ["exp1", nobodys, &site.runs[0].to_uppercase()].map(|it| of_company.join(it));
        let elsewhere = site.data.path().join("runs/experiments");
        let long_ago = std::time::SystemTime::UNIX_EPOCH;
        for folder in strangers.iter().chain([&elsewhere]) {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::write(folder.join("model.pt"), "weights").unwrap();
            File::open(folder).unwrap().set_modified(long_ago).unwrap();
        }
        std::os::unix::fs::symlink(&elsewhere, of_company.join(&site.runs[1])).unwrap();
        site.doctor(&["--fix"], &[]).finds_nothing_in("run-folders");
        for folder in strangers.iter().chain([&elsewhere]) {
            let kept = std::fs::read_to_string(folder.join("model.pt"));
            assert_eq!(kept.unwrap(), "weights", "{}", folder.display());
        }
        assert!(of_company.join(&site.runs[1]).is_symlink());
    }

    fn what_cannot_be_repaired_is_told(database) {
        let site = Site::new(database);
        let told = |site: &Site, check: &str, level: &str| {
            site.look().finds(check, level);
            site.doctor(&["--fix"], &[]).finds(check, level);
        };
        let foreign = "00".repeat(32);
        let wrong = site.doctor(&[], &[("WORKFORCE_MASTER_KEY", &foreign)]);
        wrong.finds("master-key", "problem");
        let key = site.data.path().join("master.key");
        let kept = std::fs::read(&key).unwrap();
        std::fs::remove_file(&key).unwrap();
        told(&site, "master-key", "problem");
        assert!(!key.exists());
        std::fs::write(&key, kept).unwrap();
        permit(&key, 0o600);

        let attachments = site.data.path().join("attachments");
        std::fs::rename(&attachments, site.data.path().join("away")).unwrap();
        told(&site, "attachments", "problem");
        std::fs::rename(site.data.path().join("away"), &attachments).unwrap();

        std::fs::create_dir_all(site.data.path().join("agents/nobody")).unwrap();
        told(&site, "homes", "warning");
        assert!(site.data.path().join("agents/nobody").exists());
        std::fs::remove_dir(site.data.path().join("agents/nobody")).unwrap();

        let stray = site.data.path().join("worktrees/a/b/abc-1/repo");
        std::fs::create_dir_all(&stray).unwrap();
        std::fs::create_dir_all(site.data.path().join("worktrees/a/b/mirror/objects")).unwrap();
        told(&site, "worktrees", "warning");
        assert!(stray.exists());
        std::fs::remove_dir_all(&stray).unwrap();
        site.look().finds_nothing_in("worktrees");
        let elsewhere = folder();
        std::fs::create_dir_all(elsewhere.path().join("a/b/abc-1/repo")).unwrap();
        let place = elsewhere.path().to_str().unwrap();
        site.doctor(&["--worktrees", place], &[]).finds("worktrees", "warning");

        let token = site.data.path().join("board-token");
        std::fs::write(&token, "two words\n").unwrap();
        permit(&token, 0o600);
        told(&site, "board-token", "problem");
        std::fs::remove_file(&token).unwrap();

        let short = site.doctor(&["--min-free-bytes", "18446744073709551615"], &[]);
        short.finds("disk", "problem");

        match geteuid().is_root() {
            true => told(&site, "agents-user", "warning"),
            false => site.look().finds_nothing_in("agents-user"),
        }
        site.doctor(&["--run-as", "nobody"], &[]).finds_nothing_in("agents-user");
        if geteuid().is_root() {
            chown(site.data.path(), Some(65_534), None).unwrap();
            site.look().finds_nothing_in("agents-user");
            chown(site.data.path(), Some(0), None).unwrap();
        }

        let programs = folder();
        let claude = script(programs.path(), "claude", "#!/bin/sh\necho 0.0.1 claude\n");
        permit(&claude, 0o755);
        site.execute("UPDATE agents SET adapter_type = 'claude_local'");
        let path = format!("{}:/usr/bin:/bin", programs.path().display());
        site.doctor(&[], &[("PATH", &path)]).finds("programs", "warning");

        site.execute("INSERT INTO __diesel_schema_migrations (version) VALUES ('99990101000000')");
        told(&site, "schema", "problem");
    }
}

#[test]
fn a_damaged_file_and_broken_references_are_found() {
    let database = Database::Sqlite;
    let site = Site::new(&database);
    let file = site.data.path().join("workforce.db");
    let mut connection = SideConnection::to(file.to_str().unwrap());
    connection.execute("PRAGMA foreign_keys = OFF");
    connection.execute("DELETE FROM companies");
    drop(connection);
    site.look().finds("database", "problem");
    // The last connection moved everything into the file.
    let mut damaged = std::fs::read(&file).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 40_000].fill(0x5a);
    std::fs::write(&file, &damaged).unwrap();
    let told = site.look();
    told.finds("database", "problem");
    assert_eq!(told.code, 1, "{}", told.json);
    std::fs::remove_file(&file).unwrap();
    let told = site.look();
    told.finds("database", "problem");
    assert_eq!(told.code, 2, "{}", told.json);
    assert!(!file.exists());
}

#[test]
fn beside_a_server_nothing_is_repaired_that_is_its_own() {
    let database = Database::Sqlite;
    let site = Site::new(&database);
    let server = Server::start(site.data.path());
    site.execute("UPDATE spend_totals SET spent_micros = spent_micros + 1");
    let fixed = site.doctor(&["--fix"], &[]);
    fixed.finds("totals_equal_the_ledger", "problem");
    let repaired = fixed.json["repaired"].to_string();
    assert!(repaired.contains("in use by another process"), "{repaired}");
    site.office.works(&server);
}
