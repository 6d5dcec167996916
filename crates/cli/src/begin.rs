//! `completions`, `man`: what a shell and a reader get.

use crate::args::{Cli, Completions, Man};
use clap::{Command, CommandFactory};
use clap_mangen::Man as Page;
use perhop_app::terminal::show;
use perhop_app::{Exit, Failure, places};
use perhop_capture::Existing;
use std::fs;
use std::path::Path;

pub(crate) fn completions(args: &Completions) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "perhop", &mut script);
    show::line(format_args!("{}", String::from_utf8_lossy(&script).trim_end()));
    Ok(Exit::Fine)
}

pub(crate) fn man(args: &Man) -> Result<Exit, Failure> {
    let dir = args.dir.display();
    fs::create_dir_all(&args.dir).map_err(|error| {
        Failure::error("E020", format!("cannot write man pages to {dir}: {error}"), "choose another place")
    })?;
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    pages(&command, &args.dir)?;
    show::line(format_args!("wrote {dir}/perhop.1 and a page for each verb; next: man -l {dir}/perhop-run.1"));
    Ok(Exit::Fine)
}

/// The pages of a command and of all below it.
fn pages(command: &Command, dir: &Path) -> Result<(), Failure> {
    command.get_subcommands().filter(|it| !it.is_hide_set()).try_for_each(|it| pages(it, dir))?;
    let (page, mut text) = (Page::new(command.clone()), Vec::new());
    page.render(&mut text).expect("memory takes everything");
    places::write(&dir.join(page.get_filename()), &text, Existing::Replaced)
}
