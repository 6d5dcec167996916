//! The program `perhop`. What Python carries out it hands to `perhop-python`, which the Python package installs beside it.

use perhop::{Exit, ForPython, Outcome};
use std::io::{Error, Write};
use std::os::unix::process::CommandExt;
use std::process::Command;

fn main() {
    perhop_core::foreign::set_finder(hand_over);
    let exit = match perhop::main(std::env::args_os()) {
        Outcome::Done(exit) => exit,
        Outcome::Python(request) => {
            let error = become_python(&request);
            let _ = writeln!(
                std::io::stderr(),
                "error: `perhop {}` needs perhop's Python package, whose program perhop-python is not here: {error}\n\
                 help: pip install perhop",
                request.verb
            );
            Exit::Error
        }
    };
    std::process::exit(exit as i32);
}

/// A file names an algorithm that is not built in: if an installed package offers it, Python takes over the whole command.
fn hand_over(name: &str) -> Result<(), String> {
    let python = std::env::current_exe().map(|program| program.with_file_name("perhop-python"));
    let Ok(python) = python else { return Ok(()) };
    match Command::new(&python).args(["--knows", name]).output() {
        Ok(known) if known.status.success() => {}
        Ok(known) if !known.stderr.is_empty() => return Err(String::from_utf8_lossy(&known.stderr).trim().to_owned()),
        _ => return Ok(()),
    }
    if std::env::args_os().any(|arg| arg == "-") {
        return Err(format!("`{name}` is a Python class, and standard input is read already: give a file"));
    }
    let _ = writeln!(
        std::io::stderr(),
        "note: `{name}` is a Python class, so perhop-python runs this: each hook costs a fraction of a microsecond"
    );
    Err(Command::new(&python).arg("--all").args(std::env::args_os()).exec().to_string())
}

/// Linux takes 128 KiB in one argument of a program, and many of them.
const LONGEST: usize = 100_000;

fn pieces(mut text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    while !text.is_empty() {
        let (piece, rest) = text.split_at(text.floor_char_boundary(LONGEST));
        pieces.push(piece);
        text = rest;
    }
    pieces
}

/// Python takes over this process and carries out the request; returns only if that cannot be.
fn become_python(request: &ForPython) -> Error {
    let begun = std::io::stdout().flush().and_then(|()| std::env::current_exe());
    match begun {
        Ok(program) => {
            let arguments = request.arguments.to_string();
            Command::new(program.with_file_name("perhop-python")).arg(request.verb).args(pieces(&arguments)).exec()
        }
        Err(error) => error,
    }
}
