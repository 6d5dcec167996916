//! `mark` and `meter`: a capture through a policy.

use crate::args::{Cli, Mark, Meter, Through, Verb};
use crate::begin::existing;
use crate::places::{self, unwritten};
use crate::show::{plain, reason};
use crate::{Exit, Failure, check, complain, say, watch};
use clap::Parser;
use perhop_capture::mark::{self, Behind, MarkError, Marking, Report, RoundTripsOf};
use perhop_capture::{CaptureError, Pump, STANDARD_INPUT};
use perhop_core::params::unit_code;
use perhop_core::units::Span;
use perhop_scenario::{Options, Policy};
use perhop_sim::Plan;
use std::borrow::Cow;
use std::cell::RefCell;
use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Who has a capture read: this program, or Python.
struct Asker<'a> {
    /// Whether it should end.
    interrupted: &'a AtomicBool,
    /// Is told of what the policy probably does not mean, before the capture is read.
    warn: &'a dyn Fn(&str),
}

impl Asker<'_> {
    /// This program.
    fn terminal() -> Self {
        watch::catch_interrupts();
        Self { interrupted: watch::interrupted(), warn: &|warning| complain!("{warning}") }
    }

    fn has_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }
}

pub(crate) fn mark(args: &Mark) -> Result<Exit, Failure> {
    let asker = Asker::terminal();
    marked(args, &asker)?.say(&args.through, &asker)
}

pub(crate) fn meter(args: &Meter) -> Result<Exit, Failure> {
    let asker = Asker::terminal();
    metered(args, &asker)?.say(&args.through, &asker)
}

/// The report of `perhop mark` or `perhop meter` with these arguments as JSON; its warnings begin with those of the policy.
/// When `interrupted` becomes true it ends.
///
/// # Errors
/// What is wrong with them or with the capture, in words.
pub fn captured(args: impl IntoIterator<Item = OsString>, interrupted: &AtomicBool) -> Result<String, String> {
    let cli = Cli::try_parse_from(["perhop".into()].into_iter().chain(args)).map_err(|error| reason(&error.to_string()))?;
    let warnings = RefCell::new(Vec::new());
    let asker = Asker { interrupted, warn: &|warning| warnings.borrow_mut().push(plain(warning)) };
    let done = places::check(&cli.verb).and_then(|()| match &cli.verb {
        Verb::Mark(args) => marked(args, &asker),
        Verb::Meter(args) => metered(args, &asker),
        _ => unreachable!("the arguments are those of `mark` or `meter`"),
    });
    let mut report = done.map_err(|failure| failure.plain())?.report;
    report.warnings.splice(0..0, warnings.take());
    serde_json::to_string(&report).map_err(|error| error.to_string())
}

fn marked<'a>(args: &'a Mark, asker: &Asker<'_>) -> Result<Done<'a>, Failure> {
    if args.output.as_os_str() == STANDARD_INPUT {
        let help = "give the marked capture a name; the report goes to standard output";
        return Err(Failure::Error(format!("error[E020] `-` as output: `mark` writes a file\n   help: {help}")));
    }
    let options = Options::new(&args.policy.to_string_lossy());
    let marking = marking(&args.policy, &options, &args.through, asker)?;
    if marking.queue.is_some() {
        (asker.warn)(
            "warning[W323] `queue` in [policy]: `mark` changes neither times nor order, so it has no queue\n   help: \
             `perhop meter` says what the queue would have done",
        );
    }
    let marking = Marking { queue: None, ..marking };
    if mark::changes_nothing(&marking) {
        (asker.warn)(
            "warning[W310] no colour of this policy has an action, and no label is carried: the output will be the input\n   \
             help: write green = \"mark AF11\", red = \"drop\" and so on in [conditioner.X]",
        );
    }
    let output = mark::Output { path: &args.output, existing: existing(args.force) };
    let work = Work { name: "mark", not_done: "marked, no output was written", input: &args.input };
    let report = mark::mark(&args.input, output, marking, &work.pump(&args.through, asker));
    work.done(report, asker)
}

fn metered<'a>(args: &'a Meter, asker: &Asker<'_>) -> Result<Done<'a>, Failure> {
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
            marking(policy, &options, &args.through, asker)?
        }
        None => {
            let flow_timeout = flow_timeout(&args.through)?;
            Marking { seed: args.through.seed, once: args.through.once, flow_timeout, ..Marking::default() }
        }
    };
    let marking = Marking { round_trips, bursts: args.bursts, ..marking };
    let work = Work { name: "meter", not_done: "metered", input: &args.input };
    let report = mark::meter(&args.input, marking, &work.pump(&args.through, asker));
    work.done(report, asker)
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
fn marking(policy: &Path, options: &Options, through: &Through, asker: &Asker<'_>) -> Result<Marking, Failure> {
    let flow_timeout = flow_timeout(through)?;
    let (policy, warnings) = check::accepted(Policy::load(policy, options), "nothing was read")?;
    if !warnings.list.is_empty() {
        (asker.warn)(&format!("{warnings:#}"));
    }
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
#[derive(Clone, Copy)]
struct Work<'a> {
    name: &'static str,
    /// What did not happen to the input if it was interrupted.
    not_done: &'static str,
    input: &'a Path,
}

impl<'a> Work<'a> {
    /// Standard input and what is no file, as a pipe, is read while it is written: Ctrl-C ends it, and what came is reported.
    fn pump<'b>(&self, through: &Through, asker: &Asker<'b>) -> Pump<'b> {
        let is_other = || fs::metadata(self.input).is_ok_and(|it| !it.is_file());
        let live = self.input.as_os_str() == STANDARD_INPUT || is_other();
        Pump { partial: through.partial, interrupted: Some(asker.interrupted), live }
    }

    fn done(self, report: Result<Report, MarkError>, asker: &Asker<'_>) -> Result<Done<'a>, Failure> {
        report.map(|report| Done { work: self, report }).map_err(|error| self.failure(&error, asker))
    }

    fn input(&self) -> Cow<'_, str> {
        if self.input.as_os_str() == STANDARD_INPUT { "standard input".into() } else { self.input.to_string_lossy() }
    }

    fn failure(&self, error: &MarkError, asker: &Asker<'_>) -> Failure {
        use CaptureError::{Empty, Exists, Interrupted, Truncated, Write};
        let MarkError::Capture(error) = error else { return self.refused(error) };
        let is_cut = matches!(error, Interrupted { .. } | Empty | Truncated(_));
        if is_cut && asker.has_interrupted() {
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

/// What came of it.
struct Done<'a> {
    work: Work<'a>,
    report: Report,
}

impl Done<'_> {
    fn say(&self, through: &Through, asker: &Asker<'_>) -> Result<Exit, Failure> {
        let (work, report) = (self.work, &self.report);
        if asker.has_interrupted() {
            complain!("note: {} was interrupted: this is what came from {} until then", work.name, work.input());
        }
        for warning in report.warnings.iter().filter(|_| !through.json) {
            complain!("warning: {warning}");
        }
        if through.json {
            let text = serde_json::to_string(report).map_err(|e| Failure::Error(e.to_string()))?;
            say!("{text}");
        } else {
            say!("{}", report.text(through.flows));
        }
        Ok(Exit::Fine)
    }
}
