//! `--trace`: what passes, as a run in a directory. A policy that is read again begins another run.

use super::policy::Read;
use crate::Failure;
use crate::request::Forward;
use crate::terminal::show::complain;
use crate::terminal::watch;
use perhop_live::{AfPacket, Forwarder, TRAFFIC};
use perhop_runs::disk::Failed;
use perhop_runs::disk::leftovers::Writer;
use perhop_runs::recorded::{self, Between, Recording, Unrecorded};
use perhop_scenario::Diagnostic;

/// A run being recorded.
#[derive(Debug)]
pub(super) struct Trace(Recording);

impl Trace {
    /// Begins one if that was asked for.
    ///
    /// # Errors
    /// The directory cannot be written, or the policy is none that a scenario could have.
    pub(super) fn begin(
        args: &Forward,
        names: [&str; 2],
        policy: &Read,
        forwarder: &mut Forwarder<AfPacket>,
    ) -> Result<Option<Self>, Failure> {
        let Some(out) = &args.seen.trace else { return Ok(None) };
        let file = args.policy.to_string_lossy();
        let (recording, sink) = Recording::begin(out, &between(args, names, policy, &file)).map_err(refused)?;
        forwarder.record(sink);
        Ok(Some(Self(recording)))
    }

    /// Completes it, and says where it is.
    pub(super) fn end(self, forwarder: &mut Forwarder<AfPacket>, now: u64) {
        let Some(outcome) = forwarder.recorded(now) else { return };
        let lost = self.0.lost();
        if lost > 0 {
            complain!("warning: {lost} packets are missing from the rows of the run: the disk was too slow");
        }
        match self.0.complete(&outcome) {
            Ok(dir) => complain!("recorded in {}", dir.display()),
            Err(failed) => complain!("{}", unwritten(&failed)),
        }
    }
}

/// Lines about what is half-written where runs are to be recorded, if that was asked for.
///
/// # Errors
/// None can be recorded there.
pub(super) fn check(args: &Forward, names: [&str; 2], policy: &Read) -> Result<Vec<String>, Failure> {
    let Some(out) = &args.seen.trace else { return Ok(Vec::new()) };
    let file = args.policy.to_string_lossy();
    let left = recorded::check(out, &between(args, names, policy, &file)).map_err(refused)?;
    Ok(left.iter().filter(|leftover| leftover.writer == Writer::Unknown).map(watch::stays).collect())
}

fn between<'a>(args: &Forward, interfaces: [&'a str; 2], policy: &'a Read, file: &'a str) -> Between<'a> {
    let (policy, started) = (policy.policy(), watch::now());
    Between { interfaces, policy, file, traffic: &TRAFFIC, seed: args.seed, started }
}

fn refused(why: Unrecorded) -> Failure {
    match why {
        Unrecorded::Path(failed) => unwritten(&failed).into(),
        Unrecorded::Policy(found) => {
            let what = format!("--trace: no scenario can say what this policy does\n{found}");
            Failure::error("E030", what, "leave --trace out")
        }
    }
}

fn unwritten((path, error): &Failed) -> Diagnostic {
    let help = "it is written without any rights but this user's: name a directory of this user's with room";
    Diagnostic::error("E020", format!("cannot write {}: {error}", path.display()), help)
}
