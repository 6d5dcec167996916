//! DPDK's meters and RED as a peer: a C program that is compiled where DPDK's headers are installed, and asked by turns.

use super::bare::Peer;
use super::child::Folder;
use super::inputs::Inputs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const SOURCE: &str = include_str!("peers/dpdk.c");

/// The program at work, and its folder.
pub(super) struct Dpdk {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// DPDK's version, the compiler's flags.
    pub(super) version: String,
    /// It has not answered, and that was said.
    lost: bool,
    _folder: Folder,
}

impl Dpdk {
    /// Compiles and starts the program.
    ///
    /// # Errors
    /// Why there is no such peer, for people: it is not installed, or does not compile.
    pub(super) fn start(inputs: &Inputs) -> Result<Self, String> {
        let of_package = |flag| said(Command::new("pkg-config").args([flag, "libdpdk"]));
        let version = of_package("--modversion").map_err(|_| {
            "DPDK's headers are not installed (Debian: apt install libdpdk-dev gcc pkg-config)".to_owned()
        })?;
        let (flags, libraries) = (of_package("--cflags")?, of_package("--libs")?);
        let folder = Folder::new()?;
        let source = folder.write("dpdk.c", SOURCE)?;
        let [program, packets] = ["dpdk", "inputs"].map(|name| folder.path().join(name));
        inputs.write(&packets).map_err(|e| format!("{}: {e}", packets.display()))?;
        compile(&source, &program, [&flags, &libraries])?;
        let mut child = Command::new(&program)
            .arg(packets)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("{}: {e}", program.display()))?;
        let (Some(questions), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("DPDK's program has no standard input or output".to_owned());
        };
        let version = format!("{} (-O3 {})", version.trim(), machine(&flags));
        Ok(Self { child, questions, answers: BufReader::new(answers), version, lost: false, _folder: folder })
    }

    /// The line that answers a line.
    fn ask(&mut self, question: &str) -> io::Result<String> {
        writeln!(self.questions, "{question}")?;
        let mut answer = String::new();
        match self.answers.read_line(&mut answer)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(answer),
        }
    }
}

impl Drop for Dpdk {
    fn drop(&mut self) {
        // It may have ended by itself.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

impl Peer for Dpdk {
    fn ns(&mut self, name: &str, packets: u64, instances: usize) -> Option<f64> {
        if self.lost {
            return None;
        }
        let answer = self.ask(&format!("{name}\t{packets}\t{instances}"));
        if let Err(error) = &answer {
            eprintln!("DPDK's program has stopped: {error}");
            self.lost = true;
        }
        answer.ok()?.trim().parse().ok()
    }
}

/// The flags that choose a processor.
fn machine(flags: &str) -> String {
    flags.split_whitespace().filter(|flag| flag.starts_with("-m")).collect::<Vec<_>>().join(" ")
}

fn compile(source: &Path, program: &Path, [flags, libraries]: [&str; 2]) -> Result<(), String> {
    let mut compiler = Command::new("cc");
    compiler.arg("-O3").args(flags.split_whitespace()).arg("-o").arg(program).arg(source);
    said(compiler.args(libraries.split_whitespace())).map(|_| ()).map_err(|e| format!("DPDK's program: {e}"))
}

/// What a command prints.
///
/// # Errors
/// It does not start, or fails, with what it says.
fn said(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|e| format!("{name}: {e}"))?;
    if !output.status.success() {
        return Err(format!("{name}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
