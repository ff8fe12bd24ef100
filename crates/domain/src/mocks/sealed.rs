//! Mocks of `port/sealed.rs`.

use alloc::vec::Vec;

use mockall::mock;

use crate::port::{KeyId, SealedCell, SealedColumn, SealedReads, SealedWrites, StoreError};

mock! {
    pub Sealed {}

    impl SealedReads for Sealed {
        fn count_under(&mut self, column: SealedColumn, keys: &[KeyId]) -> Result<i64, StoreError>;
        fn canary(&mut self) -> Result<Option<Vec<u8>>, StoreError>;
    }

    impl SealedWrites for Sealed {
        fn sealed_under(
            &mut self,
            column: SealedColumn,
            keys: &[KeyId],
            limit: usize,
        ) -> Result<Vec<SealedCell>, StoreError>;
        fn replace(
            &mut self,
            cell: &SealedCell,
            key: KeyId,
            sealed: &[u8],
        ) -> Result<(), StoreError>;
        fn insert_canary(&mut self, sealed: &[u8]) -> Result<(), StoreError>;
    }
}
