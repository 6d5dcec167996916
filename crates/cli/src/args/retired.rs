//! Arguments that perhop no longer takes: each names what has replaced it.

use clap::Arg;
use clap::builder::UnknownArgumentValueParser;

/// `--NAME VALUE`
pub(super) fn option(name: &'static str, now: &'static str) -> Arg {
    Arg::new(name).long(name).hide(true).value_parser(UnknownArgumentValueParser::suggest_arg(now))
}
