//! What the node itself is doing, sampled at an interval: the behaviour around the application.
//!
//! A [`Sampler`] is one file here and a row in [`Set::new`]. It reads from a [`Root`], which is `/` on a
//! node and a folder of captured files in tests, and adds metrics to a [`Sample`]. What is not there
//! gives nothing; what reads oddly is passed over. `docs/use/metrics.md` lists every metric.

mod cgroup;
mod cpu;
mod disk;
mod infiniband;
mod lnet;
mod load;
mod lustre;
mod memory;
mod metric;
mod network;
mod nfs;
mod pressure;
mod program;
mod published;
mod root;
mod slingshot;

pub use metric::{LARGEST_SAMPLE, Metric, Sample, Value};
pub use program::Program;
pub use published::{Row, TAG, published};
pub use root::Root;

/// Reads one kind of metrics.
pub trait Sampler: Send {
    /// Adds what there is now.
    fn sample(&mut self, root: &Root, into: &mut Sample);
}

/// All samplers of a node.
pub struct Set {
    root: Root,
    samplers: Vec<Box<dyn Sampler>>,
    cgroup: cgroup::Cgroup,
}

impl std::fmt::Debug for Set {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Set").field("samplers", &self.samplers.len()).finish_non_exhaustive()
    }
}

impl Set {
    /// Every built-in sampler.
    #[must_use]
    pub fn new(root: Root) -> Set {
        let samplers: Vec<Box<dyn Sampler>> = vec![
            Box::new(cpu::Cpu),
            Box::new(load::Load),
            Box::new(memory::Memory),
            Box::new(pressure::Pressure),
            Box::new(disk::Disk),
            Box::new(network::Network),
            Box::new(infiniband::Infiniband),
            Box::new(slingshot::Slingshot),
            Box::new(lnet::Lnet),
            Box::new(nfs::Nfs),
            Box::new(lustre::Lustre),
        ];
        Set { root, samplers, cgroup: cgroup::Cgroup::default() }
    }

    /// Adds another sampler, such as a [`Program`].
    pub fn add(&mut self, sampler: Box<dyn Sampler>) {
        self.samplers.push(sampler);
    }

    /// Whose control groups are sampled: the processes that are recorded now.
    pub fn follow(&mut self, pids: impl IntoIterator<Item = u32>) {
        self.cgroup.follow(&self.root, pids);
    }

    /// Asks every sampler.
    pub fn sample(&mut self) -> Sample {
        let mut sample = Sample::default();
        for sampler in &mut self.samplers {
            sampler.sample(&self.root, &mut sample);
        }
        self.cgroup.sample(&self.root, &mut sample);
        sample
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_sampler_is_asked() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/sample");
        let this = include_str!("mod.rs");
        // Those of control groups and of programs are asked otherwise.
        let others = ["mod.rs", "cgroup.rs", "program.rs"];
        for entry in std::fs::read_dir(folder).expect("this folder") {
            let path = entry.expect("a file").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).expect("a source");
            let Some(behind) = text.split("impl Sampler for ").nth(1) else { continue };
            if others.contains(&name.as_str()) {
                continue;
            }
            let of = behind.split([' ', '<', '{']).next().unwrap_or_default();
            let row = format!("Box::new({}::{of}", name.trim_end_matches(".rs"));
            assert!(
                this.contains(&row),
                "{row}) is missing in Set::new (docs/adding-a-sampler.md)"
            );
        }
    }
}
