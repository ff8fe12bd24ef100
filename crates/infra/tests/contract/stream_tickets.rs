use workforce_domain::ticket::{StreamTicket, TicketHolder};
use workforce_testkit::on_both_databases;

use crate::world::{World, later, write};

const HOLDER: TicketHolder = TicketHolder::AgentKey([0xa7; 32]);

fn ticket(world: &World<'_>, digest: u8, seconds: u64) -> StreamTicket {
    StreamTicket {
        digest: [digest; 32],
        company: world.company.id,
        holder: HOLDER,
        expires_at: later(seconds),
    }
}

fn keep(world: &World<'_>, tickets: &[StreamTicket]) {
    world.write(|tx| {
        let mut kept = tickets.iter();
        kept.try_for_each(|ticket| tx.stream_tickets_mut().insert(ticket))
    });
}

on_both_databases! {
    #![beneath_the_rules]
    fn a_ticket_is_found_until_it_is_taken_and_taken_once(store: &TestStore) {
        let world = World::new(store);
        let kept = ticket(&world, 7, 60);
        keep(&world, std::slice::from_ref(&kept));
        let find = |digest| world.read(|reads| reads.stream_tickets().find(&[digest; 32]));
        assert_eq!(find(7), Some(kept));
        assert_eq!(find(8), None);
        let take = |digest| world.write(|tx| tx.stream_tickets_mut().take(&[digest; 32]));
        assert_eq!([take(8), take(7), take(7)], [false, true, false]);
        assert_eq!(find(7), None);
    }

    fn exactly_one_of_many_takes_a_ticket(store: &TestStore) {
        let world = World::new(store);
        keep(&world, &[ticket(&world, 7, 60)]);
        let take = || write(&**store, |tx| tx.stream_tickets_mut().take(&[7; 32]));
        let taken: Vec<bool> = std::thread::scope(|threads| {
            let takers: Vec<_> = (0..8).map(|_| threads.spawn(take)).collect();
            takers.into_iter().map(|taker| taker.join().unwrap()).collect()
        });
        assert_eq!(taken.into_iter().filter(|taken| *taken).count(), 1);
    }

    fn what_waits_is_counted_per_holder_while_it_is_valid(store: &TestStore) {
        let world = World::new(store);
        let other = StreamTicket { holder: TicketHolder::LocalBoard, ..ticket(&world, 3, 60) };
        keep(&world, &[ticket(&world, 1, 60), ticket(&world, 2, 10), other]);
        let waiting = |holder, seconds| {
            world.read(|reads| reads.stream_tickets().waiting(world.scope(), holder, later(seconds)))
        };
        assert_eq!(waiting(HOLDER, 9), 2);
        assert_eq!(waiting(HOLDER, 10), 1, "it is not valid any more when it expires");
        assert_eq!(waiting(TicketHolder::LocalBoard, 9), 1);
        assert_eq!(waiting(TicketHolder::Run([0xa7; 32]), 9), 0);
    }

    fn expired_tickets_are_forgotten_in_portions(store: &TestStore) {
        let world = World::new(store);
        let kept = [(1, 0), (2, 1), (3, 2), (4, 9)];
        keep(&world, &kept.map(|(digest, seconds)| ticket(&world, digest, seconds)));
        let delete = || world.write(|tx| tx.stream_tickets_mut().delete_before(later(9), 2));
        assert_eq!([delete(), delete(), delete()], [2, 1, 0]);
        let find = |digest| world.read(|reads| reads.stream_tickets().find(&[digest; 32])).is_some();
        assert_eq!([1, 2, 3, 4].map(find), [false, false, false, true]);
    }
}
