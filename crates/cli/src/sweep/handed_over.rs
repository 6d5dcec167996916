//! A sweep that a cluster runs: Python hands its replications out, then prints the answer by [`crate::answer`].

use crate::args::{Request, Sweep, Trace};
use crate::{Failure, check, show};
use perhop_scenario::{Options, Override, Point};
use serde_json::json;
use std::ffi::OsString;
use std::path::Path;

/// What Python needs for it, everything checked.
///
/// # Errors
/// The text cannot be read, or an argument is not UTF-8.
pub(super) fn request(
    args: &Sweep,
    line: &[OsString],
    options: &Options,
    points: &[Point],
) -> Result<Request, Failure> {
    let text = check::text(&args.source.file).map_err(|errors| Failure::Error(format!("{errors:#}")))?;
    let line: Result<Vec<_>, _> = line.iter().map(|word| show::text(Path::new(word))).collect();
    let texts = |given: &[Override]| given.iter().map(|it| it.text.clone()).collect::<Vec<_>>();
    let (overrides, vary) = (texts(&options.overrides), texts(&options.vary));
    let arguments = json!({
        "line": line?, "text": text, "file": options.file_name, "overrides": overrides, "vary": vary,
        "name": args.output.name, "points": points.iter().map(|point| point.index).collect::<Vec<_>>(),
        "events": args.traced.trace.contains(&Trace::Events), "ef": args.traced.ef, "fresh": args.fresh,
        "out": show::text(&args.output.out)?, "jobs": args.output.jobs,
        "cluster": crate::args::cluster(&args.cluster),
    });
    Ok(Request { verb: "sweep", arguments })
}
