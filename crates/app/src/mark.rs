//! `mark`: a capture through a policy; what `meter` shares with it.

use crate::places::existing;
use crate::places::{in_a_directory, unwritten};
use crate::request::{Mark, Through};
use crate::terminal::show::{complain, say};
use crate::terminal::watch;
use crate::{Exit, Failure, reading};
use perhop_capture::mark::{self, Behind, MarkError, Marking, Report};
use perhop_capture::{CaptureError, Pump, STANDARD_INPUT};
use perhop_core::door::Door;
use perhop_core::params::{Place, Problems, unit_code};
use perhop_core::units::Span;
use perhop_results::captures;
use perhop_scenario::text::source::Sources;
use perhop_scenario::{Diagnostic, Diagnostics, Host, Options, Policy};
use perhop_sim::Plan;
use serde::Serialize;
use std::borrow::Cow;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Who has a capture read: this program, or Python.
#[derive(Clone, Copy)]
pub struct Asker<'a> {
    /// Whether it should end.
    pub interrupted: &'a AtomicBool,
    /// Is told what a policy probably does not mean, before the capture is read.
    pub warn: &'a dyn Fn(&Diagnostics),
}

impl Asker<'static> {
    /// This program: signals are caught from now on.
    pub(crate) fn terminal() -> Self {
        watch::catch_interrupts();
        Self { interrupted: watch::interrupted(), warn: &|warnings| complain!("{warnings:#}") }
    }
}

impl Asker<'_> {
    pub(crate) fn has_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }
}

pub(crate) fn mark(args: &Mark) -> Result<Exit, Failure> {
    let report = marked(args, Asker::terminal())?;
    for warning in report.warnings.iter().filter(|_| !args.through.json) {
        complain!("warning: {warning}");
    }
    say!("{}", if args.through.json { json(&report)? } else { captures::text(&report, args.through.flows) });
    Ok(Exit::Fine)
}

/// Marks; the report.
///
/// # Errors
/// What is wrong with the request, the policy or the capture; it was interrupted.
pub fn marked(args: &Mark, asker: Asker<'_>) -> Result<Report, Failure> {
    if args.output.as_os_str() == STANDARD_INPUT {
        let help = "give the marked capture a name; the report goes to standard output";
        return Err(Failure::error("E020", "`-` as output: `mark` writes a file", help));
    }
    in_a_directory(&args.output)?;
    let options = crate::captures::options(&args.policy.to_string_lossy());
    let marking = marking(&args.policy, &options, &args.through, asker)?;
    if marking.queue.is_some() {
        (asker.warn)(
            &Diagnostic::warning(
                "W323",
                "`queue` in [policy]: `mark` changes neither times nor order, so it has no queue",
                "`perhop meter` says what the queue would have done",
            )
            .into(),
        );
    }
    let marking = Marking { queue: None, ..marking };
    if mark::changes_nothing(&marking) {
        (asker.warn)(
            &Diagnostic::warning(
                "W310",
                "no colour of this policy has an action, and no label is carried: the output will be the input",
                "write green = \"mark AF11\", red = \"drop\" and so on in [conditioner.X]",
            )
            .into(),
        );
    }
    let output = mark::Output { path: &args.output, existing: existing(args.force) };
    let verb = Verb {
        name: "mark",
        not_done: "marked, no output was written",
        input: &args.input,
        asker,
        door: args.through.door,
    };
    verb.read(mark::mark(&args.input, output, marking, &verb.pump(&args.through)))
}

/// As one line.
pub fn json(of: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(of).map_err(|error| Failure::of_call(error.to_string(), ""))
}

/// `--flow-timeout`.
pub(crate) fn flow_timeout(through: &Through) -> Result<Option<Span>, Failure> {
    through.flow_timeout.as_ref().map(|text| timeout(text, through.door, "nothing was read")).transpose()
}

/// The value of `--flow-timeout`; if it is wrong, `therefore` says what that means.
pub(crate) fn timeout(text: &str, door: Door, therefore: &'static str) -> Result<Span, Failure> {
    let refused = |code, message: String, help: String| {
        let (mut sources, mut problems) = (Sources::default(), Problems::default());
        let start = sources.add("⟨flow-timeout⟩", text);
        problems.error(code, Place { start, end: start + text.len() }, message).help(help);
        Failure::Refused { found: Diagnostics::new(problems, &sources).at(door), therefore }
    };
    match text.parse::<Span>() {
        Ok(none) if none.ns() == 0 => {
            let help = "must be above 0; without the option no flow expires";
            Err(refused("E201", format!("`flow-timeout` is {text}"), help.to_owned()))
        }
        Ok(timeout) => Ok(timeout),
        Err(error) => Err(refused(unit_code(error.fault), error.message, error.help)),
    }
}

/// The policy, checked.
pub(crate) fn marking(
    policy: &Path,
    options: &Options,
    through: &Through,
    asker: Asker<'_>,
) -> Result<Marking, Failure> {
    let flow_timeout = flow_timeout(through)?;
    let (policy, warnings) = reading::accepted(Policy::load(policy, options), "nothing was read")?;
    let warnings = warnings.of(Host::Captures);
    if !warnings.list.is_empty() {
        (asker.warn)(&warnings);
    }
    Ok(Marking {
        stages: policy.stages(),
        accounting: policy.accounting(),
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

/// A capture in words.
pub(crate) fn input_name(input: &Path) -> Cow<'_, str> {
    if input.as_os_str() == STANDARD_INPUT { "standard input".into() } else { input.to_string_lossy() }
}

/// What runs.
pub(crate) struct Verb<'a> {
    pub(crate) name: &'static str,
    /// What did not happen to the input if it was interrupted.
    pub(crate) not_done: &'static str,
    pub(crate) input: &'a Path,
    pub(crate) asker: Asker<'a>,
    pub(crate) door: Door,
}

impl<'a> Verb<'a> {
    /// Standard input and what is no file, as a pipe, is read while it is written: Ctrl-C ends it, and what came is reported.
    pub(crate) fn pump(&self, through: &Through) -> Pump<'a> {
        let is_other = || fs::metadata(self.input).is_ok_and(|it| !it.is_file());
        let live = self.input.as_os_str() == STANDARD_INPUT || is_other();
        Pump { partial: through.partial, interrupted: Some(self.asker.interrupted), live }
    }

    /// The report; that a signal ended the input is said.
    pub(crate) fn read(&self, report: Result<Report, MarkError>) -> Result<Report, Failure> {
        let report = report.map_err(|error| self.failure(&error))?;
        if self.asker.has_interrupted() {
            complain!(
                "note: {} was interrupted: the report covers what came from {} until then",
                self.name,
                self.input()
            );
        }
        Ok(report)
    }

    fn input(&self) -> Cow<'_, str> {
        input_name(self.input)
    }

    fn failure(&self, error: &MarkError) -> Failure {
        use CaptureError::{Empty, Exists, Interrupted, Open, Truncated, Write};
        let is_cut =
            matches!(error, MarkError::Algorithm(_) | MarkError::Capture(Interrupted { .. } | Empty | Truncated(_)));
        if is_cut && self.asker.has_interrupted() {
            return Failure::Interrupted(format!(
                "{} was interrupted: {} was not {}",
                self.name,
                self.input(),
                self.not_done
            ));
        }
        let error = match error {
            MarkError::Capture(error) => error,
            MarkError::Algorithm(_) => return Failure::error("E901", format!("{}: {error}", self.input()), ""),
            other => return self.refused(other),
        };
        match error {
            Write { .. } | Exists { .. } => unwritten(error, self.door),
            Open { .. } => Failure::error("E021", error.to_string(), ""),
            _ => self.refused(error),
        }
    }

    fn refused(&self, error: &dyn Error) -> Failure {
        Diagnostic::error("E021", format!("{}: {error}", self.input()), "").at(self.door).into()
    }
}
