//! `--trace`: what passes, as a run in a directory. A policy that is read again begins another run.

use super::policy::Read;
use crate::args::Forward;
use crate::{Failure, complain, watch};
use perhop_live::{AfPacket, Forwarder, TRAFFIC};
use perhop_runs::disk::Failed;
use perhop_runs::recorded::{Between, Recording, Unrecorded};

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
        let between = Between {
            interfaces: names,
            policy: policy.policy(),
            file: &args.policy.to_string_lossy(),
            traffic: &TRAFFIC,
            seed: args.seed,
            started: watch::now(),
        };
        let (recording, sink) = Recording::begin(out, &between).map_err(refused)?;
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

fn refused(why: Unrecorded) -> Failure {
    Failure::Error(match why {
        Unrecorded::Path(failed) => unwritten(&failed),
        Unrecorded::Policy(found) => {
            format!(
                "error[E030] --trace: no scenario can say what this policy does\n{found}\n   help: leave --trace out"
            )
        }
    })
}

fn unwritten((path, error): &Failed) -> String {
    let help = "it is written without any rights but this user's: name a directory of this user's with room";
    format!("error[E020] cannot write {}: {error}\n   help: {help}", path.display())
}
