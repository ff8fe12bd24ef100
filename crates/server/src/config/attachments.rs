use std::path::Path;
use std::time::Duration;

use clap::Args;
use workforce_domain::attachment::AttachmentLimit;
use workforce_infra::objects::Location;

use super::ServeArgs;

/// Flags about attachments.
#[derive(Args, Clone, Debug)]
pub(crate) struct AttachmentArgs {
    /// Accept that the attachments of the database were moved to where this server keeps them.
    #[arg(long)]
    pub(crate) attachments_moved: bool,

    /// The server of the bucket, when it is not Amazon's.
    #[arg(long, env = "WORKFORCE_ATTACHMENTS_ENDPOINT")]
    pub(crate) attachments_endpoint: Option<String>,

    /// The region of the bucket.
    #[arg(long, env = "WORKFORCE_ATTACHMENTS_REGION")]
    pub(crate) attachments_region: Option<String>,

    /// An attachment has at most so many bytes, where its company does not say
    /// otherwise.
    #[arg(long, env = "WORKFORCE_ATTACHMENT_MAX_BYTES", default_value = "26214400",
        value_parser = attachment_limit)]
    pub(crate) attachment_max_bytes: AttachmentLimit,

    /// Every so many seconds bytes that nothing refers to are taken away; 0 for
    /// never.
    #[arg(long, env = "WORKFORCE_ATTACHMENTS_SWEEP_SEC", default_value_t = 3600)]
    pub(crate) attachments_sweep_sec: u64,
}

fn attachment_limit(bytes: &str) -> Result<AttachmentLimit, String> {
    let max = AttachmentLimit::MAX.bytes();
    let limit = bytes.parse().ok().and_then(AttachmentLimit::from_bytes);
    limit.ok_or_else(|| format!("must be a whole number between 1 and {max}"))
}

impl ServeArgs {
    /// Where attachments are kept.
    pub(crate) fn attachments(&self, data_dir: &Path) -> Location {
        let AttachmentArgs {
            attachments_endpoint,
            attachments_region,
            ..
        } = self.attachments.clone();
        let location = self.data.attachments(data_dir);
        location.reached_at(attachments_endpoint, attachments_region)
    }

    /// How often bytes that nothing refers to are taken away, if ever.
    pub(crate) const fn sweep_every(&self) -> Option<Duration> {
        match self.attachments.attachments_sweep_sec {
            0 => None,
            seconds => Some(Duration::from_secs(seconds)),
        }
    }
}
