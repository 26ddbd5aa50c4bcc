//! A job whose processes still run: a report on it says so, and takes its time as going on.

use netra_analyse::Job;
use netra_event::Seconds;

/// Makes a job, as far as its processes have come, one that is not over: so many of them run, and it is `now` in seconds since
/// 1970. What was written of it ends with the last call, and a share of that would be too much.
pub fn still_running(job: &mut Job, processes: u64, now: Seconds) {
    if processes == 0 {
        return;
    }
    if let Some(start) = job.start {
        job.run_time = Seconds(job.run_time.0.max(now.0 - start.0));
    }
    let (noun, runs) = if processes == 1 { ("process", "runs") } else { ("processes", "run") };
    job.remarks.push(format!("{processes} {noun} still {runs}: this is what was done so far"));
}

#[cfg(test)]
mod tests {
    use super::still_running;
    use netra_analyse::Job;
    use netra_event::Seconds;

    #[test]
    fn time_goes_on_while_a_process_runs_and_the_report_says_so() {
        let ended = Job { start: Some(Seconds(1000.0)), run_time: Seconds(2.0), ..Job::default() };
        let mut job = ended.clone();
        still_running(&mut job, 0, Seconds(1030.0));
        assert_eq!((job.run_time, &job.remarks[..]), (Seconds(2.0), &[][..]));
        still_running(&mut job, 2, Seconds(1030.0));
        assert_eq!(job.run_time, Seconds(30.0));
        assert_eq!(job.remarks, ["2 processes still run: this is what was done so far"]);
        // A clock that was set back does not make it shorter.
        let mut job = ended.clone();
        still_running(&mut job, 1, Seconds(900.0));
        assert_eq!(job.run_time, Seconds(2.0));
    }
}
