//! Where a store lies: a directory, or a bucket that a URL names. How a bucket is reached (keys, endpoint, region) stands in the
//! environment, under the names that its vendor's own tools use.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use deltalake::ObjectStore;
use deltalake::logstore::object_store::parse_url_opts;
use deltalake::logstore::object_store::prefix::PrefixStore;
use deltalake::logstore::{LogStoreRef, StorageConfig, default_logstore, logstore_with};
use url::Url;

use crate::folder::{Folder, Watch};
use crate::{Error, Result};

/// Beginnings of URLs that name buckets: S3 and what speaks its protocol, Google's, Azure's. Each can make a file only if there is none,
/// which is what commits stand on.
const BUCKETS: [&str; 6] = ["s3", "s3a", "gs", "az", "abfs", "abfss"];

/// How names of variables begin that say how they are reached.
const VENDORS: [&str; 3] = ["aws_", "google_", "azure_"];

/// Where a store lies.
#[derive(Debug, Clone)]
pub struct Place {
    url: Url,
    directory: Option<PathBuf>,
    root: Arc<dyn ObjectStore>,
    prefix: deltalake::Path,
}

impl Place {
    /// A directory; it need not exist yet.
    ///
    /// # Errors
    /// Its path can not be made absolute.
    pub fn directory(path: &Path) -> Result<Place> {
        Place::watched(path, None)
    }

    /// A directory whose changes somebody watches, to fail or to end there.
    ///
    /// # Errors
    /// As for [`Place::directory`].
    pub fn watched(path: &Path, watch: Option<Arc<dyn Watch>>) -> Result<Place> {
        let path = std::path::absolute(path).map_err(Error::io("looking for", path))?;
        let wrong =
            |why: &str| Error::Place { text: path.display().to_string(), why: why.to_owned() };
        let url = Url::from_directory_path(&path).map_err(|()| wrong("no path of a directory"))?;
        let prefix = deltalake::Path::from_absolute_path(&path)
            .map_err(|error| wrong(&error.to_string()))?;
        let root: Arc<dyn ObjectStore> = Arc::new(Folder::new(watch));
        Ok(Place { url, directory: Some(path), root, prefix })
    }

    /// What a person wrote: a path, or a URL.
    ///
    /// # Errors
    /// It is neither, or this netra knows no such storage.
    pub fn parse(text: &str) -> Result<Place> {
        if !text.contains("://") {
            return Place::directory(Path::new(text));
        }
        let wrong = |why: String| Error::Place { text: text.to_owned(), why };
        let mut url = Url::parse(text).map_err(|error| wrong(error.to_string()))?;
        if url.scheme() == "file" {
            let path =
                url.to_file_path().map_err(|()| wrong("no path of a directory".to_owned()))?;
            return Place::directory(&path);
        }
        if !BUCKETS.contains(&url.scheme()) {
            let known = BUCKETS.map(|scheme| format!("{scheme}://")).join(", ");
            return Err(wrong(format!("it can be a directory, or a URL with file://, {known}")));
        }
        if !url.path().ends_with('/') {
            url.set_path(&format!("{}/", url.path()));
        }
        let (root, prefix) =
            parse_url_opts(&url, settings()).map_err(|error| wrong(told(&error)))?;
        Ok(Place { root: root.into(), directory: None, prefix, url })
    }

    /// `NETRA_STORE`, or the user's own store: `$XDG_DATA_HOME/netra/store`.
    ///
    /// # Errors
    /// What the variable says is no place, or nobody knows where the user's files are.
    pub fn usual() -> Result<Place> {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        if let Some(text) = set("NETRA_STORE") {
            return Place::parse(&text);
        }
        let home = || set("HOME").map(|home| Path::new(&home).join(".local/share"));
        let data = set("XDG_DATA_HOME").map(PathBuf::from).or_else(home);
        let why = || "neither NETRA_STORE nor XDG_DATA_HOME nor HOME is set".to_owned();
        let data =
            data.ok_or_else(|| Error::Place { text: "the user's store".to_owned(), why: why() })?;
        Place::directory(&data.join("netra/store"))
    }

    /// The directory, if it is one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// What holds the bytes; paths begin at its root.
    #[must_use]
    pub fn storage(&self) -> &Arc<dyn ObjectStore> {
        &self.root
    }

    /// Where a table lies in the storage.
    #[must_use]
    pub fn table(&self, name: &str) -> deltalake::Path {
        self.prefix.clone().join(name)
    }

    /// A name for the storage that nobody else uses.
    pub(crate) fn storage_url(&self) -> Url {
        let mut url = Url::parse("netra-store://store").unwrap_or_else(|_| self.url.clone());
        let host = self.url.host_str().filter(|host| !host.is_empty()).unwrap_or("local");
        // A host that can not be in such a URL stays what it was.
        url.set_host(Some(host)).ok();
        url
    }

    pub(crate) fn log_store(&self, name: &'static str) -> Result<LogStoreRef> {
        let wrong = |why: String| Error::Place { text: self.to_string(), why };
        let url = self.url.join(&format!("{name}/")).map_err(|error| wrong(error.to_string()))?;
        if self.directory.is_some() {
            let store = logstore_with(Arc::clone(&self.root), &url, StorageConfig::default());
            return store.map_err(Error::of(name));
        }
        let table = Arc::new(PrefixStore::new(Arc::clone(&self.root), self.table(name)));
        Ok(default_logstore(table, Arc::clone(&self.root), &url, &StorageConfig::default()))
    }
}

/// What the environment says of buckets, under their vendors' names: `TOKEN` or `REGION` alone may be anybody's.
fn settings() -> impl Iterator<Item = (String, String)> {
    let of_bucket = |name: &str| VENDORS.iter().any(|vendor| name.starts_with(vendor));
    let text = move |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        let name = name.into_string().ok()?.to_ascii_lowercase();
        of_bucket(&name).then_some((name, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text)
}

/// An error with its reasons, in one line.
fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(reason) = cause {
        let reason_text = reason.to_string();
        if !text.contains(&reason_text) {
            text = format!("{text}: {reason_text}");
        }
        cause = reason.source();
    }
    text
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.directory {
            Some(path) => path.display().fmt(f),
            None => self.url.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_paths_or_urls() {
        let place = Place::parse("/data/netra/store").unwrap();
        assert_eq!(place.to_string(), "/data/netra/store");
        assert_eq!(place.table("events").as_ref(), "data/netra/store/events");
        let same = Place::parse("file:///data/netra/store").unwrap();
        assert_eq!(same.path(), place.path());
        let refused = Place::parse("gopher://x/y").unwrap_err().to_string();
        assert_eq!(
            refused,
            "gopher://x/y is no place of a store: it can be a directory, or a URL with file://, \
             s3://, s3a://, gs://, az://, abfs://, abfss://"
        );
        for text in ["memory:///x", "https://example.org/x", "hdfs://host/x"] {
            let refused = Place::parse(text).unwrap_err().to_string();
            assert!(refused.contains("it can be a directory"), "{refused}");
        }
        let bucket = Place::parse("s3://bucket/of/mine").unwrap();
        assert_eq!((bucket.path(), bucket.to_string()), (None, "s3://bucket/of/mine/".to_owned()));
        assert_eq!(bucket.table("events").as_ref(), "of/mine/events");
    }
}
