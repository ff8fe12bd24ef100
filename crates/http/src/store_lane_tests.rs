use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};

use futures_util::future::join_all;
use tokio::sync::oneshot;
use workforce_app::Code;

use super::*;

const DEADLINE: Duration = Duration::from_secs(60);

fn lane(usual: usize, most: usize) -> Arc<StoreLane> {
    let lane = StoreLane {
        line: Arc::new(Mutex::new(Line::served_by(Threads { usual, most }))),
        threads: BlockingThreads::default(),
    };
    lane.run_on(Handle::current(), Threads { usual, most });
    Arc::new(lane)
}

async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, future).await.unwrap()
}

/// Has a read begun, which ends when what is returned is dropped.
async fn slow(lane: &Arc<StoreLane>) -> Sender<()> {
    let (end, ended) = channel();
    let (begin, begun) = oneshot::channel();
    let lane = Arc::clone(lane);
    tokio::spawn(async move {
        let read = lane.read(move || {
            begin.send(()).unwrap();
            ended.recv().unwrap_err();
        });
        read.await.unwrap();
    });
    in_time(begun).await.unwrap();
    end
}

/// The threads that serve, the reads that run, and whether the line is watched.
fn left(lane: &StoreLane) -> (usize, usize, bool) {
    let line = lock(&lane.line);
    (line.serving, line.running.len(), line.is_watched)
}

#[tokio::test]
async fn few_threads_serve_many_reads() {
    let lane = lane(2, 2);
    let at_once = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let reads = (0..200).map(|number| {
        let at_once = Arc::clone(&at_once);
        lane.read(move || {
            let (now, most) = &*at_once;
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::sleep(Duration::from_micros(50));
            now.fetch_sub(1, Ordering::SeqCst);
            number
        })
    });
    let found = in_time(join_all(reads)).await;
    let found: Vec<i32> = found.into_iter().map(Result::unwrap).collect();
    assert_eq!(found, (0..200).collect::<Vec<_>>());
    assert!(at_once.1.load(Ordering::SeqCst) <= 2);
}

#[tokio::test]
async fn a_quick_read_does_not_wait_for_slow_ones() {
    let lane = lane(1, 4);
    let slow = [slow(&lane).await, slow(&lane).await, slow(&lane).await];
    assert_eq!(in_time(lane.read(|| 7)).await.unwrap(), 7);
    drop(slow);
    // What was added for them goes with them.
    in_time(async {
        while left(&lane) != (0, 0, false) {
            tokio::time::sleep(SLOW).await;
        }
    })
    .await;
    assert_eq!(in_time(lane.read(|| 8)).await.unwrap(), 8);
}

#[tokio::test]
async fn there_are_never_more_threads_than_may_be() {
    let lane = lane(1, 2);
    let slow = [slow(&lane).await, slow(&lane).await];
    let waiting = tokio::time::timeout(20 * SLOW, lane.read(|| 7)).await;
    assert!(waiting.is_err(), "all threads are busy");
    drop(slow);
    assert_eq!(in_time(lane.read(|| 8)).await.unwrap(), 8);
}

/// A job, and how often it was run.
fn counted() -> (Arc<AtomicUsize>, impl FnOnce() -> usize + Send + 'static) {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    (runs, move || counted.fetch_add(1, Ordering::SeqCst))
}

#[tokio::test]
async fn a_read_for_which_nobody_waits_any_more_is_left_out() {
    let lane = lane(1, 1);
    let slow = slow(&lane).await;
    let (runs, job) = counted();
    let left = lane.read(job);
    assert!(tokio::time::timeout(SLOW, left).await.is_err());
    drop(slow);
    assert_eq!(in_time(lane.read(|| 8)).await.unwrap(), 8);
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_write_for_which_nobody_waits_any_more_is_carried_out() {
    let lane = lane(1, 1);
    let slow = slow(&lane).await;
    let (runs, job) = counted();
    let left = lane.write(DEADLINE, job);
    assert!(tokio::time::timeout(SLOW, left).await.is_err());
    drop(slow);
    assert_eq!(in_time(lane.read(|| 8)).await.unwrap(), 8);
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_write_whose_client_has_left_is_given_up_when_its_turn_does_not_come() {
    let lane = lane(1, 1);
    let slow = slow(&lane).await;
    let (runs, job) = counted();
    let left = lane.write(400 * SLOW, job);
    assert!(tokio::time::timeout(SLOW, left).await.is_err());
    let forgotten = async {
        while Arc::strong_count(&runs) > 1 {
            tokio::time::sleep(SLOW).await;
        }
    };
    in_time(forgotten).await;
    drop(slow);
    assert_eq!(in_time(lane.read(|| 8)).await.unwrap(), 8);
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_write_whose_turn_does_not_come_is_refused_and_never_carried_out() {
    let lane = lane(1, 1);
    let slow = slow(&lane).await;
    let (runs, job) = counted();
    let late = lane.write(SLOW, job);
    assert_eq!(in_time(late).await.unwrap_err().code(), Code::Busy);
    drop(slow);
    assert_eq!(in_time(lane.read(|| 8)).await.unwrap(), 8);
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_panic_harms_no_other_request() {
    let lane = lane(1, 1);
    let panicked = in_time(lane.write(DEADLINE, || panic!("broken"))).await;
    assert_eq!(panicked.unwrap_err().code(), Code::Internal);
    assert!(in_time(lane.read(|| panic!("broken"))).await.is_err());
    assert_eq!(in_time(lane.read(|| 8)).await.unwrap(), 8);
}
