//! exp, ln, pow, cube root and arctan: the only way to them, so that every machine computes the same bits.

/// e^x.
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// Natural logarithm.
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// x^y.
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// Cube root of x.
pub fn cbrt(x: f64) -> f64 {
    libm::cbrt(x)
}

/// Arctangent of x.
pub fn atan(x: f64) -> f64 {
    libm::atan(x)
}
