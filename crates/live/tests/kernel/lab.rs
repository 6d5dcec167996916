//! Namespaces, and threads in them.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use perhop_core::count::Count;
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
        for which in ["s", "m", "r"] {
            ip(&format!("netns add {}", lab.of(which)));
            // only the tests send anything
            lab.done(which, || std::fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1").unwrap());
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
        let received: Arc<[AtomicU64; 2]> = Arc::default();
        let (flags, shown) = ((end.clone(), begun.clone()), received.clone());
        let thread = self.within("m", move || {
            let sides = ["va", "vb"].map(|name| AfPacket::open(name, 1500).unwrap());
            let mut forwarder = Forwarder::new(policy, sides, monotonic_ns()).unwrap();
            flags.1.store(true, Ordering::Relaxed);
            run(&mut forwarder, &mut |forwarder, _| {
                let now = forwarder.counts();
                shown.iter().zip(now).for_each(|(shown, now)| shown.store(now.received, Ordering::Relaxed));
                if flags.0.load(Ordering::Relaxed) { Order::End } else { Order::GoOn }
            });
            (forwarder.counts(), forwarder.colours())
        });
        until("the forwarder begins", || begun.load(Ordering::Relaxed));
        Working { end, received, thread }
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
    /// Frames that were read, by direction.
    received: Arc<[AtomicU64; 2]>,
    thread: JoinHandle<Ended>,
}

/// Counts of a forwarder, and its colours.
type Ended = ([Counts; 2], [Count; 5]);

impl Working {
    /// Waits until it has read so many frames in direction `way`.
    pub fn until_received(&self, way: usize, frames: u64) {
        until("frames are read", || self.received[way].load(Ordering::Relaxed) >= frames);
    }

    /// Ends it. Every frame has one fate.
    pub fn ends(self) -> Ended {
        self.end.store(true, Ordering::Relaxed);
        let ended = self.thread.join().unwrap();
        assert!(ended.0.iter().all(Counts::is_closed), "{ended:?}");
        ended
    }

    /// The same, without colours.
    pub fn counts(self) -> [Counts; 2] {
        self.ends().0
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
