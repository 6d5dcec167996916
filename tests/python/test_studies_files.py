"""What is wrong in a paper's file is an error that names the file, the entry and what is valid."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from perhop_studies import causes, referee, sentences, settings
from perhop_studies.criteria import Criteria, Criterion
from perhop_studies.papers import paper

KINDS = {"a": "hard", "b": "hard", "c": "soft"}
STATED = Criteria([Criterion("s", claim, kind, "", rule=claim) for claim, kind in KINDS.items()], [])
READERS: dict[str, Callable[[Path], object]] = {
    "readings": settings.readings,
    "settings": lambda path: settings.load(path, paper("pam-fsam").readings()),
    "referee": lambda path: referee.load(path, STATED),
    "sentences": lambda path: sentences.load(path.parent),
    "causes": lambda path: causes.load(path.parent),
}
READING = '[[reading]]\nid = "a"\nquestion = "?"\ndecided-by = "?"\nfrozen = "x"\nvalues.{value} = {{}}\n{more}'
ERA = '[era]\nabout = "x"\nanswers.{of} = {{ value = "x", why = "y" }}'
LINE = '[[line]]\nstudy = "s"\nclaims = ["{}"]\nchange = "{}"\nwords = "w"\nwhy = "y."\nknown = false\n{}\n'
STRICT = 'text = "x >= 7"\nholds = ["x >= 7"]\nof = { at = "here" }'
WORDS = '[[sentence]]\nplace = "section 1"\nwords = "w"\n'
NEITHER = "section 1: w: give either `claims` or `no-claim`, the reason why there are none"


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        (
            "readings",
            READING.format(value="x", more=""),
            "a: `chosen-on` is missing: the claims on the runs that chose",
        ),
        ("readings", READING.format(value="y", more="chosen-on = []"), "a is frozen at 'x', which is not one of its"),
        ("settings", '[other]\nabout = "x"', "no setting is called 'other': frozen, era, lemma, kindest"),
        ("settings", 'headline = "era"', "no setting is called 'headline': frozen, era, lemma, kindest"),
        ("settings", ERA.format(of="zz"), "era: no reading is called 'zz': a1, "),
        ("settings", ERA.format(of="a1"), "era: a1 is 'x', which is not one of 'bits', "),
        ("referee", LINE.format("z", "stricter", STRICT), "no hard criterion `z`: there are a, b"),
        ("referee", LINE.format("c", "stricter", STRICT), "no hard criterion `c`: there are a, b"),
        ("referee", LINE.format("a", "added", STRICT), "`a` is a criterion: `added` is for claims that"),
        ("referee", LINE.format("a", "looser", 'text = "x"'), "`text` goes with `holds` or `rule`; without"),
        ("referee", LINE.format("a", "no claim", 'holds = ["x >= 7"]'), "`text` goes with `holds` or"),
        ("referee", LINE.format("a", "looser", "hold = 1"), "no key `hold`: there are study, claims,"),
        ("referee", 2 * LINE.format("a", "stricter", STRICT), "s/a: 2 lines, one is allowed"),
        ("sentences", WORDS + "claims = []", NEITHER),
        ("sentences", WORDS + 'claims = ["s/x"]\nno-claim = "because it is a plan"', NEITHER),
        ("sentences", WORDS + 'no-claim = ""', NEITHER),
        ("causes", '[[cause]]\nclaims = ["s/a"]\ntext = "because."', "s/a: `text` needs an intervention that takes"),
    ],
)
def test_what_is_wrong_in_a_file_is_an_error_that_says_so(tmp_path: Path, file: str, text: str, says: str) -> None:
    path = tmp_path / f"{file}.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"{file}\.toml: ") as error:
        READERS[file](path)
    assert says in str(error.value)
