//! Laws of perhop beside those of other implementations: see `tests/`.
