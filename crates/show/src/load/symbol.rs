//! From return addresses to functions, files and lines.
//!
//! Addresses are kept by object (path and build id) and offset, so that processes with different
//! address spaces share places. They are looked up at the end, each once, in the file of that
//! path if its build id is the recorded one, or in the separate debug file of that build id.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::{Path, PathBuf};

use addr2line::Loader;
use netra_analyse::{Frame, Place};
use netra_event::segment::View;
use object::{Object as _, ReadCache};

/// Frames of a stack that are looked up.
const FRAMES: usize = 16;

/// The executable or a library, as a segment names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Image {
    path: String,
    build_id: Vec<u8>,
}

/// An object of the process that is being read: where it lay, and which image it is.
struct Loaded {
    base: u64,
    start: u64,
    end: u64,
    image: usize,
}

/// Places of all processes.
#[derive(Default)]
pub(super) struct Places {
    images: Vec<Image>,
    /// Image and address of every frame; no image for an address that nobody knows.
    stacks: Vec<Vec<(Option<usize>, u64)>>,
    known: HashMap<Vec<(Option<usize>, u64)>, u32>,
    /// Of the process that is being read: its objects, its stacks by site, and its executable.
    loaded: Vec<Loaded>,
    sites: Vec<Option<u32>>,
    executables: Vec<String>,
}

/// A frame of a stored stack: path and build id of its object, where that is known, and the address in it.
#[cfg(any(feature = "store", test))]
pub(super) type StoredFrame = (Option<(String, Vec<u8>)>, u64);

impl Places {
    /// Begins with the sites of a process.
    pub(super) fn enter(&mut self, view: &View<'_>) {
        self.loaded.clear();
        for object in view.objects() {
            let path = String::from_utf8_lossy(object.name).into_owned();
            let image = self.image(Image { path, build_id: object.build_id.to_vec() });
            let (base, start, end) = (object.base, object.start, object.end);
            self.loaded.push(Loaded { base, start, end, image });
        }
        let executable = String::from_utf8_lossy(view.exe()).into_owned();
        if !self.executables.contains(&executable) {
            self.executables.push(executable);
        }
        self.sites = vec![None];
        for index in 1..=u16::MAX {
            let Some(site) = view.site(index) else { break };
            let mut stack: Vec<u64> = site.stack().take(FRAMES).collect();
            if stack.is_empty() {
                stack.push(site.address);
            }
            let stack: Vec<(Option<usize>, u64)> =
                stack.into_iter().map(|address| self.frame(address)).collect();
            let number = self.number(stack);
            self.sites.push(Some(number));
        }
    }

    /// The place of a stack whose objects are known by path and build id, innermost frame first.
    #[cfg(any(feature = "store", test))]
    pub(super) fn place(&mut self, frames: Vec<StoredFrame>) -> u32 {
        let frames = frames.into_iter().map(|(object, address)| {
            let object = object.map(|(path, build_id)| self.image(Image { path, build_id }));
            (object, address)
        });
        let stack = frames.collect();
        self.number(stack)
    }

    /// Whose own frames are the application's.
    #[cfg(feature = "store")]
    pub(super) fn executable(&mut self, path: &str) {
        if !self.executables.iter().any(|known| known == path) {
            self.executables.push(path.to_owned());
        }
    }

    fn number(&mut self, stack: Vec<(Option<usize>, u64)>) -> u32 {
        let next = self.stacks.len() as u32;
        let number = *self.known.entry(stack.clone()).or_insert(next);
        if number == next {
            self.stacks.push(stack);
        }
        number
    }

    fn image(&mut self, image: Image) -> usize {
        match self.images.iter().position(|known| *known == image) {
            Some(at) => at,
            None => {
                self.images.push(image);
                self.images.len() - 1
            }
        }
    }

    fn frame(&self, address: u64) -> (Option<usize>, u64) {
        let within = |object: &&Loaded| (object.start..object.end).contains(&address);
        match self.loaded.iter().find(within) {
            Some(object) => (Some(object.image), address.wrapping_sub(object.base)),
            None => (None, address),
        }
    }

    /// The place of a site of the process that is being read.
    pub(super) fn of(&self, site: u16) -> Option<u32> {
        self.sites.get(usize::from(site)).copied().flatten()
    }

    /// Looks everything up.
    pub(super) fn resolve(self) -> Vec<Place> {
        let mut books: BTreeMap<usize, Option<Loader>> = BTreeMap::new();
        let mut seen: BTreeMap<(Option<usize>, u64), Frame> = BTreeMap::new();
        let mut places = Vec::with_capacity(self.stacks.len());
        for stack in &self.stacks {
            let frames = stack.iter().map(|&key| {
                seen.entry(key).or_insert_with(|| self.look_up(key, &mut books)).clone()
            });
            places.push(Place { frames: frames.collect() });
        }
        places
    }

    fn look_up(
        &self,
        (image, address): (Option<usize>, u64),
        books: &mut BTreeMap<usize, Option<Loader>>,
    ) -> Frame {
        let Some((number, image)) = image.and_then(|at| Some((at, self.images.get(at)?))) else {
            return Frame { object: "?".into(), address, ..Frame::default() };
        };
        let own = self.executables.contains(&image.path) || !is_system(&image.path);
        let mut frame = Frame { object: image.path.clone(), address, own, ..Frame::default() };
        let book = books.entry(number).or_insert_with(|| open(image));
        if let Some(book) = book {
            // The call is before the address to which it returns.
            describe(&mut frame, book, address.wrapping_sub(1));
        }
        frame
    }
}

/// Whether a path is the system's, or a library that applications call for I/O.
fn is_system(path: &str) -> bool {
    const FOLDERS: [&str; 3] = ["/lib", "/usr/lib", "/usr/libexec"];
    const NAMES: [&str; 8] =
        ["libmpi", "libmpich", "libhdf5", "libnetcdf", "libpnetcdf", "libnetra", "libc.", "ld-"];
    let name = path.rsplit('/').next().unwrap_or(path);
    FOLDERS.iter().any(|folder| path.starts_with(folder))
        || NAMES.iter().any(|start| name.starts_with(start))
        || path.starts_with('[')
}

/// Symbols and lines of an image: from its own file, or from the debug file of its build id.
fn open(image: &Image) -> Option<Loader> {
    let apart = debug_file(&image.build_id).filter(|path| path.exists());
    let own = PathBuf::from(&image.path);
    let own = (own.is_absolute() && is_the_same(&own, &image.build_id)).then_some(own);
    apart.into_iter().chain(own).find_map(|path| Loader::new(path).ok())
}

/// Where distributions put the debug data of a build.
fn debug_file(build_id: &[u8]) -> Option<PathBuf> {
    let (first, rest) = build_id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(PathBuf::from(format!("/usr/lib/debug/.build-id/{first:02x}/{rest}.debug")))
}

/// Whether a file is the build that was recorded. Without a build id nobody can tell; then its lines
/// would be a guess, and only a file that has none either is believed.
fn is_the_same(path: &Path, build_id: &[u8]) -> bool {
    let Ok(file) = File::open(path) else { return false };
    // A pipe or a device of that name would hold us.
    if !file.metadata().is_ok_and(|about| about.is_file()) {
        return false;
    }
    let cache = ReadCache::new(file);
    let Ok(object) = object::File::parse(&cache) else { return false };
    let found = object.build_id().ok().flatten().unwrap_or(&[]);
    found.get(..found.len().min(20)) == Some(build_id)
}

fn describe(frame: &mut Frame, book: &Loader, address: u64) {
    if let Ok(mut frames) = book.find_frames(address)
        && let Ok(Some(found)) = frames.next()
    {
        frame.function = found.function.and_then(|name| Some(name.demangle().ok()?.into_owned()));
        if let Some(place) = found.location {
            frame.file = place.file.map(str::to_owned);
            frame.line = place.line;
        }
    }
    if frame.function.is_none() {
        let name = book.find_symbol(address);
        frame.function = name.map(|name| addr2line::demangle_auto(name.into(), None).into_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::{Image, debug_file, describe, is_system, is_the_same, open};
    use netra_analyse::Frame;
    use object::{Object as _, ObjectSymbol as _};
    use std::path::PathBuf;

    #[test]
    fn debug_files_lie_by_their_build_id() {
        assert_eq!(
            debug_file(&[0xab, 0x01, 0xff]),
            Some(PathBuf::from("/usr/lib/debug/.build-id/ab/01ff.debug"))
        );
        assert_eq!(debug_file(&[]), None);
    }

    #[test]
    fn libraries_of_the_system_are_not_the_application() {
        assert!(is_system("/usr/lib/x86_64-linux-gnu/libmpi.so.40"));
        assert!(is_system("/home/me/hdf5/lib/libhdf5.so.310"));
        assert!(is_system("[vdso]"));
        assert!(!is_system("/home/me/build/libsolver.so"));
        assert!(!is_system("/home/me/build/wave"));
    }

    /// This test program knows its own symbols and lines.
    #[test]
    fn an_address_becomes_function_file_and_line() {
        let path = std::env::current_exe().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let wanted = "an_address_becomes_function_file_and_line";
        let symbol =
            file.symbols().find(|symbol| symbol.name().is_ok_and(|name| name.contains(wanted)));
        let address = symbol.unwrap().address();
        let build_id = file.build_id().unwrap().unwrap_or(&[]).to_vec();
        assert!(is_the_same(&path, &build_id));
        assert!(!is_the_same(&path, b"another build"));
        let image = Image { path: path.to_str().unwrap().into(), build_id };
        let mut frame = Frame::default();
        describe(&mut frame, &open(&image).unwrap(), address);
        assert!(frame.function.unwrap().contains(wanted));
        assert!(frame.file.unwrap().ends_with("symbol.rs"));
        assert!(frame.line.is_some_and(|line| line > 0));
        let stranger = Image { build_id: b"another build".to_vec(), ..image };
        assert!(open(&stranger).is_none());
    }
}
