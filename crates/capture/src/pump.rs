//! From input to output, chunk after chunk: what `mark` and `meter` have in common.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{CaptureError, Truncated};
use crate::file::{Capture, Record};

/// What becomes of a packet in the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Written, with the bytes as the visitor left them.
    Keep,
    /// Omitted together with its record or block; everything else stays.
    Drop,
}

/// How to copy a capture.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pump<'a> {
    /// Accept a truncated capture, and keep its complete packets.
    pub partial: bool,
    /// Stop when this becomes true, with `CaptureError::Interrupted`.
    pub interrupted: Option<&'a AtomicBool>,
    /// The capture is read while it is taken (`Capture::live`): then that ends its input, and what came until then counts.
    pub live: bool,
}

/// What went through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Packets read.
    pub packets: u64,
    /// The sum of their original lengths, in bytes.
    pub original_bytes: u64,
    /// Packets that were omitted.
    pub dropped: u64,
    /// Packets with a timestamp earlier than a preceding one.
    pub out_of_order: u64,
    /// Largest step back in time among those, in ns.
    pub largest_step_back_ns: u64,
    /// Times without packets that are longer than [`LONG_GAP_NS`].
    pub gaps: Gaps,
    /// Packets without a time (Simple Packet Blocks).
    pub untimed: u64,
    /// The first time and the largest, in ns since 1970, if any packet has one: a packet that is stamped earlier than a
    /// preceding one counts at the largest time seen, as it is metered.
    pub span_ns: Option<(u64, u64)>,
    /// Where the capture is cut off, if it is and `partial` was set.
    pub truncated: Option<Truncated>,
}

/// A gap that is worth mentioning, ns: a minute.
pub const LONG_GAP_NS: u64 = 60_000_000_000;

/// Long times without packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gaps {
    /// How many.
    pub count: u64,
    /// Together, ns.
    pub total_ns: u64,
    /// The longest, ns.
    pub longest_ns: u64,
    /// When that began, in ns since 1970.
    pub begun_ns: u64,
}

impl Gaps {
    #[cold]
    fn add(&mut self, begun_ns: u64, ns: u64) {
        self.count += 1;
        self.total_ns += ns;
        if ns > self.longest_ns {
            (self.longest_ns, self.begun_ns) = (ns, begun_ns);
        }
    }
}

impl Pump<'_> {
    /// Show each packet to `visit`, which may change its bytes, and write what it keeps to `output`, if there is one.
    ///
    /// All of the input's bytes but those of dropped packets are written unchanged. The caller finishes the
    /// output (`OutputFile::finish`) after `Ok`. Errors: of reading, of writing, the visitor's own, `Interrupted`.
    pub fn run<R, E, F>(
        &self,
        capture: &mut Capture<R>,
        mut output: Option<&mut dyn Write>,
        mut visit: F,
    ) -> Result<Tally, E>
    where
        R: Read,
        E: From<CaptureError>,
        F: FnMut(Record<'_>) -> Result<Fate, E>,
    {
        let mut tally = Tally::default();
        if output.is_some() {
            capture.keep();
        }
        let finished = self.each(capture, &mut tally, &mut output, &mut visit)?;
        write(&mut output, capture.take())?;
        Ok(Tally { truncated: finished, ..tally })
    }

    /// All packets; where the capture is cut off, if that is not an error.
    fn each<R: Read, E: From<CaptureError>>(
        &self,
        capture: &mut Capture<R>,
        tally: &mut Tally,
        output: &mut Option<&mut dyn Write>,
        visit: &mut impl FnMut(Record<'_>) -> Result<Fate, E>,
    ) -> Result<Option<Truncated>, E> {
        loop {
            if !self.live && self.is_interrupted() {
                return Err(CaptureError::Interrupted { packets: tally.packets }.into());
            }
            if output.is_some() && capture.is_low() {
                write(output, capture.take())?;
            }
            let mut chunk = match capture.next_chunk() {
                Ok(Some(chunk)) => chunk,
                Ok(None) => return Ok(None),
                Err(CaptureError::Truncated(cut)) if self.partial || self.has_ended() => return Ok(Some(cut)),
                Err(error) => return Err(error.into()),
            };
            let Some(record) = chunk.record() else { continue };
            tally.count(&record);
            if visit(record)? == Fate::Drop {
                tally.dropped += 1;
                capture.take_but_last(|before| write(output, before))?;
            }
        }
    }

    /// Whether its capture was live and has been ended.
    pub fn has_ended(&self) -> bool {
        self.live && self.is_interrupted()
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

impl Tally {
    fn count(&mut self, record: &Record<'_>) {
        self.packets += 1;
        self.original_bytes += u64::from(record.original);
        let Some(now) = record.time_ns else {
            self.untimed += 1;
            return;
        };
        let (first, last) = self.span_ns.unwrap_or((now, now));
        if now < last {
            self.out_of_order += 1;
            self.largest_step_back_ns = self.largest_step_back_ns.max(last - now);
        } else if now - last > LONG_GAP_NS {
            self.gaps.add(last, now - last);
        }
        self.span_ns = Some((first, last.max(now)));
    }
}

fn write(output: &mut Option<&mut dyn Write>, bytes: &[u8]) -> Result<(), CaptureError> {
    output.as_mut().map_or(Ok(()), |output| output.write_all(bytes).map_err(write_failed))
}

fn write_failed(cause: io::Error) -> CaptureError {
    CaptureError::Write { place: "the output".into(), cause }
}
