//! `explain`: every effective value, every queue, every time that follows from them.

use crate::args::Explain;
use crate::{Exit, Failure, check, say};

pub(crate) fn explain(args: &Explain) -> Result<Exit, Failure> {
    let options = check::options(&args.source);
    let scenario = check::load(&args.source, &options)?;
    say!("{}", scenario.effective());
    Ok(Exit::Fine)
}
