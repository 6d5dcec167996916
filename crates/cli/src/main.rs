//! The program `perhop`. What Python carries out it hands to `perhop-python`, which the Python package installs beside it.

use perhop_app::terminal::show;
use perhop_app::{Exit, ForPython, Outcome};
use std::io::{Error, Write};
use std::os::unix::process::CommandExt;
use std::process::Command;

fn main() {
    let exit = match perhop::main(std::env::args_os()) {
        Outcome::Done(exit) => exit,
        Outcome::Python(request) => {
            let error = become_python(&request);
            let verb = request.arguments["verb"].as_str().unwrap_or(request.verb);
            let _ = writeln!(
                std::io::stderr(),
                "error: `perhop {verb}` needs perhop's Python package, whose program perhop-python is not here: {error}\n\
                 help: pip install perhop"
            );
            Exit::Error
        }
    };
    std::process::exit(exit as i32);
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
            let mut python = Command::new(program.with_file_name("perhop-python"));
            for (name, value) in show::colour_variables() {
                match value {
                    Some(value) => python.env(name, value),
                    None => python.env_remove(name),
                };
            }
            python.arg(request.verb).args(pieces(&arguments)).exec()
        }
        Err(error) => error,
    }
}
