//! Mocks of `port/journal.rs`.

use alloc::vec::Vec;

use mockall::mock;

use crate::activity::Activity;
use crate::actor::CompanyScope;
use crate::id::RunId;
use crate::page::{Page, PageRequest};
use crate::port::{
    ActivityCursor, ActivityFilter, ActivityReads, EventSpan, NumberedEvent, StoreError,
};

mock! {
    pub Activity {}

    impl ActivityReads for Activity {
        fn list(
            &mut self,
            company: CompanyScope,
            filter: &ActivityFilter,
            page: &PageRequest<ActivityCursor>,
        ) -> Result<Page<Activity, ActivityCursor>, StoreError>;
        fn of_run(
            &mut self,
            company: CompanyScope,
            run: RunId,
            page: &PageRequest<ActivityCursor>,
        ) -> Result<Page<Activity, ActivityCursor>, StoreError>;
        fn events(
            &mut self,
            company: CompanyScope,
            after: i64,
            limit: usize,
        ) -> Result<Vec<NumberedEvent>, StoreError>;
        fn event_span(&mut self, company: CompanyScope) -> Result<EventSpan, StoreError>;
    }
}
