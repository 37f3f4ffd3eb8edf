import hashlib
import os
import subprocess
import sys
import threading
import uuid
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.documents.kept import KeptTexts
from pincite.errors import ConfigInvalid, ExtraMissing, TextCorrupt, TextNotFound, TextsUnreachable


@pytest.fixture(params=["local", "file url", "memory"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> KeptTexts:
    urls = {
        "local": str(tmp_path / "texts"),
        "file url": f"file://{tmp_path}/texts",
        "memory": f"memory://{uuid.uuid4().hex}/texts",
    }
    return KeptTexts(urls[request.param])


def place(root: Path, digest: str) -> Path:
    return root / digest[:2] / digest


def test_what_is_put_is_got_by_its_sha256(kept: KeptTexts) -> None:
    text = "añ 中\r\n\u2028 👍\n"
    digest = kept.put(text)
    assert digest == hashlib.sha256(text.encode()).hexdigest()
    assert kept.has(digest)
    assert kept.get(digest) == text


def test_putting_twice_is_putting_once(kept: KeptTexts) -> None:
    assert kept.put("same") == kept.put("same")
    assert kept.get(kept.put("same")) == "same"


def test_empty_text_can_be_kept(kept: KeptTexts) -> None:
    assert kept.get(kept.put("")) == ""


def test_unknown_digest_is_not_found(kept: KeptTexts) -> None:
    with pytest.raises(TextNotFound) as caught:
        kept.get("0" * 64)
    assert caught.value.code == "TEXT_NOT_FOUND"
    assert not kept.has("0" * 64)


@pytest.mark.parametrize("digest", ["", "../../etc/passwd", "A" * 64, "0" * 63, "0" * 64 + "\n"])
def test_what_is_no_digest_is_not_found(kept: KeptTexts, digest: str) -> None:
    with pytest.raises(TextNotFound):
        kept.get(digest)
    assert not kept.has(digest)
    kept.delete(digest)


def test_deleted_text_is_gone_and_deleting_again_is_fine(kept: KeptTexts) -> None:
    digest = kept.put("x")
    kept.delete(digest)
    kept.delete(digest)
    assert not kept.has(digest)


def test_changed_text_is_told(tmp_path: Path) -> None:
    kept = KeptTexts(str(tmp_path))
    digest = kept.put("right")
    place(tmp_path, digest).write_text("wrong")
    with pytest.raises(TextCorrupt) as caught:
        kept.get(digest)
    assert caught.value.code == "TEXT_CORRUPT"


def test_text_of_the_wrong_size_is_written_again(tmp_path: Path) -> None:
    kept = KeptTexts(str(tmp_path))
    digest = kept.put("whole text")
    place(tmp_path, digest).write_text("whole")
    kept.put("whole text")
    assert kept.get(digest) == "whole text"


def test_nothing_but_the_text_remains(tmp_path: Path) -> None:
    digest = KeptTexts(str(tmp_path)).put("x")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [place(tmp_path, digest)]


def test_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(TextsUnreachable) as caught:
        KeptTexts(str(tmp_path / "file")).put("x")
    assert caught.value.retryable


def test_writers_of_one_text_do_not_disturb_each_other(tmp_path: Path) -> None:
    kept = KeptTexts(str(tmp_path))
    texts = [f"text {number % 20}" * 1_000 for number in range(200)]
    threads = [threading.Thread(target=lambda: [kept.put(t) for t in texts]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(kept.get(kept.put(text)) == text for text in texts)
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 20


def test_acknowledged_texts_survive_a_killed_process(tmp_path: Path) -> None:
    code = (
        "import sys, itertools\n"
        "from pincite.documents.kept import KeptTexts\n"
        "kept = KeptTexts(sys.argv[1])\n"
        "for n in itertools.count():\n"
        "    print(kept.put(f'{n} ' * 5000), flush=True)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        digests = [process.stdout.readline().strip() for _ in range(50)]
        process.kill()
        digests += process.stdout.read().split("\n")[:-1]
    kept = KeptTexts(str(tmp_path))
    assert all(kept.get(digest) for digest in digests)
    visible = [path.name for path in tmp_path.rglob("*") if len(path.name) == 64]
    assert all(kept.get(digest) for digest in visible)


def test_home_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    KeptTexts("~/texts").put("x")
    assert os.listdir(tmp_path) == ["texts"]


@given(st.text(max_size=200))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_any_text_comes_back_as_it_was(text: str) -> None:
    kept = KeptTexts("memory://any/texts")
    assert kept.get(kept.put(text)) == text


@pytest.mark.parametrize(("url", "error"), [("nope://x", ConfigInvalid), ("s3://x", ExtraMissing)])
def test_place_that_cannot_be_used_is_a_coded_error(url: str, error: type[Exception]) -> None:
    with pytest.raises(error, match=url.partition(":")[0]):
        KeptTexts(url)
