//! `mark` and `meter` on captures in files.

use std::io;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::marker::Marker;
use super::{MarkError, Marking, Report, run};
use crate::error::CaptureError;
use crate::file::Capture;
use crate::input::Input;
use crate::output::{Existing, OutputFile};
use crate::pump::{Pump, Tally};

/// The capture that `mark` writes.
#[derive(Clone, Copy, Debug)]
pub struct Output<'a> {
    /// Its name; compressed with gzip if it ends in `.gz`.
    pub path: &'a Path,
    /// What becomes of a file of that name.
    pub existing: Existing,
}

/// Sends the capture `input` through `marking` and writes it to `output`.
///
/// # Errors
/// See [`MarkError`]. On any error an existing file of the output's name is untouched.
pub fn mark(input: &Path, to: Output<'_>, marking: Marking, pump: &Pump<'_>) -> Result<Report, MarkError> {
    let output = to.path;
    let mut file = OutputFile::create(output, to.existing)?;
    let mut capture = open(input, pump)?;
    let mut report = if output.extension().is_some_and(|it| it == "gz") {
        let mut packed = GzEncoder::new(&mut file, Compression::default());
        let report = run(marking, &mut capture, Some(&mut packed), pump)?;
        packed.finish().map_err(|cause| unwritten(output, cause))?;
        report
    } else {
        run(marking, &mut capture, Some(&mut file), pump)?
    };
    file.finish()?;
    report.capture.output = Some(output.display().to_string());
    Ok(report)
}

fn unwritten(output: &Path, cause: io::Error) -> CaptureError {
    CaptureError::Write { place: output.display().to_string(), cause }
}

/// The same without an output.
///
/// # Errors
/// See [`MarkError`].
pub fn meter(input: &Path, marking: Marking, pump: &Pump<'_>) -> Result<Report, MarkError> {
    match open(input, pump) {
        Err(CaptureError::Empty | CaptureError::Truncated(_)) if pump.has_ended() => {
            Ok(Report::new(Marker::new(marking)?, &Tally::default()))
        }
        capture => run(marking, &mut capture?, None, pump),
    }
}

fn open<'a>(input: &Path, pump: &Pump<'a>) -> Result<Capture<Input<'a>>, CaptureError> {
    match pump.interrupted.filter(|_| pump.live) {
        Some(ended) => Capture::live(input, ended),
        None => Capture::open(input),
    }
}
