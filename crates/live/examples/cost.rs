//! What a packet costs in this program's own code: CPU time of one thread for parse, decide, rewrite and count, with srTCM.
//! `cargo run --release -p perhop-live --example cost`. The packets are in memory, as they are in a ring.

use perhop_edge::Policy;
use perhop_live::{Counts, Forwarder, Frame, Kernel, Offer, PacketIo, Sent};
use perhop_scenario::Options;

/// Frames in the ring, and how often all of them pass.
const FRAMES: usize = 4096;
const ROUNDS: u64 = 500;

/// The best of so many tries is what the code costs; the others met other programs.
const TRIES: usize = 7;

const POLICY: &str = "[policy]\n[conditioner.all]\nkind = \"srtcm\"\ncir = \"1Gbit/s\"\ncbs = \"150kB\"\nebs = \"150kB\"\n\
                      green = \"mark AF11\"\nyellow = \"mark AF12\"\nred = \"mark AF13\"\n";

/// An interface whose frames are always there; what is sent is counted.
#[derive(Default)]
struct Ring {
    frames: Vec<Vec<u8>>,
    next: usize,
    left: u64,
    sent: u64,
    buffered: u64,
}

impl PacketIo for Ring {
    fn receive(&mut self, most: usize, each: &mut impl FnMut(Frame<'_>)) -> usize {
        let came = most.min(self.left as usize);
        for _ in 0..came {
            let bytes = &mut self.frames[self.next];
            // another packet: its code point is to be written again
            bytes[15] = 0;
            let length = bytes.len() as u32;
            each(Frame { bytes, length, unfinished: false });
            self.next = (self.next + 1) % FRAMES;
        }
        self.left -= came as u64;
        came
    }

    fn offer(&mut self, _: &[u8]) -> Offer {
        self.buffered += 1;
        Offer::Taken
    }

    fn flush(&mut self) -> Sent {
        let sent = std::mem::take(&mut self.buffered);
        self.sent += sent;
        Sent { sent, ..Sent::default() }
    }

    fn kernel(&mut self) -> Kernel {
        Kernel { came: FRAMES as u64 * ROUNDS - self.left, dropped: 0 }
    }
}

/// A datagram of 64 B of IP, of one of 100 flows.
fn frame(n: usize) -> Vec<u8> {
    let mut frame = vec![2; 78];
    frame[12..14].copy_from_slice(&[8, 0]);
    frame[14..34].copy_from_slice(&[0x45, 0, 0, 64, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, (n % 100) as u8]);
    frame[34..42].copy_from_slice(&[0, 1, 0, 9, 0, 44, 0, 0]);
    frame
}

/// CPU time of this thread.
fn cpu_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a timespec that the call fills in.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn main() {
    let (policy, _) = perhop_scenario::Policy::parse(POLICY, &Options::new("cost.toml")).expect("a sound policy");
    let policy = || Policy {
        stages: policy.stages(),
        flow_timeout: Some("60s".parse().expect("a time")),
        most_flows: Some(65_536),
        ..Policy::default()
    };
    let tries = (0..TRIES).map(|_| {
        let here = Ring { frames: (0..FRAMES).map(frame).collect(), left: FRAMES as u64 * ROUNDS, ..Ring::default() };
        let mut forwarder = Forwarder::new(policy(), [here, Ring::default()], 0).expect("a sound policy");
        let (begun, mut now) = (cpu_ns(), 0);
        while forwarder.step(now) > 0 {
            now += 64 * 500;
        }
        let ns = (cpu_ns() - begun) as f64 / (FRAMES as u64 * ROUNDS) as f64;
        assert!(Counts::is_closed(&forwarder.counts()[0]));
        ns
    });
    println!("{:.1}", tries.fold(f64::INFINITY, f64::min));
}
