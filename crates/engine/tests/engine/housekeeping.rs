use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use workforce_app::Failure;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::AgentLifecycle;
use workforce_domain::board::BoardMember;
use workforce_domain::board_session::{BoardSession, LoginLink};
use workforce_domain::company::PauseReason;
use workforce_domain::id::RunId;
use workforce_domain::port::{RunLogs, StopScope, StoredResponse};
use workforce_domain::run::Run;
use workforce_domain::ticket::{StreamTicket, TicketHolder};
use workforce_engine::FileRunLogs;

use crate::support::{House, eventually};

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_kept_for_a_day() {
    let house = House::new();
    let now = house.ports.clock.now();
    let hours = |hours: u64| now.minus(Duration::from_secs(hours * 3600));
    for (key, created_at) in [("old", hours(25)), ("new", hours(23))] {
        let answer = StoredResponse {
            caller: "board".into(),
            key: key.into(),
            request_digest: [0; 32],
            status: 200,
            body: b"{}".to_vec(),
            sealed: false,
            created_at,
        };
        house.act(|tx, _| Ok::<_, Failure<()>>(tx.idempotency().keep(&answer)?));
    }
    let engine = house.start();
    let find = |key| {
        house.act(|tx, _| Ok::<_, Failure<()>>(tx.idempotency().find("board", key, hours(100))?))
    };
    eventually("the old answer's end", || {
        find("old").is_none().then_some(())
    })
    .await;
    assert!(find("new").is_some());
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ended_wakes_are_kept_for_fourteen_days() {
    let house = House::new();
    let agent = house.hire_shell("true");
    let ended = |days: u64| {
        let run = house.invoke(agent).run;
        let ago = Duration::from_secs(days * 24 * 60 * 60);
        let at = house.ports.clock.now().minus(ago);
        let stop = StopScope::Agent(agent);
        house.act(|tx, _| {
            Ok::<_, Failure<()>>(tx.runs_mut().cancel_pending(run.scope(), stop, at)?)
        });
        run
    };
    let (old, young) = (ended(15), ended(13));
    let has = |run: &Run| {
        house
            .act(|tx, _| {
                let reads = tx.reads();
                Ok::<_, Failure<()>>(reads.runs().wake_of(run.scope(), run.id)?)
            })
            .is_some()
    };
    assert!(has(&old));
    let engine = house.start();
    eventually("the old wake's end", || (!has(&old)).then_some(())).await;
    assert!(has(&young));
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tickets_are_kept_until_they_expire() {
    let house = House::new();
    let now = house.ports.clock.now();
    let minute = Duration::from_secs(60);
    for (digest, expires_at) in [(1, now.minus(minute)), (2, now.plus(minute))] {
        let ticket = StreamTicket {
            digest: [digest; 32],
            company: house.company,
            holder: TicketHolder::LocalBoard,
            expires_at,
        };
        house.act(|tx, _| Ok::<_, Failure<()>>(tx.stream_tickets_mut().insert(&ticket)?));
    }
    let engine = house.start();
    let find =
        |digest| house.act(|tx, _| Ok::<_, Failure<()>>(tx.stream_tickets().find(&[digest; 32])?));
    eventually("the expired ticket's end", || {
        find(1).is_none().then_some(())
    })
    .await;
    assert!(find(2).is_some());
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_of_the_board_and_links_are_kept_until_they_end() {
    let house = House::new();
    let now = house.ports.clock.now();
    let (minute, member) = (Duration::from_secs(60), BoardMember::StartToken);
    for (digest, expires_at) in [(1, now.minus(minute)), (2, now.plus(minute))] {
        let session = BoardSession {
            id: house.ports.ids.next().into(),
            digest: [digest; 32],
            member,
            created_at: now,
            last_used_at: now,
            expires_at,
        };
        let link = LoginLink {
            digest: [digest; 32],
            member,
            expires_at,
        };
        house.act(|tx, _| {
            tx.board_sessions_mut().insert(&session)?;
            Ok::<_, Failure<()>>(tx.board_sessions_mut().insert_link(&link)?)
        });
    }
    let engine = house.start();
    let find = |digest| {
        house.act(|tx, _| {
            let sessions = tx.board_sessions();
            let session = sessions.find_by_digest(&[digest; 32])?;
            let link = sessions.find_link(&[digest; 32])?;
            Ok::<_, Failure<()>>([session.is_some(), link.is_some()])
        })
    };
    eventually("the end of what has ended", || {
        (find(1) == [false, false]).then_some(())
    })
    .await;
    assert_eq!(find(2), [true, true]);
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_stop_without_a_reason_in_this_month_is_lifted() {
    let house = House::new();
    let now = house.ports.clock.now();
    let lifecycle = |reason| AgentLifecycle::ENABLED.pause(reason, now).unwrap();
    let paused = |reason| {
        let agent = house.hire_shell("true");
        house.act(|tx, _| {
            let Some(mut held) = tx.agents_mut().lock(House::scope(), agent)? else {
                return Err(Failure::Refused(()));
            };
            held.lifecycle = lifecycle(reason);
            Ok(tx.agents_mut().save(&held)?)
        });
        agent
    };
    let (by_budget, by_board) = (paused(PauseReason::Budget), paused(PauseReason::Manual));
    let lifecycle_of = |agent| {
        house
            .act(|tx, _| Ok::<_, Failure<()>>(tx.agents().find(House::scope(), agent)?))
            .expect("an agent")
            .lifecycle
    };
    let engine = house.start();
    eventually("the lifting", || {
        (lifecycle_of(by_budget) == AgentLifecycle::ENABLED).then_some(())
    })
    .await;
    assert!(lifecycle_of(by_board).paused().is_some());
    engine.shutdown().await;
}

/// A log that was last written to so long ago.
fn written(house: &House, company: &str, name: &str, ago: Duration) -> PathBuf {
    let folder = house.config().runs_dir.join(company);
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    let at = house.ports.clock.now().minus(ago).micros();
    let at = SystemTime::UNIX_EPOCH + Duration::from_micros(at.unsigned_abs());
    File::create(&path)
        .and_then(|file| file.set_modified(at))
        .expect("a file");
    path
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_are_kept_for_thirty_days() {
    let house = House::new();
    let days = |days: u64| Duration::from_secs(days * 24 * 60 * 60);
    let company = house.company.to_string();
    let run = || RunId::from(house.ports.ids.next());
    let log = |ago| written(&house, &company, &format!("{}.log", run()), ago);
    let young = log(days(29));
    let old = log(days(31));
    let beside = [".z", ".times", ".tail", ".packing"].map(|ending| {
        written(
            &house,
            &company,
            &format!("{}.log{ending}", run()),
            days(31),
        )
    });
    let engine = house.start();
    for old in beside.iter().chain([&old]) {
        eventually("the old logs' end", || (!old.exists()).then_some(())).await;
    }
    assert!(young.exists());
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_put_beside_the_logs_stays() {
    let house = House::new();
    let old = Duration::from_secs(40 * 24 * 60 * 60);
    let company = house.company.to_string();
    let run = RunId::from(house.ports.ids.next()).to_string();
    let log = format!("{run}.log");
    let another = house.ports.ids.next().to_string();
    let kept = [
        written(&house, "", "model.pt", old),
        written(&house, "exp1", "model.pt", old),
        written(&house, "exp1", &log, old),
        written(&house, &another.to_uppercase(), &log, old),
        written(&house, &company, "model.pt", old),
        written(&house, &company, &format!("{run}.txt"), old),
        written(&house, &company, &format!("{log}.bak"), old),
        written(
            &house,
            &company,
            &format!("{}.log", run.to_uppercase()),
            old,
        ),
        written(&house, "../elsewhere", &log, old),
    ];
    let runs = house.config().runs_dir;
    let elsewhere = runs.parent().expect("a folder above").join("elsewhere");
    symlink(&elsewhere, runs.join(&another)).expect("a link to a folder");
    let linked = runs.join(&company).join(format!("{another}.log"));
    symlink(elsewhere.join(&log), &linked).expect("a link to a file");
    let own = written(&house, &company, &log, old);
    let engine = house.start();
    eventually("the old log's end", || (!own.exists()).then_some(())).await;
    engine.shutdown().await;
    for kept in kept.iter().chain([&linked]) {
        assert!(kept.exists(), "{} is gone", kept.display());
    }
}

/// The same where the whole folder is a link: nothing behind it is the server's to remove.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_behind_a_link_is_removed() {
    let house = House::new();
    let old = Duration::from_secs(40 * 24 * 60 * 60);
    let company = house.company.to_string();
    let log = format!("{}.log", RunId::from(house.ports.ids.next()));
    let kept = written(&house, &company, &log, old);
    let runs = house.config().runs_dir;
    let elsewhere = runs.with_file_name("elsewhere");
    fs::rename(&runs, &elsewhere).expect("another place");
    symlink(&elsewhere, &runs).expect("a link to a folder");
    let engine = house.start();
    engine.recovered().await;
    engine.shutdown().await;
    assert!(FileRunLogs::new(&runs).delete(house.company).is_err());
    assert!(kept.exists());
}

#[test]
fn what_runs_of_a_deleted_company_left_goes_and_nothing_else() {
    let house = House::new();
    let logs = FileRunLogs::new(house.config().runs_dir);
    let company = house.company.to_string();
    let run = RunId::from(house.ports.ids.next()).to_string();
    let now = Duration::ZERO;
    let own = [
        written(&house, &company, &format!("{run}.log"), now),
        written(&house, &company, &format!("{run}.log.times"), now),
        written(&house, &format!("{company}/{run}"), "prompt", now),
    ];
    let others = [
        written(&house, &company, "notes.txt", now),
        written(&house, &company, "a.log", now),
        written(&house, &format!("{company}/exp1"), "model.pt", now),
        written(&house, "other", &format!("{run}.log"), now),
    ];
    for _again in 0..2 {
        logs.delete(house.company).expect("no logs");
        assert!(own.iter().all(|it| !it.exists()));
        assert!(others.iter().all(|it| it.exists()));
    }
    let folder = house.config().runs_dir.join(company);
    fs::remove_dir_all(&folder).expect("a folder");
    written(
        &house,
        &house.company.to_string(),
        &format!("{run}.log"),
        now,
    );
    logs.delete(house.company).expect("no logs");
    assert!(!folder.exists());
}
