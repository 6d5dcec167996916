"""Section VI-B: a UDP flow four times as large as that of Fig. 2. Its claims are in `added.toml`, without Python."""

from __future__ import annotations

from perhop_studies import Study

large = Study("pf-large", title="Section VI-B: a UDP flow of 8 Mbit/s in Fig. 2", runs=("pf-fig2", "pf-large"))
STUDIES = [large]
