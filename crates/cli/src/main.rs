//! The stand-alone binary.

use perhop::{Exit, Outcome};

fn main() {
    let exit = match perhop::main(std::env::args_os()) {
        Outcome::Done(exit) => exit,
        Outcome::Python(request) => {
            eprintln!("`perhop {}` needs the Python package: pip install perhop", request.verb);
            Exit::Error
        }
    };
    std::process::exit(exit as i32);
}
