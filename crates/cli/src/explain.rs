//! `explain`: every effective value, every queue, and the times that follow from them.

use crate::args::{Explain, System};
use crate::{Exit, Failure, check, say};
use perhop_scenario::{Document, explain_sweep, facts};
use serde_json::json;

pub(crate) fn explain(args: &Explain) -> Result<Exit, Failure> {
    let file = &args.source.file;
    let options = check::options(file, &args.source.settings);
    if args.written_as == Some(System::Tc) {
        let linux = perhop_scenario::as_tc::of_sweep(&check::load(&args.source, &options)?);
        let linux = linux.map_err(|refused| Failure::Error(refused.join("\n")))?;
        match args.json {
            true => say!("{}", json!(linux)),
            false => say!("{}", linux.script()),
        }
        return Ok(Exit::Fine);
    }
    let read = check::text(file).and_then(|text| Document::read(&text, &options));
    let (document, warnings) = check::accepted(read, "nothing was run")?;
    check::warn(&warnings);
    match document {
        document if args.json => say!("{}", facts(&document)),
        Document::Policy(policy) => say!("{}", policy.effective()),
        Document::Scenario(sweep) => say!("{}", explain_sweep(&sweep)),
    }
    Ok(Exit::Fine)
}
