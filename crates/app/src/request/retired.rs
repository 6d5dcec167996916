//! Arguments that perhop no longer takes: each names what has replaced it.

use clap::Arg;
use clap::builder::UnknownArgumentValueParser;

/// `--NAME VALUE`, with or without its value.
pub(super) fn option(name: &'static str, now: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .hide(true)
        .num_args(0..=1)
        .default_missing_value("")
        .value_parser(UnknownArgumentValueParser::suggest_arg(now))
}

/// The argument at this position: a file to write.
pub(super) fn file(position: usize) -> Arg {
    let named = |file: &str| Err::<String, _>(format!("one file too many; the one to write is named with `-o {file}`"));
    Arg::new("retired").index(position).hide(true).value_name("FILE").value_parser(named)
}
