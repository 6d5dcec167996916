//! `init`, `completions`, `man`: what helps to begin.

use crate::args::{Cli, Completions, Init, Man};
use crate::{Exit, Failure, say, show};
use clap::CommandFactory;
use std::fs::File;
use std::io::{ErrorKind, Write};

/// The first scenario.
const FIRST: &str = include_str!("first.toml");

pub(crate) fn init(args: &Init) -> Result<Exit, Failure> {
    let file = args.file.display();
    let text = FIRST.replace("scenario.toml", &file.to_string());
    let written = File::create_new(&args.file).and_then(|mut to| to.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            let help = "give another name, as in `perhop init mine.toml`";
            Failure::Error(format!("error[E020] {file} exists and is left as it is\n   help: {help}"))
        }
        _ => Failure::Error(format!("error[E020] cannot write {file}: {error}\n   help: choose another place")),
    })?;
    say!("wrote {file}; next: perhop run {file}");
    Ok(Exit::Fine)
}

pub(crate) fn completions(args: &Completions) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "perhop", &mut script);
    say!("{}", String::from_utf8_lossy(&script).trim_end());
    Ok(Exit::Fine)
}

pub(crate) fn man(args: &Man) -> Result<Exit, Failure> {
    let dir = args.dir.display();
    let written = std::fs::create_dir_all(&args.dir).and_then(|()| clap_mangen::generate_to(Cli::command(), &args.dir));
    written.map_err(|error| {
        Failure::Error(format!("error[E020] cannot write man pages to {dir}: {error}\n   help: choose another place"))
    })?;
    show::line(format_args!("wrote {dir}/perhop.1 and a page for each verb; next: man -l {dir}/perhop-run.1"));
    Ok(Exit::Fine)
}
