use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::{ObjectStore as Client, Result, RetryConfig};

use super::location::Bucket;

/// The smallest part that every such server takes.
pub(super) const PART: usize = 5 * 1024 * 1024;

/// A request that failed is tried again within this time.
const RETRIES: Duration = Duration::from_secs(20);

/// The client of a bucket. What is not told about it comes from the variables `AWS_...` of the
/// environment.
pub(super) fn client(bucket: &Bucket) -> Result<Arc<dyn Client>> {
    // Somebody else may have chosen already, which is as good.
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(&bucket.name);
    if let Some(endpoint) = &bucket.endpoint {
        let is_plain = endpoint.starts_with("http://");
        builder = builder.with_endpoint(endpoint);
        if is_plain {
            builder = builder.with_allow_http(true);
        }
    }
    if let Some(region) = &bucket.region {
        builder = builder.with_region(region);
    }
    if let Some(credentials) = &bucket.credentials {
        builder = builder
            .with_access_key_id(&credentials.access_key)
            .with_secret_access_key(&credentials.secret_key);
    }
    let client = builder
        // One object is deleted at a time, which every such server understands.
        .with_disable_bulk_delete(true)
        .with_retry(RetryConfig {
            max_retries: 4,
            retry_timeout: RETRIES,
            ..RetryConfig::default()
        })
        .build()?;
    Ok(Arc::new(client))
}
