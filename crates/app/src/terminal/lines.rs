//! Plain lines about long work, for where no progress line is shown.

use crate::terminal::show::complain;
use perhop_runs::run::Progress;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Time before the first line, and between two; shorter work stays silent.
const EVERY: Duration = Duration::from_secs(30);

/// One line each half minute, and one at the end if there were any. A thread of its own tells them, since one
/// replication may take longer.
pub(super) struct Lines(Arc<Ticker>);

/// What they tell of.
struct Ticker {
    what: String,
    began: Instant,
    /// Writes a line; under the lock, so that none comes after the last.
    write: Box<dyn Fn(&str) + Send + Sync>,
    state: Mutex<State>,
    over: Condvar,
}

struct State {
    progress: Progress,
    lines: usize,
    over: bool,
}

impl Lines {
    pub(super) fn new(what: &str, began: Instant) -> Self {
        Self::every(EVERY, Ticker::new(what, began, Box::new(|line| complain!("{line}"))))
    }

    fn every(period: Duration, told: Ticker) -> Self {
        let told = Arc::new(told);
        let theirs = told.clone();
        thread::spawn(move || theirs.tell(period));
        Self(told)
    }

    /// How far it is; an older message may come late.
    pub(super) fn progress(&self, progress: Progress) {
        let mut state = self.0.lock();
        let done = state.progress.done.max(progress.done);
        state.progress = Progress { done, ..progress };
    }

    /// The work is complete: no line follows this one.
    pub(super) fn complete(&self) {
        let state = self.0.end();
        if state.lines > 0 {
            (self.0.write)(&last(&self.0.what, state.progress.total, self.0.began.elapsed()));
        }
    }
}

/// Work that was cut short says so itself.
impl Drop for Lines {
    fn drop(&mut self) {
        drop(self.0.end());
    }
}

impl Ticker {
    fn new(what: &str, began: Instant, write: Box<dyn Fn(&str) + Send + Sync>) -> Self {
        let state = State { progress: Progress { done: 0, total: 0 }, lines: 0, over: false };
        Self { what: what.to_owned(), began, write, state: Mutex::new(state), over: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        state.over = true;
        self.over.notify_all();
        state
    }

    fn tell(&self, period: Duration) {
        let mut state = self.lock();
        loop {
            let waited = self.over.wait_timeout_while(state, period, |state| !state.over);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if state.over {
                return;
            }
            (self.write)(&line(&self.what, state.progress, self.began.elapsed()));
            state.lines += 1;
        }
    }
}

/// `replications: 3 of 12, 0:01:30, about 0:04:30 left`
fn line(what: &str, Progress { done, total }: Progress, elapsed: Duration) -> String {
    let count = if total > 0 { format!(" {done} of {total},") } else { String::new() };
    let left = |done: usize| elapsed.as_secs_f64() * total.saturating_sub(done) as f64 / done as f64;
    let left = match done {
        0 => String::new(),
        _ => format!(", about {} left", time(Duration::from_secs_f64(left(done)))),
    };
    format!("{what}:{count} {}{left}", time(elapsed))
}

/// `replications: all 12 in 0:06:00`
fn last(what: &str, total: usize, elapsed: Duration) -> String {
    let all = if total > 0 { format!("all {total}") } else { "complete".to_owned() };
    format!("{what}: {all} in {}", time(elapsed))
}

/// Hours, minutes and seconds.
fn time(of: Duration) -> String {
    let seconds = of.as_secs();
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, channel};

    const PATIENCE: Duration = Duration::from_secs(60);

    /// Lines about three replications, and where they come.
    #[allow(clippy::disallowed_methods)]
    fn lines(period: Duration) -> (Lines, Receiver<String>) {
        let (sender, receiver) = channel();
        let write = move |line: &str| drop(sender.send(line.to_owned()));
        let lines = Lines::every(period, Ticker::new("replications", Instant::now(), Box::new(write)));
        lines.progress(Progress { done: 1, total: 3 });
        (lines, receiver)
    }

    #[test]
    fn long_work_tells_lines_and_a_last_one() {
        let (lines, told) = lines(Duration::from_millis(1));
        let first = told.recv_timeout(PATIENCE).unwrap();
        assert!(first.starts_with("replications: "), "{first}");
        lines.progress(Progress { done: 3, total: 3 });
        lines.complete();
        drop(lines);
        let all: Vec<_> = told.iter().collect();
        assert_eq!(all.iter().filter(|line| line.starts_with("replications: all 3 in 0:00:")).count(), 1, "{all:?}");
        assert!(all.last().is_some_and(|line| line.contains("all 3")), "{all:?}");
    }

    #[test]
    fn short_work_is_silent() {
        let (lines, told) = lines(PATIENCE);
        lines.complete();
        drop(lines);
        assert_eq!(told.iter().count(), 0);
    }

    #[test]
    fn work_cut_short_tells_no_last_line() {
        let (lines, told) = lines(Duration::from_millis(1));
        told.recv_timeout(PATIENCE).unwrap();
        drop(lines);
        assert!(told.iter().all(|line| !line.contains("all 3")));
    }

    #[test]
    fn a_late_message_does_not_lead_back() {
        let (lines, _told) = lines(PATIENCE);
        lines.progress(Progress { done: 2, total: 3 });
        lines.progress(Progress { done: 1, total: 3 });
        assert_eq!(lines.0.lock().progress.done, 2);
    }

    #[test]
    fn a_line_has_what_is_known() {
        let at = |done, total| line("replications", Progress { done, total }, Duration::from_secs(90));
        assert_eq!(at(0, 0), "replications: 0:01:30");
        assert_eq!(at(0, 12), "replications: 0 of 12, 0:01:30");
        assert_eq!(at(3, 12), "replications: 3 of 12, 0:01:30, about 0:04:30 left");
        assert_eq!(last("replications", 12, Duration::from_secs(100_000)), "replications: all 12 in 27:46:40");
        assert_eq!(last("decisions", 0, Duration::from_secs(31)), "decisions: complete in 0:00:31");
    }
}
