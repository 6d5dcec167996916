//! A cell as a picture: each packet's delay by its arrival, the kernel's and perhop's.

use crate::verdict::Judged;
use std::fmt::Write as _;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 72.0;
const BOTTOM: f64 = 62.0;
const TOP: f64 = 30.0;
/// Packets that are drawn.
const PACKETS: usize = 200;
const COLOURS: [&str; 4] = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd"];

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
        LEFT + (WIDTH - LEFT - 36.0) * (ms - self.from) / (self.to - self.from)
    }

    fn y(&self, delay_ms: f64) -> f64 {
        HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * delay_ms / self.most
    }
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// The picture as SVG.
pub fn figure(it: &Judged) -> String {
    let shown = stretch(it);
    let rows = &it.rows[shown.clone()];
    let longest = rows.iter().filter_map(|row| Some(row.left?.0 - row.came)).max().unwrap_or(0);
    let axes = Axes { from: ms(rows[0].came), to: ms(rows[rows.len() - 1].came), most: ms(longest).max(0.001) * 1.05 };
    let ports: Vec<_> =
        rows.iter().map(|row| row.port).collect::<std::collections::BTreeSet<_>>().into_iter().collect();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
    );
    frame(&mut svg, &axes, it);
    for (row, i) in rows.iter().zip(shown) {
        let colour = COLOURS[ports.iter().position(|port| *port == row.port).unwrap() % COLOURS.len()];
        let x = axes.x(ms(row.came));
        match row.left {
            Some((at, ecn)) => ring(&mut svg, (x, axes.y(ms(at - row.came))), colour, ecn == 3),
            None => tick(&mut svg, x, HEIGHT - BOTTOM + 6.0, colour),
        }
        match it.ours.as_ref().map(|ours| ours[i]) {
            Some(Some((at, _))) => {
                let y = axes.y(ms(at - row.came));
                writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"1\" fill=\"{colour}\"/>").unwrap();
            }
            Some(None) => tick(&mut svg, x, HEIGHT - BOTTOM + 14.0, colour),
            None => {}
        }
    }
    svg + "</svg>\n"
}

fn ring(svg: &mut String, (x, y): (f64, f64), colour: &str, marked: bool) {
    let width = if marked { 1.6 } else { 0.6 };
    writeln!(
        svg,
        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.6\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
    )
    .unwrap();
}

fn tick(svg: &mut String, x: f64, y: f64, colour: &str) {
    writeln!(svg, "<path d=\"M{x:.1} {y:.1}v6\" stroke=\"{colour}\"/>").unwrap();
}

fn frame(svg: &mut String, axes: &Axes, it: &Judged) {
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - 14.0);
    writeln!(svg, "<path d=\"M{LEFT} {TOP}V{bottom}H{right}\" fill=\"none\" stroke=\"black\"/>").unwrap();
    let title = format!("{}: delay by arrival; rings Linux, dots perhop, ticks dropped", it.cell.name());
    writeln!(svg, "<text x=\"{LEFT}\" y=\"18\" font-size=\"13\">{title}</text>").unwrap();
    for part in 0..=4 {
        let share = f64::from(part) / 4.0;
        let (x, y) = (axes.from + share * (axes.to - axes.from), share * axes.most / 1.05);
        writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{x:.0} ms</text>",
            axes.x(x),
            bottom + 36.0
        )
        .unwrap();
        writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{y:.2} ms</text>",
            LEFT - 4.0,
            axes.y(y) + 4.0
        )
        .unwrap();
    }
}
