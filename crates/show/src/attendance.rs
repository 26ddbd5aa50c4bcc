//! Who there was in a job and who of them is not recorded, as all documents say it.

use std::io::{Result, Write};

use netra_analyse::{Absent, Attendance};
use netra_darshan::section;

use crate::{Json, member};

/// For programs.
///
/// # Errors
/// If the output can not be written.
pub(crate) fn json(json: &mut Json<'_, impl Write>, attendance: &Attendance) -> Result<()> {
    json.open('{')?;
    member::number(json, "started", attendance.started)?;
    member::number(json, "recorded", attendance.recorded)?;
    member::truth(json, "complete", attendance.complete)?;
    member::list(json, "not_recorded", &attendance.absent, |json, absent| {
        json.open('{')?;
        member::text(json, "why", absent.why.slug())?;
        member::number(json, "count", absent.count)?;
        member::text(json, "host", &absent.host)?;
        member::text(json, "program", &absent.program)?;
        json.close('}')
    })?;
    json.close('}')
}

/// What a log's section says, for whoever knows no log.
pub(crate) fn of(found: &section::Attendance) -> Attendance {
    let hosts = found.hosts.iter();
    let absent = hosts.flat_map(|(name, host)| {
        host.absent.iter().map(|(&why, absent)| Absent {
            why,
            count: absent.count,
            host: name.clone(),
            program: absent.program.clone(),
        })
    });
    Attendance {
        started: found.started(),
        recorded: found.recorded(),
        complete: found.is_complete(),
        absent: absent.collect(),
        caveats: found.caveats(),
    }
}
