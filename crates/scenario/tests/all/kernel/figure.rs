//! A cell as a picture: each packet's delay by its arrival, the kernel's and perhop's.

use crate::kernel::verdict::Judged;
use std::fmt::Write as _;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 330.0;
const LEFT: f64 = 104.0;
const RIGHT: f64 = 20.0;
const BOTTOM: f64 = 92.0;
const TOP: f64 = 36.0;
/// Packets that are drawn.
const PACKETS: usize = 120;
const COLOURS: [&str; 4] = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd"];
/// Where the ticks of dropped packets begin, below the axis: the kernel's and perhop's.
const DROPPED: [f64; 2] = [9.0, 25.0];
const TICK: f64 = 11.0;

/// The stretch of packets around the middle of the cell.
fn stretch(it: &Judged) -> std::ops::Range<usize> {
    let from = it.rows.len().saturating_sub(PACKETS) / 2;
    from..(from + PACKETS).min(it.rows.len())
}

struct Axes {
    from: f64,
    to: f64,
    most: f64,
}

impl Axes {
    fn x(&self, ms: f64) -> f64 {
        LEFT + 8.0 + (WIDTH - LEFT - RIGHT - 16.0) * (ms - self.from) / (self.to - self.from)
    }

    fn y(&self, delay_ms: f64) -> f64 {
        HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * delay_ms / self.most
    }
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// Distances of marks on an axis, with their decimal places: no logarithm, which differs between machines.
const STEPS: [(f64, usize); 13] = [
    (0.1, 1),
    (0.2, 1),
    (0.5, 1),
    (1.0, 0),
    (2.0, 0),
    (5.0, 0),
    (10.0, 0),
    (20.0, 0),
    (50.0, 0),
    (100.0, 0),
    (200.0, 0),
    (500.0, 0),
    (1000.0, 0),
];

/// Round numbers from one to another, at most seven, and their decimal places.
fn marks(from: f64, to: f64) -> (Vec<f64>, usize) {
    let (step, digits) = *STEPS.iter().find(|(step, _)| (to - from) / step <= 6.0).unwrap_or(&STEPS[12]);
    let first = (from / step).ceil() as i64;
    ((first..).map(|it| it as f64 * step).take_while(|it| *it <= to).collect(), digits)
}

/// The picture as SVG.
pub fn figure(it: &Judged) -> String {
    let shown = stretch(it);
    let rows = &it.rows[shown.clone()];
    let longest = rows.iter().filter_map(|row| Some(row.left?.0 - row.came)).max().unwrap_or(0);
    let axes = Axes { from: ms(rows[0].came), to: ms(rows[rows.len() - 1].came), most: ms(longest).max(1.0) * 1.05 };
    let ports: Vec<_> =
        rows.iter().map(|row| row.port).collect::<std::collections::BTreeSet<_>>().into_iter().collect();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
    );
    frame(&mut svg, &axes, it);
    for (row, i) in rows.iter().zip(shown) {
        let colour = COLOURS[ports.iter().position(|port| *port == row.port).unwrap() % COLOURS.len()];
        let x = axes.x(ms(row.came));
        match row.left {
            Some((at, ecn)) => ring(&mut svg, (x, axes.y(ms(at - row.came))), colour, ecn == 3),
            None => tick(&mut svg, x, DROPPED[0], colour),
        }
        match it.ours.as_ref().map(|ours| ours[i]) {
            Some(Some((at, _))) => dot(&mut svg, (x, axes.y(ms(at - row.came))), colour),
            Some(None) => tick(&mut svg, x, DROPPED[1], colour),
            None => {}
        }
    }
    svg + "</svg>\n"
}

fn ring(svg: &mut String, (x, y): (f64, f64), colour: &str, marked: bool) {
    let width = if marked { 2.0 } else { 0.8 };
    writeln!(
        svg,
        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
    )
    .unwrap();
}

fn dot(svg: &mut String, (x, y): (f64, f64), colour: &str) {
    writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"1.6\" fill=\"{colour}\"/>").unwrap();
}

fn tick(svg: &mut String, x: f64, below: f64, colour: &str) {
    let y = HEIGHT - BOTTOM + below;
    writeln!(svg, "<path d=\"M{x:.1} {y:.1}v{TICK}\" stroke=\"{colour}\" stroke-width=\"1.4\"/>").unwrap();
}

/// A text at a place; `anchor` is its start, middle or end.
fn words(svg: &mut String, (x, y): (f64, f64), anchor: &str, text: &str) {
    writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>").unwrap();
}

fn frame(svg: &mut String, axes: &Axes, it: &Judged) {
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    words(svg, (LEFT, 20.0), "start", &it.cell.name());
    for (i, world) in ["Linux", "perhop"].into_iter().enumerate() {
        let x = right - 140.0 + 80.0 * i as f64;
        if i == 0 {
            ring(svg, (x - 9.0, 16.0), "black", false)
        } else {
            dot(svg, (x - 9.0, 16.0), "black")
        }
        words(svg, (x, 20.0), "start", world);
        words(svg, (LEFT - 10.0, bottom + DROPPED[i] + TICK), "end", &format!("drops, {world}"));
    }
    let (times, digits) = marks(axes.from, axes.to);
    for time in times {
        words(svg, (axes.x(time), bottom + 56.0), "middle", &format!("{time:.digits$}"));
        writeln!(svg, "<path d=\"M{:.1} {bottom}v4\" stroke=\"black\"/>", axes.x(time)).unwrap();
    }
    let (delays, digits) = marks(0.0, axes.most);
    for delay in delays {
        let y = axes.y(delay);
        writeln!(svg, "<path d=\"M{LEFT} {y:.1}H{right}\" stroke=\"#e4e4e4\"/>").unwrap();
        words(svg, (LEFT - 10.0, y + 4.5), "end", &format!("{delay:.digits$}"));
    }
    words(svg, (f64::midpoint(LEFT, right), HEIGHT - 12.0), "middle", "arrival, ms");
    let middle = f64::midpoint(TOP, bottom);
    writeln!(svg, "<text transform=\"translate(22 {middle:.1}) rotate(-90)\" text-anchor=\"middle\">delay, ms</text>")
        .unwrap();
    writeln!(svg, "<path d=\"M{LEFT} {TOP}V{bottom}H{right}\" fill=\"none\" stroke=\"black\"/>").unwrap();
}
