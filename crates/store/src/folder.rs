//! Directories as storage. What is written is on disk before anybody is told so, and gets its name when it is whole:
//! the ready-made storage leaves that to the system, which may forget it when the power fails.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::{Path as Local, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use deltalake::logstore::object_store::local::LocalFileSystem;
use deltalake::logstore::object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, PutMode,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result,
};
use deltalake::{ObjectMeta, ObjectStore, Path};
use futures::StreamExt as _;
use futures::stream::BoxStream;

/// A step of changing what lies in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Before anything is written.
    Begin,
    /// Half of the bytes are written.
    Half,
    /// All are written, and have no name yet.
    Whole,
    /// The file has its name.
    Named,
    /// Before a file is removed.
    Remove,
}

/// Somebody who watches every step: tests, which fail or end the process there.
pub trait Watch: fmt::Debug + Send + Sync {
    /// A step is about to be taken, or was.
    ///
    /// # Errors
    /// It is to fail.
    fn step(&self, step: Step, path: &str) -> io::Result<()>;
}

/// A directory as storage.
#[derive(Debug)]
pub(crate) struct Folder {
    inner: LocalFileSystem,
    watch: Option<Arc<dyn Watch>>,
}

/// Numbers files that have no name yet.
static UNNAMED: AtomicU64 = AtomicU64::new(0);

impl Folder {
    pub(crate) fn new(watch: Option<Arc<dyn Watch>>) -> Folder {
        Folder { inner: LocalFileSystem::new(), watch }
    }
}

impl fmt::Display for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Folder({})", self.inner)
    }
}

fn failed(path: &Local) -> impl FnOnce(io::Error) -> Error {
    let path = path.display().to_string();
    move |source| match source.kind() {
        io::ErrorKind::AlreadyExists => Error::AlreadyExists { path, source: source.into() },
        io::ErrorKind::NotFound => Error::NotFound { path, source: source.into() },
        _ => Error::Generic { store: "directory", source: format!("{path}: {source}").into() },
    }
}

/// Makes a directory, and its name durable.
fn make(folder: &Local) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(above) = folder.parent() {
        make(above)?;
        match fs::create_dir(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => File::open(above)?.sync_all()?,
        }
    }
    Ok(())
}

/// Writes a file: whole, durable, and only then under its name.
fn write(
    path: &Local,
    payload: &PutPayload,
    fresh: bool,
    watch: &dyn Fn(Step) -> io::Result<()>,
) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Local::new("/"));
    make(folder)?;
    watch(Step::Begin)?;
    let number = UNNAMED.fetch_add(1, Ordering::Relaxed);
    // Listings leave out names with such an end.
    let unnamed = PathBuf::from(format!("{}#{}{number}", path.display(), std::process::id()));
    let written = fill(&unnamed, payload, watch).and_then(|()| match fresh {
        true => fs::hard_link(&unnamed, path),
        false => fs::rename(&unnamed, path),
    });
    if fresh || written.is_err() {
        fs::remove_file(&unnamed).ok();
    }
    written?;
    File::open(folder)?.sync_all()?;
    watch(Step::Named)
}

fn fill(
    path: &Local,
    payload: &PutPayload,
    watch: &dyn Fn(Step) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    let half = payload.content_length() / 2;
    let mut written = 0;
    for bytes in payload.iter() {
        let before = half.saturating_sub(written).min(bytes.len());
        file.write_all(&bytes[..before])?;
        if (written..=written + bytes.len()).contains(&half) {
            watch(Step::Half)?;
        }
        file.write_all(&bytes[before..])?;
        written += bytes.len();
    }
    file.sync_all()?;
    watch(Step::Whole)
}

#[async_trait]
impl ObjectStore for Folder {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let fresh = match options.mode {
            PutMode::Create => true,
            PutMode::Overwrite => false,
            PutMode::Update(_) => return self.inner.put_opts(location, payload, options).await,
        };
        let path = self.inner.path_to_filesystem(location)?;
        let (watch, name) = (self.watch.clone(), location.to_string());
        let write = move || {
            let step = |step| watch.as_ref().map_or(Ok(()), |watch| watch.step(step, &name));
            write(&path, &payload, fresh, &step).map_err(failed(&path))
        };
        let ended = tokio::task::spawn_blocking(write).await;
        ended.map_err(|source| Error::JoinError { source })??;
        Ok(PutResult { e_tag: None, version: None })
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.inner.get_opts(location, options).await
    }

    async fn get_ranges(
        &self,
        location: &Path,
        ranges: &[Range<u64>],
    ) -> Result<Vec<bytes::Bytes>> {
        self.inner.get_ranges(location, ranges).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let watch = self.watch.clone();
        let watched = locations.map(move |location| {
            let location = location?;
            if let Some(watch) = &watch {
                let path = PathBuf::from(location.to_string());
                watch.step(Step::Remove, location.as_ref()).map_err(failed(&path))?;
            }
            Ok(location)
        });
        self.inner.delete_stream(watched.boxed())
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.inner.rename_opts(from, to, options).await
    }
}
