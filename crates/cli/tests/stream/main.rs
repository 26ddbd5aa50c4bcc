//! Daemons with real processes under the real library: node → hub → hub, exact delivery, and what is
//! left after any of them was killed, the network cut, a disk full, a clock set, a reader slow. Each run
//! prints its seed where it has one, how often each fault struck, and the events it checked; it fails when a
//! fault never struck. `NETRA_LONG=1` makes them long, `NETRA_SEED` chooses the seed.

mod connector;
mod exact;
mod fault;
mod file;
mod full;
#[cfg(feature = "store")]
mod kept;
mod killed;
mod live;
mod network;
mod site;
mod slow;
