use super::*;

const HOUR: Duration = Duration::from_secs(3_600);

#[test]
fn room_is_given_back_when_a_write_is_done() {
    let waiting = WaitingWrites::default();
    let large = waiting.room((UNITS - 2) * UNIT).unwrap();
    let small = waiting.room(0).unwrap();
    let refused = waiting.room(0).err().unwrap();
    assert_eq!(refused.code(), Code::Busy);
    drop(small);
    assert!(
        waiting.room(1).is_err(),
        "a unit for itself, and one for its body"
    );
    drop(large);
    assert!(waiting.room(1).is_ok());
}

#[test]
fn no_body_is_too_large_to_be_refused() {
    let waiting = WaitingWrites::default();
    assert!(waiting.room(usize::MAX).is_err());
}

#[tokio::test]
async fn what_is_not_begun_in_time_is_given_up() {
    let turn = Turn::of("a write");
    let (_sender, told) = oneshot::channel::<()>();
    let refused = turn.clone().outcome(Duration::ZERO, told).await;
    assert_eq!(refused.unwrap_err().code(), Code::Busy);
    assert!(turn.take().is_none(), "nobody carries it out any more");
}

#[tokio::test]
async fn what_has_begun_is_waited_for() {
    let turn = Turn::of("a write");
    assert!(turn.take().is_some());
    let (sender, told) = oneshot::channel();
    let outcome = tokio::spawn(turn.outcome(Duration::ZERO, told));
    tokio::time::sleep(Duration::from_millis(5)).await;
    sender.send(7).unwrap();
    assert_eq!(outcome.await.unwrap().unwrap(), 7);
}

#[tokio::test]
async fn what_is_lost_in_a_panic_is_a_fault_of_the_server() {
    let turn = Turn::of("a write");
    let (sender, told) = oneshot::channel::<()>();
    drop(sender);
    let lost = turn.outcome(HOUR, told).await;
    assert_eq!(lost.unwrap_err().code(), Code::Internal);
}
