//! Mocks of `port/idempotency.rs`.

use mockall::mock;

use crate::port::{IdempotencyWrites, StoreError, StoredResponse};
use crate::time::Timestamp;

mock! {
    pub Idempotency {}

    impl IdempotencyWrites for Idempotency {
        fn find(
            &mut self,
            caller: &str,
            key: &str,
            since: Timestamp,
        ) -> Result<Option<StoredResponse>, StoreError>;
        fn keep(&mut self, answer: &StoredResponse) -> Result<(), StoreError>;
        fn delete_before(&mut self, before: Timestamp, limit: usize) -> Result<usize, StoreError>;
    }
}
