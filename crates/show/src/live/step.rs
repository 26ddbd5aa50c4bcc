//! What happened in one step of time: calls, bytes and time by layer and way, and how long calls took.

use netra_event::{Kind, Layer};

use super::latency::Latency;
use super::series::Fold;

/// The layers that are shown, innermost first.
pub const LAYERS: [Layer; 5] =
    [Layer::Posix, Layer::Stdio, Layer::Mpiio, Layer::Hdf5, Layer::Pnetcdf];

/// What a call does, as far as a live page tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Moves bytes from a file.
    Read = 0,
    /// Moves bytes into a file.
    Write = 1,
    /// Opens, closes, asks, seeks, changes names.
    Meta = 2,
    /// Waits until data is durable.
    Sync = 3,
}

impl Way {
    /// All of them, in the order of their numbers.
    pub const ALL: [Way; 4] = [Way::Read, Way::Write, Way::Meta, Way::Sync];

    /// Which way a kind of call is; none for what is no I/O.
    #[must_use]
    pub fn of(kind: Kind) -> Option<Way> {
        match kind {
            Kind::Read => Some(Way::Read),
            Kind::Write => Some(Way::Write),
            Kind::Sync => Some(Way::Sync),
            Kind::Open | Kind::Close | Kind::Seek | Kind::Stat | Kind::Meta | Kind::Map => {
                Some(Way::Meta)
            }
            _ => None,
        }
    }

    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Way::Read => "read",
            Way::Write => "write",
            Way::Meta => "metadata",
            Way::Sync => "sync",
        }
    }
}

/// The number of a layer in [`LAYERS`].
#[must_use]
pub(super) fn layer_number(layer: Layer) -> Option<usize> {
    LAYERS.iter().position(|&one| one == layer)
}

/// Whether calls of this layer reach the system themselves. Layers above them call these, so that sums
/// over all layers would count a byte twice.
#[must_use]
pub fn is_lowest(layer: usize) -> bool {
    layer < 2
}

/// Calls of one layer and way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cell {
    /// Calls that ended.
    pub calls: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Nanoseconds in calls.
    pub nanos: u64,
}

impl Cell {
    /// Takes another's part in.
    pub fn fold(&mut self, other: &Cell) {
        self.calls = self.calls.saturating_add(other.calls);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.nanos = self.nanos.saturating_add(other.nanos);
    }
}

/// Calls by layer and way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cells(pub [[Cell; 4]; 5]);

impl Cells {
    /// Those that are not empty: layer, way, cell.
    pub fn used(&self) -> impl Iterator<Item = (usize, usize, &Cell)> {
        let rows = self.0.iter().enumerate();
        let all = rows.flat_map(|(layer, ways)| {
            ways.iter().enumerate().map(move |(way, cell)| (layer, way, cell))
        });
        all.filter(|(_, _, cell)| **cell != Cell::default())
    }

    /// The lowest layers' calls of a way together.
    #[must_use]
    pub fn lowest(&self, way: Way) -> Cell {
        let mut sum = Cell::default();
        for (_, ways) in self.0.iter().enumerate().filter(|(layer, _)| is_lowest(*layer)) {
            sum.fold(&ways[way as usize]);
        }
        sum
    }

    /// Takes another's part in.
    pub fn fold(&mut self, other: &Cells) {
        for (ways, more) in self.0.iter_mut().zip(&other.0) {
            ways.iter_mut().zip(more).for_each(|(cell, more)| cell.fold(more));
        }
    }
}

/// One step of time.
#[derive(Debug, Clone, Default)]
pub struct Step {
    /// By layer and way.
    pub cells: Cells,
    /// How long reads and writes of the lowest layers took.
    pub latency: [Latency; 2],
}

impl Fold for Step {
    fn fold(&mut self, other: &Step) {
        self.cells.fold(&other.cells);
        self.latency.iter_mut().zip(&other.latency).for_each(|(one, more)| one.fold(more));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_lowest_layers_are_summed() {
        let mut cells = Cells::default();
        for (layer, ways) in cells.0.iter_mut().enumerate() {
            ways[Way::Write as usize] = Cell { calls: 1, bytes: 10 << layer, nanos: 5 };
        }
        assert_eq!(cells.lowest(Way::Write), Cell { calls: 2, bytes: 30, nanos: 10 });
        assert_eq!(cells.lowest(Way::Read), Cell::default());
        assert_eq!(cells.used().count(), 5);
    }

    #[test]
    fn kinds_of_calls_have_their_way() {
        assert_eq!(Way::of(Kind::Open), Some(Way::Meta));
        assert_eq!(Way::of(Kind::Process), None);
        assert_eq!(Way::ALL.map(|way| way as usize), [0, 1, 2, 3]);
        assert_eq!(layer_number(Layer::Mpiio), Some(2));
        assert_eq!(layer_number(Layer::Process), None);
    }
}
