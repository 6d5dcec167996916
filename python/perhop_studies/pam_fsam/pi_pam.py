"""Beyond the paper: PI-PAM, its own future work. What it gives is measured in `claims.toml`."""

from __future__ import annotations

from perhop_studies import Study

pi_pam = Study(
    "pf-pi-pam",
    title="Beyond the paper: PI-PAM, a controller on the bucket",
    runs=(
        "beyond-shares",
        "beyond-pi-pam",
        "beyond-contract",
        *("beyond-tuning", "beyond-tuned-shares", "beyond-steep", "beyond-steep-shares"),
    ),
)
STUDIES = [pi_pam]
