use std::sync::Arc;

use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore as Client, ObjectStoreExt};
use tokio::runtime::Handle;
use workforce_domain::port::{ObjectError, ObjectWriter};

use super::failed;

/// An object on its way: gathered up to one part, and sent in parts from then on.
pub(super) struct Writer {
    client: Arc<dyn Client>,
    runtime: Handle,
    path: Path,
    part: usize,
    gathered: Vec<u8>,
    upload: Option<Box<dyn MultipartUpload>>,
}

impl Writer {
    pub(super) const fn new(
        client: Arc<dyn Client>,
        runtime: Handle,
        path: Path,
        part: usize,
    ) -> Self {
        Self {
            client,
            runtime,
            path,
            part,
            gathered: Vec::new(),
            upload: None,
        }
    }

    /// Sends what is gathered as the next part.
    fn send(&mut self) -> Result<(), ObjectError> {
        let mut upload = match self.upload.take() {
            Some(upload) => upload,
            None => self
                .runtime
                .block_on(self.client.put_multipart(&self.path))
                .map_err(failed)?,
        };
        let part = core::mem::take(&mut self.gathered);
        let sent = upload.put_part(part.into());
        // Kept, so that it is aborted when the part cannot be sent.
        self.upload = Some(upload);
        self.runtime.block_on(sent).map_err(failed)
    }
}

impl ObjectWriter for Writer {
    fn write(&mut self, mut bytes: &[u8]) -> Result<(), ObjectError> {
        // A part goes out when more follows: all but the last have the same size.
        while !bytes.is_empty() {
            if self.gathered.len() >= self.part {
                self.send()?;
            }
            let room = self.part - self.gathered.len();
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.gathered.extend_from_slice(now);
            bytes = later;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), ObjectError> {
        if self.upload.is_none() {
            let whole = core::mem::take(&mut self.gathered);
            let put = self.client.put(&self.path, whole.into());
            self.runtime.block_on(put).map_err(failed)?;
            return Ok(());
        }
        if !self.gathered.is_empty() {
            self.send()?;
        }
        if let Some(upload) = &mut self.upload {
            self.runtime.block_on(upload.complete()).map_err(failed)?;
        }
        // Complete, so there is nothing to abort.
        self.upload = None;
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Whoever drops a writer may not be allowed to wait.
        if let Some(mut upload) = self.upload.take() {
            let path = self.path.clone();
            self.runtime.spawn(async move {
                if let Err(error) = upload.abort().await {
                    tracing::warn!(%error, %path, "an upload that was given up left parts behind");
                }
            });
        }
    }
}
