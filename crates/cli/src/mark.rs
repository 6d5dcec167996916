//! `mark` and `meter`: a capture through a policy.

use crate::args::{Mark, Meter, Through};
use crate::begin::existing;
use crate::places::unwritten;
use crate::{Exit, Failure, check, complain, say, watch};
use perhop_capture::mark::{self, Behind, MarkError, Marking, Report, RoundTripsOf};
use perhop_capture::{CaptureError, Pump, STANDARD_INPUT};
use perhop_core::params::unit_code;
use perhop_core::units::Span;
use perhop_scenario::{Options, Policy};
use perhop_sim::Plan;
use std::borrow::Cow;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

pub(crate) fn mark(args: &Mark) -> Result<Exit, Failure> {
    if args.output.as_os_str() == STANDARD_INPUT {
        let help = "give the marked capture a name; the report goes to standard output";
        return Err(Failure::Error(format!("error[E020] `-` as output: `mark` writes a file\n   help: {help}")));
    }
    let options = Options::new(&args.policy.to_string_lossy());
    let marking = marking(&args.policy, &options, &args.through)?;
    if marking.queue.is_some() {
        complain!(
            "warning[W323] `queue` in [policy]: `mark` changes neither times nor order, so it has no queue\n   help: \
             `perhop meter` says what the queue would have done"
        );
    }
    let marking = Marking { queue: None, ..marking };
    if mark::changes_nothing(&marking) {
        complain!(
            "warning[W310] no colour of this policy has an action, and no label is carried: the output will be the input\n   \
             help: write green = \"mark AF11\", red = \"drop\" and so on in [conditioner.X]"
        );
    }
    let output = mark::Output { path: &args.output, existing: existing(args.force) };
    let verb = Verb { name: "mark", not_done: "marked, no output was written", input: &args.input };
    let report = mark::mark(&args.input, output, marking, &verb.pump(&args.through));
    verb.finish(report, &args.through)
}

pub(crate) fn meter(args: &Meter) -> Result<Exit, Failure> {
    let round_trips = match (args.rtt, args.samples) {
        (false, _) => RoundTripsOf::Nothing,
        (true, false) => RoundTripsOf::Flows,
        (true, true) => RoundTripsOf::Samples,
    };
    let marking = match &args.policy {
        Some(policy) => {
            let stated = [("queue", &args.queue), ("link", &args.link)];
            let options = Options::new(&policy.to_string_lossy());
            let options = stated.iter().fold(options, |options, (key, value)| match value {
                Some(value) => options.of_policy(key, value),
                None => options,
            });
            marking(policy, &options, &args.through)?
        }
        None => {
            let flow_timeout = flow_timeout(&args.through)?;
            Marking { seed: args.through.seed, once: args.through.once, flow_timeout, ..Marking::default() }
        }
    };
    let marking = Marking { round_trips, bursts: args.bursts, ..marking };
    let verb = Verb { name: "meter", not_done: "metered", input: &args.input };
    let report = mark::meter(&args.input, marking, &verb.pump(&args.through));
    verb.finish(report, &args.through)
}

/// `--flow-timeout`.
fn flow_timeout(through: &Through) -> Result<Option<Span>, Failure> {
    let Some(text) = &through.flow_timeout else { return Ok(None) };
    let refused = |code: &str, message: &str, help: &str| {
        let place = format!("error[{code}] {message:<48} --flow-timeout\n1 | {text}");
        Failure::Error(format!("{place}\n   help: {help}\n\n1 error, nothing was read"))
    };
    match text.parse::<Span>() {
        Ok(none) if none.ns() == 0 => Err(refused(
            "E201",
            &format!("`flow-timeout` is {text}"),
            "must be above 0; without the option no flow expires",
        )),
        Ok(timeout) => Ok(Some(timeout)),
        Err(error) => Err(refused(unit_code(error.fault), &error.message, &error.help)),
    }
}

/// The policy, checked.
fn marking(policy: &Path, options: &Options, through: &Through) -> Result<Marking, Failure> {
    let flow_timeout = flow_timeout(through)?;
    let (policy, warnings) = check::accepted(Policy::load(policy, options), "nothing was read")?;
    check::warn(&warnings);
    Ok(Marking {
        stages: policy.stages(),
        overhead: policy.overhead(),
        inside: policy.inside().to_vec(),
        flow_label: policy.encoding(),
        seed: through.seed,
        once: through.once,
        flow_timeout,
        queue: policy.line().zip(policy.queue()).map(|(plan, name)| {
            let plan = Plan { seed: through.seed, ..plan.clone() };
            Behind { name: name.to_owned(), plan }
        }),
        ..Marking::default()
    })
}

/// What runs.
struct Verb<'a> {
    name: &'static str,
    /// What did not happen to the input if it was interrupted.
    not_done: &'static str,
    input: &'a Path,
}

impl Verb<'_> {
    /// Standard input and what is no file, as a pipe, is read while it is written: Ctrl-C ends it, and what came is reported.
    fn pump(&self, through: &Through) -> Pump<'static> {
        watch::catch_interrupts();
        let is_other = || fs::metadata(self.input).is_ok_and(|it| !it.is_file());
        let live = self.input.as_os_str() == STANDARD_INPUT || is_other();
        Pump { partial: through.partial, interrupted: Some(watch::interrupted()), live }
    }

    fn finish(&self, report: Result<Report, MarkError>, through: &Through) -> Result<Exit, Failure> {
        let report = report.map_err(|error| self.failure(&error))?;
        if watch::interrupted().load(Ordering::SeqCst) {
            complain!(
                "note: {} was interrupted: the report covers what came from {} until then",
                self.name,
                self.input()
            );
        }
        for warning in report.warnings.iter().filter(|_| !through.json) {
            complain!("warning: {warning}");
        }
        if through.json {
            let text = serde_json::to_string(&report).map_err(|e| Failure::Error(e.to_string()))?;
            say!("{text}");
        } else {
            say!("{}", report.text(through.flows));
        }
        Ok(Exit::Fine)
    }

    fn input(&self) -> Cow<'_, str> {
        if self.input.as_os_str() == STANDARD_INPUT { "standard input".into() } else { self.input.to_string_lossy() }
    }

    fn failure(&self, error: &MarkError) -> Failure {
        use CaptureError::{Empty, Exists, Interrupted, Truncated, Write};
        let MarkError::Capture(error) = error else { return self.refused(error) };
        let is_cut = matches!(error, Interrupted { .. } | Empty | Truncated(_));
        if is_cut && watch::interrupted().load(Ordering::SeqCst) {
            return Failure::Interrupted(format!(
                "{} was interrupted: {} was not {}",
                self.name,
                self.input(),
                self.not_done
            ));
        }
        if matches!(error, Write { .. } | Exists { .. }) { unwritten(error) } else { self.refused(error) }
    }

    fn refused(&self, error: &dyn Error) -> Failure {
        Failure::Error(format!("error[E021] {}: {error}", self.input()))
    }
}
