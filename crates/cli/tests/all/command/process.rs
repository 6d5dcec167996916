//! perhop in the middle of its work: what `/proc` says of it, and signals. Tests wait for events, however long they take.

use std::process::{Child, Command, Output};
use std::time::Duration;

/// One every 10 ms: five minutes. It is no event, and so a failure.
const LOOKS: usize = 30_000;

/// Waits until it is.
pub fn until(what: &str, mut is: impl FnMut() -> bool) {
    for _ in 0..LOOKS {
        if is() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("waited in vain for {what}");
}

/// Waits until it is; the child runs until then.
pub fn meanwhile(child: &mut Child, what: &str, mut is: impl FnMut() -> bool) {
    until(what, || {
        assert!(child.try_wait().unwrap().is_none(), "it ended before {what}");
        is()
    });
}

/// Waits for its end.
pub fn ended(mut child: Child) -> Output {
    until("its end", || child.try_wait().unwrap().is_some());
    child.wait_with_output().unwrap()
}

/// A program that takes signals as one that a terminal starts. What starts the tests may ignore some, as `nohup` does, and so
/// would all that they start. `env` becomes the program.
pub fn by_a_terminal(program: &str) -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal=HUP,INT,TERM", program]);
    command
}

pub fn signal(child: &Child, which: &str) {
    let sent = Command::new("sh").args(["-c", &format!("kill -{which} {}", child.id())]).status().unwrap();
    assert!(sent.success());
}

/// Waits until it has taken over its signals, has dealt with those that came, and waits for a pipe. The write to a pipe and
/// the signal that wake it have done so when they return.
pub fn waits(child: &mut Child) {
    let id = child.id();
    meanwhile(child, "it waits for a pipe", || {
        let [caught, pending, shared] = ["SigCgt", "SigPnd", "ShdPnd"].map(|key| mask(id, key));
        state(id) == "S" && caught & CAUGHT == CAUGHT && pending | shared == 0
    });
}

/// SIGINT and SIGTERM.
const CAUGHT: u64 = 1 << 1 | 1 << 14;

/// Stops it; what happens then, it finds all at once when it goes on.
pub fn at_once(child: &mut Child, happens: impl FnOnce(&mut Child)) {
    signal(child, "STOP");
    let id = child.id();
    meanwhile(child, "it stops", || state(id) == "T");
    happens(child);
    signal(child, "CONT");
}

fn state(id: u32) -> String {
    field(id, "State").chars().take(1).collect()
}

fn mask(id: u32, key: &str) -> u64 {
    u64::from_str_radix(&field(id, key), 16).unwrap()
}

fn field(id: u32, key: &str) -> String {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let value = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    value.unwrap_or_else(|| panic!("no {key} in {status}")).trim().to_owned()
}
