use super::*;

/// Shorter than any patience.
const MOMENT: Duration = Duration::from_millis(5);
const LONGEST: Duration = Duration::from_secs(60);

#[tokio::test]
async fn what_is_not_begun_in_time_is_given_up() {
    let turn = Turn::of("a write");
    let (_sender, told) = oneshot::channel::<()>();
    let refused = turn.clone().outcome(Duration::ZERO, LONGEST, told).await;
    assert_eq!(refused.unwrap_err().code(), Code::Busy);
    assert!(turn.take().is_none(), "nobody carries it out any more");
}

#[tokio::test]
async fn what_has_begun_is_waited_for() {
    let turn = Turn::of("a write");
    assert!(turn.take().is_some());
    let (sender, told) = oneshot::channel();
    let outcome = tokio::spawn(turn.outcome(Duration::ZERO, LONGEST, told));
    tokio::time::sleep(Duration::from_millis(5)).await;
    sender.send(7).unwrap();
    assert_eq!(outcome.await.unwrap().unwrap(), 7);
}

#[tokio::test]
async fn what_nobody_waits_for_is_given_up_when_its_time_is_over() {
    let turn = Turn::of("a write");
    drop(GiveUp::after(LONGEST, &turn));
    tokio::time::sleep(MOMENT).await;
    assert!(!turn.is_taken(), "it may still be carried out");
    drop(GiveUp::after(MOMENT, &turn));
    timeout(LONGEST, async {
        while !turn.is_taken() {
            tokio::time::sleep(MOMENT).await;
        }
    })
    .await
    .unwrap();
    let turn = Turn::of("what is not needed without its outcome");
    drop(GiveUp::after(Duration::ZERO, &turn));
    assert!(turn.is_taken(), "at once");
}

#[test]
fn a_line_keeps_nothing_of_the_first_that_were_given_up() {
    let turns = [Turn::of(0), Turn::of(1), Turn::of(2), Turn::of(3)];
    let mut line = VecDeque::from(turns.clone());
    for taken in [0, 1, 3] {
        turns[taken].take();
    }
    drop_taken(&mut line);
    assert_eq!(line.len(), 2);
    assert_eq!(line[0].take(), Some(2));
    drop_taken(&mut line);
    assert!(line.is_empty());
}

#[tokio::test]
async fn what_is_lost_in_a_panic_is_a_fault_of_the_server() {
    let turn = Turn::of("a write");
    let (sender, told) = oneshot::channel::<()>();
    drop(sender);
    let lost = turn.outcome(LONGEST, LONGEST, told).await;
    assert_eq!(lost.unwrap_err().code(), Code::Internal);
}
