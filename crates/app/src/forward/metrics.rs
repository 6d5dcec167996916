//! `--metrics`: counts for Prometheus, on loopback. A reader that hangs delays other readers, and no packet.

use super::page::page;
use super::rates::Snapshot;
use crate::Failure;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// A reader gets no more time than this for its request, and for the answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// A port whose readers wait for their answers.
#[derive(Debug)]
pub(super) struct Listening(TcpListener);

impl Listening {
    /// This port of 127.0.0.1.
    ///
    /// # Errors
    /// The port is in use, or not for this user.
    pub(super) fn on(port: u16) -> Result<Self, Failure> {
        let refused = |error: io::Error| {
            let help = match error.kind() {
                io::ErrorKind::AddrNotAvailable => "ip link set lo up",
                _ => "give --metrics another port, from 1024 on for users without rights",
            };
            Failure::error("E030", format!("--metrics {port}: {error}"), help)
        };
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map(Self).map_err(refused)
    }

    /// Answers in another thread from now on, which ends with the program and has the rights of this one.
    pub(super) fn answer(self) -> Metrics {
        let page = Arc::new(Mutex::new(String::new()));
        let shown = Arc::clone(&page);
        thread::spawn(move || self.0.incoming().flatten().for_each(|stream| _ = answer(stream, &shown)));
        Metrics { page }
    }
}

/// What readers are told: as of the last look, which is at most a second old.
#[derive(Debug)]
pub(super) struct Metrics {
    page: Arc<Mutex<String>>,
}

impl Metrics {
    pub(super) fn show(&self, names: [&str; 2], shown: &Snapshot) {
        let page = page(names, shown);
        *self.page.lock().unwrap_or_else(PoisonError::into_inner) = page;
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
