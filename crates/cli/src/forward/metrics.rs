//! `--metrics`: counts for Prometheus, on loopback. A reader that hangs delays other readers, and no packet.

use crate::Failure;
use perhop_core::packet::Colour;
use perhop_live::{AfPacket, Counts, Dropped, Forwarder};
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// A reader gets no more time than this for its request, and for the answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// What readers are told: as of the last look, which is at most a second old.
#[derive(Debug)]
pub(super) struct Metrics {
    page: Arc<Mutex<String>>,
}

impl Metrics {
    /// Listens on this port of 127.0.0.1.
    ///
    /// # Errors
    /// The port is in use, or not for this user.
    pub(super) fn listen(port: u16) -> Result<Self, Failure> {
        let refused = |error: io::Error| {
            let help = "give --metrics another port, from 1024 on for users without rights";
            Failure::Error(format!("error[E030] --metrics {port}: {error}\n   help: {help}"))
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(refused)?;
        let page = Arc::new(Mutex::new(String::new()));
        let shown = Arc::clone(&page);
        // it ends with the program
        thread::spawn(move || listener.incoming().flatten().for_each(|stream| _ = answer(stream, &shown)));
        Ok(Self { page })
    }

    pub(super) fn show(&self, names: [&str; 2], forwarder: &Forwarder<AfPacket>, counts: &[Counts; 2]) {
        *self.page.lock().unwrap_or_else(PoisonError::into_inner) = page(names, forwarder, counts);
    }
}

/// Whatever is asked, the answer is the page.
fn answer(mut stream: TcpStream, page: &Mutex<String>) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let _request = stream.read(&mut [0; 4096])?;
    let body = page.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {length}\r\n");
    stream.write_all(format!("{head}Connection: close\r\n\r\n{body}").as_bytes())
}

/// A counter's or gauge's name, kind, help, and its value of a direction.
type Family = (&'static str, &'static str, &'static str, fn(&Counts) -> u64);

const FAMILIES: [Family; 7] = [
    ("perhop_qdisc_packets_total", "counter", "Frames sent.", |it| it.sent),
    ("perhop_qdisc_bytes_total", "counter", "Bytes handed to the outgoing interface.", |it| it.sent_bytes),
    ("perhop_qdisc_current_queue_length", "gauge", "Frames in the queue.", |it| it.queued),
    ("perhop_qdisc_marks_total", "counter", "Frames that the queue marked CE.", |it| it.marked),
    ("perhop_received_packets_total", "counter", "Frames read.", |it| it.received),
    ("perhop_send_errors_total", "counter", "Frames that the outgoing interface refused.", |it| it.errors),
    ("perhop_checksums_finished_total", "counter", "Transport checksums finished here.", |it| it.finished),
];

/// The page, names after node_exporter's collector of qdiscs.
fn page(names: [&str; 2], forwarder: &Forwarder<AfPacket>, counts: &[Counts; 2]) -> String {
    let mut out = String::new();
    let devices = [names[1], names[0]];
    for (name, kind, help, value) in FAMILIES {
        head(&mut out, name, kind, help);
        for (device, counts) in devices.iter().zip(counts) {
            _ = writeln!(out, "{name}{{device=\"{device}\"}} {}", value(counts));
        }
    }
    head(&mut out, "perhop_qdisc_drops_total", "counter", "Frames dropped, by reason.");
    for (device, counts) in devices.iter().zip(counts) {
        for why in Dropped::ALL {
            let (reason, value) = (why.name(), counts.lost(why));
            _ = writeln!(out, "perhop_qdisc_drops_total{{device=\"{device}\",reason=\"{reason}\"}} {value}");
        }
    }
    classes(&mut out, devices[0], forwarder);
    out
}

/// By conditioner and colour.
fn classes(out: &mut String, device: &str, forwarder: &Forwarder<AfPacket>) {
    const NAME: &str = "perhop_conditioner_packets_total";
    head(out, NAME, "counter", "Packets that left a conditioner, by colour.");
    for stage in forwarder.host().port().edge().counts() {
        let colours = Colour::ALL.into_iter().map(Colour::name).chain(["dropped"]);
        for (at, colour) in colours.enumerate() {
            let packets: u64 = stage.counts.iter().map(|row| row[at].packets).sum();
            _ = writeln!(out, "{NAME}{{device=\"{device}\",class=\"{}\",colour=\"{colour}\"}} {packets}", stage.name);
        }
    }
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}
