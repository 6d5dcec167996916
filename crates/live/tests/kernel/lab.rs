//! Namespaces, and threads in them.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use perhop_edge::Policy;
use perhop_live::{AfPacket, Counts, Forwarder, Order, PacketIo, monotonic_ns, run};

/// The addresses of sender and receiver.
pub const SENDER: &str = "10.9.0.1";
pub const RECEIVER: &str = "10.9.0.2";

/// Why namespaces cannot be had here, if they cannot: then a test is skipped. In CI that is a failure.
pub fn unavailable() -> bool {
    // SAFETY: no arguments.
    let root = unsafe { libc::geteuid() } == 0;
    let works = root && Command::new("ip").args(["netns", "list"]).output().is_ok_and(|it| it.status.success());
    if !works {
        assert!(std::env::var_os("CI").is_none(), "network namespaces need root and iproute2, and CI must not skip");
        // not captured, as print! would be
        writeln!(io::stderr(), "skipped: network namespaces need root and iproute2").expect("stderr is open");
    }
    !works
}

/// Three namespaces, gone when it is dropped.
pub struct Lab {
    name: String,
}

impl Lab {
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("live-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let lab = Self { name };
        let [s, m, r] = ["s", "m", "r"].map(|which| lab.of(which));
        for each in [&s, &m, &r] {
            ip(&format!("netns add {each}"));
        }
        for (namespace, near, address) in [(&s, "va", SENDER), (&r, "vb", RECEIVER)] {
            ip(&format!("-n {m} link add {near} type veth peer name eth0 netns {namespace}"));
            // one segment at a time: frames above the MTU could not be forwarded
            ip(&format!("-n {namespace} link set eth0 gso_max_segs 1"));
            ip(&format!("-n {namespace} address add {address}/24 dev eth0"));
            ip(&format!("-n {namespace} link set eth0 up"));
            ip(&format!("-n {m} link set {near} up"));
        }
        lab
    }

    /// The namespace of sender (`s`), middle (`m`) or receiver (`r`).
    pub fn of(&self, which: &str) -> String {
        format!("{}-{which}", self.name)
    }

    /// In a thread of that namespace.
    pub fn within<T: Send + 'static>(&self, which: &str, work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
        let file = File::open(format!("/run/netns/{}", self.of(which))).unwrap();
        spawn(move || {
            // SAFETY: no pointers; only this thread changes its namespace.
            assert_eq!(
                unsafe { libc::setns(file.as_raw_fd(), libc::CLONE_NEWNET) },
                0,
                "{}",
                io::Error::last_os_error()
            );
            work()
        })
    }

    /// The same, to its end.
    pub fn done<T: Send + 'static>(&self, which: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
        self.within(which, work).join().unwrap()
    }

    /// A forwarder from `va` to `vb`, at work until it is told.
    pub fn forward(&self, policy: Policy) -> Working {
        let (end, begun) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let flags = (end.clone(), begun.clone());
        let thread = self.within("m", move || {
            let sides = ["va", "vb"].map(|name| AfPacket::open(name, 1500).unwrap());
            let mut forwarder = Forwarder::new(policy, sides, monotonic_ns()).unwrap();
            flags.1.store(true, Ordering::Relaxed);
            run(&mut forwarder, &mut |_, _| {
                if flags.0.load(Ordering::Relaxed) { Order::End } else { Order::GoOn }
            });
            forwarder.counts()
        });
        until("the forwarder begins", || begun.load(Ordering::Relaxed));
        Working { end, thread }
    }

    /// An interface of a namespace, for frames by hand.
    pub fn open(&self, which: &str, interface: &'static str) -> AfPacket {
        self.done(which, move || AfPacket::open(interface, 1500).unwrap())
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        for which in ["s", "m", "r"] {
            let _ = Command::new("ip").args(["netns", "delete", &self.of(which)]).status();
        }
    }
}

/// A forwarder at work.
pub struct Working {
    end: Arc<AtomicBool>,
    thread: JoinHandle<[Counts; 2]>,
}

impl Working {
    /// Ends it. Every frame has one fate.
    pub fn counts(self) -> [Counts; 2] {
        self.end.store(true, Ordering::Relaxed);
        let counts = self.thread.join().unwrap();
        assert!(counts.iter().all(Counts::is_closed), "{counts:?}");
        counts
    }
}

/// `ip` with these words.
pub fn ip(words: &str) {
    let done = Command::new("ip").args(words.split(' ')).output().unwrap();
    assert!(done.status.success(), "ip {words}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Waits until it is: five minutes are a failure.
pub fn until(what: &str, mut is: impl FnMut() -> bool) {
    for _ in 0..30_000 {
        if is() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("waited in vain for {what}");
}

/// Sends frames by hand.
pub fn send(io: &mut AfPacket, frames: &[Vec<u8>]) {
    for frame in frames {
        assert_eq!(io.offer(frame), perhop_live::Offer::Taken);
        until("it is sent", || io.flush().waiting == 0);
    }
}

/// Waits for a number of frames that `is` of interest.
pub fn receive(io: &mut AfPacket, frames: usize, is: impl Fn(&[u8]) -> bool) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    until("frames", || {
        io.receive(1000, &mut |frame| {
            if is(frame.bytes) {
                found.push(frame.bytes.to_vec());
            }
        });
        found.len() >= frames
    });
    found
}
