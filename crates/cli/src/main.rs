//! The program `perhop`. What Python carries out it hands to `perhop-python`, which the Python package installs beside it.

use perhop::{Exit, Outcome, Request};
use std::io::{Error, Write};
use std::os::unix::process::CommandExt;
use std::process::Command;

fn main() {
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

/// Python takes over this process and carries out the request; returns only if that cannot be.
fn become_python(request: &Request) -> Error {
    let begun = std::io::stdout().flush().and_then(|()| std::env::current_exe());
    match begun {
        Ok(program) => {
            let arguments = request.arguments.to_string();
            Command::new(program.with_file_name("perhop-python")).args([request.verb, &arguments]).exec()
        }
        Err(error) => error,
    }
}
