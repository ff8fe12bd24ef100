//! `workforce demo --agent`, with a real program whose model is an imitation.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use workforce_model_imitation::{ModelImitation, Program, Reply, Rule, Script, installed_for_test};

use crate::agent_programs::{LONG, WORK};
use crate::harness::{binary, folder};

#[test]
fn the_demo_shows_a_real_program_at_work() {
    let program = Program::Claude;
    let Some(executable) = installed_for_test(program) else {
        return;
    };
    let imitation = ModelImitation::start(Script::new()).unwrap();
    let work = [
        WORK[0],
        "printf '# Monday\\n\\nGood morning!\\n' > greeting.md",
        r#"workforce api PATCH "/api/issues/$WORKFORCE_TASK_ID" '{"status": "done", "comment": "It is written."}' >/dev/null && echo done"#,
    ];
    let answer = r#"workforce api POST "/api/issues/$WORKFORCE_TASK_ID/comments" '{"body": "Morning."}' >/dev/null && echo told"#;
    let rule = |commands: &[&str]| {
        let steps = commands.iter().fold(Rule::new(), |rule, command| {
            rule.then(Reply::shell(*command))
        });
        steps.then(Reply::text("I am done."))
    };
    imitation
        .set_script(Script::from(rule(&[answer]).for_prompt("which word in it")).rule(rule(&work)));
    let home = folder();
    let path = std::env::var("PATH").unwrap();
    let told = binary()
        .args(["demo", "--agent", "claude", "--model", "claude-sonnet-4-5"])
        .envs(imitation.environment_for(program))
        .env("HOME", home.path())
        .env(
            "PATH",
            format!("{}:{path}", executable.parent().unwrap().display()),
        )
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&told.stdout),
        String::from_utf8_lossy(&told.stderr),
    );
    assert!(told.status.success(), "{out}\n{err}");
    for part in [
        "Good morning!",
        "MOR-1 is done",
        "the same session",
        "  Morning.",
        "cents",
    ] {
        assert!(out.contains(part), "no {part:?} in:\n{out}\n{err}");
    }
}

#[test]
fn a_demo_whose_terminal_is_closed_ends_its_agent() {
    let program = Program::Claude;
    let Some(executable) = installed_for_test(program) else {
        return;
    };
    let imitation = ModelImitation::start(Script::new()).unwrap();
    let home = folder();
    let begun = home.path().join("begun");
    let command = format!("touch {} && sleep 48731", begun.display());
    let work = Rule::new().then(Reply::shell(command));
    imitation.set_script(Script::from(work));
    let path = std::env::var("PATH").unwrap();
    let own = executable.parent().unwrap().display();
    let mut demo = binary()
        .args(["demo", "--agent", "claude"])
        .envs(imitation.environment_for(program))
        .env("HOME", home.path())
        .env("PATH", format!("{own}:{path}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while !begun.exists() {
        assert!(started.elapsed() < LONG, "the agent does not begin");
        std::thread::sleep(Duration::from_millis(100));
    }
    let pid = demo.id().to_string();
    let hang_up = Command::new("kill").args(["-HUP", &pid]).status();
    assert!(hang_up.unwrap().success());
    demo.wait().unwrap();
    let left = Command::new("pgrep")
        .args(["-f", "sleep 48731"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&left.stdout), "");
}

#[test]
fn the_demo_says_what_a_program_needs_that_is_not_there() {
    let empty = folder();
    let told = binary()
        .args(["demo", "--agent", "codex"])
        .env("HOME", empty.path())
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&told.stderr);
    assert_eq!(told.status.code(), Some(1), "{err}");
    assert!(
        err.contains("Install: npm") && err.contains("\"codex\" was not found"),
        "{err}"
    );
}
