//! What the engine lays out for runs of another account than the server's
//! (docs/operations.md#another-user).

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use nix::unistd::geteuid;
use serde_json::{Value, json};
use workforce_domain::agent::AdapterType;
use workforce_domain::id::AgentId;
use workforce_domain::run::RunStatus;
use workforce_engine::{AgentHome, ContainmentPlan, EngineConfig};
use workforce_guard::client::probe;
use workforce_guard::{Means, RunAs};

use crate::support::{House, UNTIL_GO, eventually, shell};

/// The home of an agent, in the data folder.
fn home_of(house: &House, agent: AgentId) -> std::path::PathBuf {
    house.path("data/agents").join(agent.to_string())
}

fn config(house: &House, means: Means, run_as: &RunAs) -> EngineConfig {
    fs::set_permissions(house.folder.path(), PermissionsExt::from_mode(0o755)).expect("a mode");
    let data = house.path("data");
    fs::create_dir_all(&data).expect("a folder");
    fs::set_permissions(&data, PermissionsExt::from_mode(0o700)).expect("a mode");
    fs::write(data.join("database"), "content").expect("a file");
    let mut config = house.config();
    config.agent_home = AgentHome::Private;
    config.containment = ContainmentPlan {
        means,
        hidden: vec![data.clone()],
        // Each run has a temporary folder.
        writable: Some(vec![]),
        run_as: Some(run_as.clone()),
    };
    config.containment.open_data_folder(&data).expect("a way");
    config
}

/// Tests with each means that this kernel has, and without any.
async fn with_each(test: impl AsyncFn(House, EngineConfig, RunAs)) {
    if !geteuid().is_root() {
        eprintln!("LEFT OUT: only root may run programs as another user");
        return;
    }
    let run_as = RunAs::resolve("nobody").expect("a user");
    let guard = House::new().config().guard;
    let has = probe(&guard, Some(&run_as)).await.expect("an answer");
    let namespaces = Means {
        namespaces: true,
        ..Means::NONE
    };
    let rules = Means {
        files: true,
        ..Means::NONE
    };
    for (means, is_there) in [
        (namespaces, has.namespaces),
        (rules, has.files),
        (Means::NONE, true),
    ] {
        if is_there {
            let house = House::new();
            let config = config(&house, means, &run_as);
            test(house, config, run_as.clone()).await;
        } else {
            eprintln!("LEFT OUT: this kernel does not give {:?}", means.names());
        }
    }
}

/// In its home.
fn at_home(script: &str) -> Value {
    let mut config = shell(script);
    config["cwd"] = Value::Null;
    config
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_finds_what_is_laid_out_for_it() {
    with_each(async |house, config, run_as| {
        let script = "
            id -u; echo $USER $LOGNAME $SHELL; [ \"$PWD\" = \"$HOME\" ] && echo home
            head -c 1 \"$WORKFORCE_INSTRUCTIONS_FILE\" > /dev/null && echo instructions
            cat \"$WORKFORCE_INSTRUCTIONS_DIR\"/../workforce.md > /dev/null && echo skill
            echo x > \"$TMPDIR/file\" && mkdir \"$TMPDIR/closed\" && echo temporary
            ln -s \"$WORKFORCE_INSTRUCTIONS_DIR/../../../../../victim\" \"$TMPDIR/link\"
            touch \"$TMPDIR/closed/file\"; chmod 0 \"$TMPDIR/closed\"
            cat ../../database > /dev/null 2>&1 && echo read
            echo mine > file && echo wrote";
        let victim = house.path("victim");
        fs::create_dir(&victim).expect("a folder");
        fs::write(victim.join("file"), "").expect("a file");
        let means = config.containment.means;
        let engine = house.start_with(config);
        let agent = house.hire(at_home(script));
        let run = house.invoke(agent).run.id;
        let run = house.ended(run).await;
        let expected = format!(
            "{}\nnobody nobody {}\nhome\ninstructions\nskill\ntemporary\nwrote\n",
            run_as.uid,
            run_as.shell.display()
        );
        assert_eq!(house.log(run.id), expected, "{means:?} {:?}", run.error);
        let fences = run.containment.expect("a word");
        assert!(fences.ends_with("run_as"), "{fences}");
        let folder = house.path("data/runs").join(house.company.to_string());
        let folder = folder.join(run.id.to_string());
        eventually("its folder is gone", || (!folder.exists()).then_some(())).await;
        assert!(victim.join("file").exists());
        assert_eq!(victim.metadata().expect("a folder").mode() & 0o777, 0o755);
        engine.shutdown().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_home_that_root_made_is_handed_over_without_what_links_lead_to() {
    with_each(async |house, config, run_as| {
        let agent = house.hire(at_home("cat deep/er/file; echo more >> deep/er/file"));
        let home = home_of(&house, agent);
        fs::create_dir_all(home.join("deep/er")).expect("a folder");
        fs::write(home.join("deep/er/file"), "kept\n").expect("a file");
        fs::set_permissions(home.join("deep"), PermissionsExt::from_mode(0o700)).expect("a mode");
        let victim = house.path("victim");
        fs::create_dir(&victim).expect("a folder");
        fs::write(victim.join("file"), "").expect("a file");
        symlink(&victim, home.join("folder")).expect("a link");
        symlink(victim.join("file"), home.join("deep/link")).expect("a link");
        fs::hard_link(victim.join("file"), home.join("deep/name")).expect("a link");
        let engine = house.start_with(config);
        let run = house.ended(house.invoke(agent).run.id).await;
        assert_eq!(run.status, RunStatus::Succeeded, "{:?}", run.error);
        assert_eq!(house.log(run.id), "kept\n");
        let owner = |path: &Path| fs::symlink_metadata(path).expect("a file").uid();
        for given in ["", "deep", "deep/er", "deep/er/file", "deep/link"] {
            assert_eq!(owner(&home.join(given)), run_as.uid, "{given}");
        }
        for kept in [&victim, &victim.join("file")] {
            assert_eq!(owner(kept), 0, "root followed a link");
        }
        engine.shutdown().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_home_that_was_exchanged_for_a_link_is_not_followed() {
    with_each(async |house, config, _| {
        let agent = house.hire(at_home("echo started"));
        let victim = house.path("victim");
        fs::create_dir(&victim).expect("a folder");
        fs::create_dir_all(house.path("data/agents")).expect("a folder");
        symlink(&victim, home_of(&house, agent)).expect("a link");
        let engine = house.start_with(config);
        let run = house.ended(house.invoke(agent).run.id).await;
        assert_eq!(run.status, RunStatus::Failed);
        assert_eq!(victim.metadata().expect("a folder").uid(), 0);
        engine.shutdown().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_another_user_goes_on_under_the_next_server() {
    with_each(async |house, config, run_as| {
        let script = format!("cd; {UNTIL_GO}; id -u");
        let agent = house.hire(at_home(&script));
        let mut first = config.clone();
        first.keep_runs = true;
        let engine = house.start_with(first);
        let run = house.invoke(agent).run.id;
        let ready = home_of(&house, agent).join("ready");
        eventually("it is ready", || ready.exists().then_some(())).await;
        engine.shutdown().await;
        assert_eq!(house.run(run).status, RunStatus::Running);
        let mut next = config;
        next.instance = house.new_instance();
        let engine = house.start_with(next);
        fs::write(home_of(&house, agent).join("go"), "").expect("a file");
        let ended = house.ended(run).await;
        assert_eq!(ended.status, RunStatus::Succeeded, "{:?}", ended.error);
        assert_eq!(house.log(run), format!("{}\n", run_as.uid));
        engine.shutdown().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_program_runs_as_that_user_with_its_files() {
    with_each(async |house, config, run_as| {
        let program = house.path("program");
        let script = "#!/bin/sh\necho \"$@\"; id -u; stat -c %u ~/.gemini/settings.json\n";
        fs::write(&program, script).expect("a program");
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("a mode");
        let engine = house.start_with(config);
        let run = async |adapter_type: AdapterType| {
            let settings = json!({ "command": program, "cwd": null });
            let agent = house.hire_with(settings, |agent| {
                agent.adapter_type = Some(adapter_type);
            });
            let run = house.ended(house.invoke(agent).run.id).await;
            house.log(run.id)
        };
        let log = run(AdapterType::GeminiLocal).await;
        assert!(log.ends_with(&format!("\n{0}\n{0}\n", run_as.uid)), "{log}");
        // It refuses that to root.
        let log = run(AdapterType::ClaudeLocal).await;
        assert!(log.contains("--dangerously-skip-permissions"), "{log}");
        engine.shutdown().await;
    })
    .await;
}
