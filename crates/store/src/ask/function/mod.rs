//! Functions beside the standard's, one file each. Percentiles are DataFusion's own: `percentile_cont` (exact) and
//! `approx_percentile_cont`.

mod human_bytes;
mod job;
mod time_bucket;

use datafusion::logical_expr::ScalarUDF;

/// All of them.
pub(super) fn scalar() -> [ScalarUDF; 3] {
    [
        ScalarUDF::from(human_bytes::HumanBytes::new()),
        ScalarUDF::from(job::Job::new()),
        ScalarUDF::from(time_bucket::TimeBucket::new()),
    ]
}
