//! Mocks of `port/secrets.rs`.

use alloc::vec::Vec;

use mockall::mock;

use crate::actor::{CompanyScope, Scope};
use crate::id::{RunId, SecretId};
use crate::page::{Page, PageRequest};
use crate::port::{
    Locked, RunSecret, SecretCursor, SecretReads, SecretUser, SecretWrites, StoreError, VersionInfo,
};
use crate::secret::{Secret, SecretVersion};
use crate::text::SecretName;

mock! {
    pub Secrets {}

    impl SecretReads for Secrets {
        fn find(&mut self, scope: Scope, id: SecretId) -> Result<Option<Secret>, StoreError>;
        fn find_by_name(
            &mut self,
            company: CompanyScope,
            name: &SecretName,
        ) -> Result<Option<SecretId>, StoreError>;
        fn tokens(&mut self, company: CompanyScope) -> Result<Vec<Secret>, StoreError>;
        fn list(
            &mut self,
            company: CompanyScope,
            page: &PageRequest<SecretCursor>,
        ) -> Result<Page<Secret, SecretCursor>, StoreError>;
        fn version(
            &mut self,
            company: CompanyScope,
            secret: SecretId,
            version: i32,
        ) -> Result<Option<SecretVersion>, StoreError>;
        fn versions(
            &mut self,
            company: CompanyScope,
            secret: SecretId,
            page: &PageRequest<i32>,
        ) -> Result<Page<VersionInfo, i32>, StoreError>;
        fn users(
            &mut self,
            company: CompanyScope,
            secret: SecretId,
        ) -> Result<Vec<SecretUser>, StoreError>;
        fn uses(
            &mut self,
            company: CompanyScope,
            secret: SecretId,
            limit: usize,
        ) -> Result<Vec<RunSecret>, StoreError>;
        fn of_run(
            &mut self,
            company: CompanyScope,
            run: RunId,
        ) -> Result<Vec<RunSecret>, StoreError>;
    }

    impl SecretWrites for Secrets {
        fn insert(&mut self, secret: Secret) -> Result<Locked<Secret>, StoreError>;
        fn lock(
            &mut self,
            scope: Scope,
            id: SecretId,
        ) -> Result<Option<Locked<Secret>>, StoreError>;
        fn lock_all(
            &mut self,
            company: CompanyScope,
            ids: &[SecretId],
        ) -> Result<Vec<Locked<Secret>>, StoreError>;
        fn save(&mut self, secret: &Locked<Secret>) -> Result<(), StoreError>;
        fn delete(&mut self, secret: Locked<Secret>) -> Result<(), StoreError>;
        fn insert_version(
            &mut self,
            secret: &Locked<Secret>,
            version: &SecretVersion,
        ) -> Result<(), StoreError>;
        fn delete_version(&mut self, secret: &Locked<Secret>, version: i32)
        -> Result<bool, StoreError>;
        fn record_uses(
            &mut self,
            company: CompanyScope,
            uses: &[RunSecret],
        ) -> Result<(), StoreError>;
    }
}
