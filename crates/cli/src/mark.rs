//! `mark` and `meter`: a capture through a policy.

use crate::args::{Mark, Meter, Through};
use crate::{Exit, Failure, complain, say, watch};
use perhop_capture::mark::{self, Behind, MarkError, Marking, Report, RoundTripsOf};
use perhop_capture::{CaptureError, Pump, STANDARD_INPUT};
use perhop_core::params::unit_code;
use perhop_core::units::Span;
use perhop_scenario::{Options, Policy};
use perhop_sim::Plan;
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
    let report = mark::mark(&args.input, &args.output, marking, &pump(&args.through));
    finish(report, &args.through, &args.input)
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
            Marking { seed: args.through.seed, flow_timeout, ..Marking::default() }
        }
    };
    let marking = Marking { round_trips, bursts: args.bursts, ..marking };
    // Ctrl-C ends `tcpdump -w - | perhop meter -`: what came is reported.
    let pump = Pump { ends_there: args.input.as_os_str() == STANDARD_INPUT, ..pump(&args.through) };
    let report = mark::meter(&args.input, marking, &pump);
    finish(report, &args.through, &args.input)
}

/// `--flow-timeout`.
fn flow_timeout(through: &Through) -> Result<Option<Span>, Failure> {
    let Some(text) = &through.flow_timeout else { return Ok(None) };
    let refused = |code: &str, message: &str, help: &str| {
        let place = format!("error[{code}] {message:<48} --flow-timeout\n1 | {text}");
        Failure::Error(format!("{place}\n   help: {help}\n\n1 error, nothing was read"))
    };
    match text.parse::<Span>() {
        Ok(none) if none.ns() == 0 => {
            Err(refused("E201", &format!("`flow-timeout` is {text}"), "above 0; without it no flow expires"))
        }
        Ok(timeout) => Ok(Some(timeout)),
        Err(error) => Err(refused(unit_code(error.fault), &error.message, &error.help)),
    }
}

/// The policy, checked.
fn marking(policy: &Path, options: &Options, through: &Through) -> Result<Marking, Failure> {
    let flow_timeout = flow_timeout(through)?;
    let (policy, warnings) = Policy::load(policy, options)
        .map_err(|errors| Failure::Error(format!("{errors:#}\n{}, nothing was read", errors.summary())))?;
    if !warnings.list.is_empty() {
        complain!("{warnings:#}");
    }
    Ok(Marking {
        stages: policy.stages(),
        overhead: policy.overhead(),
        inside: policy.inside().to_vec(),
        flow_label: policy.encoding(),
        seed: through.seed,
        flow_timeout,
        queue: policy.line().zip(policy.queue()).map(|(plan, name)| {
            let plan = Plan { seed: through.seed, ..plan.clone() };
            Behind { name: name.to_owned(), plan }
        }),
        ..Marking::default()
    })
}

fn pump(through: &Through) -> Pump<'static> {
    watch::catch_interrupts();
    Pump { partial: through.partial, interrupted: Some(watch::interrupted()), ends_there: false }
}

fn finish(report: Result<Report, MarkError>, through: &Through, input: &Path) -> Result<Exit, Failure> {
    let report = report.map_err(|error| failure(&error, input))?;
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

fn failure(error: &MarkError, input: &Path) -> Failure {
    let input = if input.as_os_str() == STANDARD_INPUT { "standard input".into() } else { input.to_string_lossy() };
    if watch::interrupted().load(Ordering::SeqCst) {
        return Failure::Interrupted(format!("interrupted: {input} was not marked, no output was written"));
    }
    if let MarkError::Capture(CaptureError::Write { .. }) = error {
        return Failure::Error(format!("error[E020] {error}\n   help: choose another output, or free some space"));
    }
    Failure::Error(format!("error[E021] {input}: {error}"))
}
