//! Ctrl-C, the clock and the progress line: the only place of the command line that reads a clock.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use perhop_scenario::output::run::{Progress, Watch};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether Ctrl-C was pressed since the program began.
pub(crate) fn interrupted() -> &'static AtomicBool {
    &INTERRUPTED
}

/// The time of day, for manifests.
#[allow(clippy::disallowed_methods)]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}

/// Takes Ctrl-C over, and the signals by which a terminal or a system ends programs; the second one ends it at once.
pub(crate) fn catch_interrupts() {
    // A second call of this function finds a handler in place; that one does the same.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
}

/// Shows a progress line on a terminal, otherwise nothing.
pub(crate) struct Terminal {
    bar: ProgressBar,
    began: Instant,
}

impl Terminal {
    #[allow(clippy::disallowed_methods)]
    pub(crate) fn new(what: &str) -> Self {
        catch_interrupts();
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len}, {eta} left").expect("a constant");
        bar.set_style(style);
        bar.set_prefix(what.to_owned());
        Self { bar, began: Instant::now() }
    }

    /// Wall time since it was made.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Removes the line.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watch for Terminal {
    fn progress(&self, progress: Progress) {
        self.bar.set_length(progress.total as u64);
        self.bar.set_position(progress.done as u64);
    }

    fn stop(&self) -> bool {
        INTERRUPTED.load(Ordering::Relaxed)
    }

    fn clock(&self) -> Duration {
        self.elapsed()
    }
}
