//! The built page: script, style, and the policy that lets exactly these two run.

include!(concat!(env!("OUT_DIR"), "/asset.rs"));
