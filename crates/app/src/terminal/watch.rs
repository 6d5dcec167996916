//! Signals, the clock and the progress line: the only place of the command line that reads a clock.

use super::lines::Lines;
use crate::Exit;
use crate::terminal::show::complain;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use perhop_runs::disk::leftovers::{Leftover, Writer};
use perhop_runs::run::{Progress, Watch};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Once};
use std::time::{Duration, Instant, SystemTime};

/// Signals that end work, and the exit code of each: 128 and its number.
const SIGNALS: [(i32, Exit); 3] = [(SIGINT, Exit::Interrupted), (SIGTERM, Exit::Terminated), (SIGHUP, Exit::HungUp)];

/// Whether one came, and the number of the first.
static CAUGHT: LazyLock<(Arc<AtomicBool>, Arc<AtomicUsize>)> = LazyLock::new(Default::default);

/// Whether Ctrl-C was pressed since the program began, or another signal came that ends work.
pub fn interrupted() -> &'static AtomicBool {
    &CAUGHT.0
}

/// The same, at this moment.
pub fn has_interrupted() -> bool {
    interrupted().load(Ordering::Relaxed)
}

/// What is said where nothing was complete.
pub(crate) const NOTHING: &str = "interrupted: nothing is written";

/// The exit code of work that a signal cut short.
pub fn signalled() -> Exit {
    let number = CAUGHT.1.load(Ordering::SeqCst);
    SIGNALS.into_iter().find(|(signal, _)| *signal as usize == number).map_or(Exit::Interrupted, |(_, exit)| exit)
}

/// The time of day, for manifests.
#[allow(clippy::disallowed_methods)]
pub fn now() -> SystemTime {
    SystemTime::now()
}

/// Takes Ctrl-C over, and the signals by which a terminal or a system ends programs; the second one ends it at once.
/// What `nohup` has the program ignore stays ignored.
pub fn catch_interrupts() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        SIGNALS.into_iter().filter(|(signal, _)| !(*signal == SIGHUP && is_ignored(SIGHUP))).for_each(catch)
    });
}

/// A signal that cannot be taken over ends the program as it would have.
fn catch((signal, exit): (i32, Exit)) {
    let (came, which) = &*CAUGHT;
    let _ = flag::register_conditional_shutdown(signal, exit as i32, came.clone())
        .and_then(|_| flag::register_usize(signal, which.clone(), signal as usize))
        .and_then(|_| flag::register(signal, came.clone()));
}

/// Whether this program was started with a signal ignored; unknown, and so `false`, where there is no `/proc`.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Shows a progress line on a terminal; elsewhere a plain line of long work each half minute.
pub(crate) struct Terminal {
    bar: ProgressBar,
    lines: Option<Lines>,
    began: Instant,
}

impl Terminal {
    #[allow(clippy::disallowed_methods)]
    pub fn new(what: &str) -> Self {
        catch_interrupts();
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len}, {eta} left").expect("a constant");
        bar.set_style(style);
        bar.set_prefix(what.to_owned());
        let began = Instant::now();
        Self { lines: bar.is_hidden().then(|| Lines::new(what, began)), bar, began }
    }

    /// Wall time since it was made.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// The work is complete: removes the line; elsewhere the last one follows if there were any.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
        self.lines.iter().for_each(Lines::complete);
    }
}

impl Watch for Terminal {
    fn progress(&self, progress: Progress) {
        self.bar.set_length(progress.total as u64);
        self.bar.set_position(progress.done as u64);
        self.lines.iter().for_each(|lines| lines.progress(progress));
    }

    fn stop(&self) -> bool {
        has_interrupted()
    }

    fn stays(&self, leftover: &Leftover) {
        self.bar.suspend(|| complain!("{}", stays(leftover)));
    }

    fn clock(&self) -> Duration {
        self.elapsed()
    }
}

/// Why something half-written is not removed, in a line.
pub fn stays(Leftover { path, writer }: &Leftover) -> String {
    let (path, why) = (
        path.display(),
        match writer {
            Writer::Dead => "its writer is dead, and it is protected: remove it",
            _ => {
                "whether its writer lives is not known here: remove it if no perhop of another machine or container writes it"
            }
        },
    );
    format!("note: {path} is half-written and stays; {why}")
}
