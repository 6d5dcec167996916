//! The stand-alone binary.

use perhop::{Exit, Outcome};
use std::io::Write;

fn main() {
    let exit = match perhop::main(std::env::args_os()) {
        Outcome::Done(exit) => exit,
        Outcome::Python(request) => {
            let _ =
                writeln!(std::io::stderr(), "`perhop {}` needs the Python package: pip install perhop", request.verb);
            Exit::Error
        }
    };
    std::process::exit(exit as i32);
}
