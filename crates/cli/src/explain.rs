//! `explain`: every effective value, every queue, and the times that follow from them.

use crate::args::Explain;
use crate::{Exit, Failure, check, say};
use perhop_scenario::{Policy, explain_sweep};

pub(crate) fn explain(args: &Explain) -> Result<Exit, Failure> {
    let options = check::options(&args.source);
    if check::is_policy(&args.source.file) {
        let policy = Policy::load(&args.source.file, &options);
        let (policy, _) = policy.map_err(|errors| Failure::Error(errors.to_string()))?;
        say!("{}", policy.effective());
    } else {
        say!("{}", explain_sweep(&check::load(&args.source, &options)?));
    }
    Ok(Exit::Fine)
}
