"""``pincite up``: one stack that every other command uses by itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import httpx
import pytest

START_TIMEOUT_S = 120


@pytest.fixture(scope="module")
def stack(pincite, place):
    """A running stack of the module's home; gone at the end, with its children."""
    environment = pincite.environment(place / "home")
    log = (place / "up.log").open("wb")
    child = subprocess.Popen(
        [sys.executable, "-m", "pincite", "up"], cwd=place, env=environment, stdout=log, stderr=log
    )
    try:
        deadline = time.monotonic() + START_TIMEOUT_S
        while (shown := pincite("status", "--json").json["stack"]) is None:
            assert child.poll() is None, (place / "up.log").read_text()
            assert time.monotonic() < deadline, (place / "up.log").read_text()
            time.sleep(0.5)
        yield {**shown, "child": child}
    finally:
        child.send_signal(signal.SIGTERM)
        child.wait(60)
        log.close()


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", timeout=5).is_success
    except httpx.HTTPError:
        return False


def test_commands_share_the_stack_of_their_home(stack, pincite):
    ran = pincite("ingest", "notes", "--json")
    assert ran.status == 0, ran.err
    assert "temporary" not in ran.err
    run_id = ran.json["flow_run_id"]
    seen = httpx.get(f"{stack['prefect_api_url']}/flow_runs/{run_id}", timeout=10).json()
    assert seen["state"]["type"] == "COMPLETED"
    found = pincite("lookup", "capital of France", "--json").json
    assert found["results"][0]["document_id"] == "notes/paris.md#chunk-0"


def test_ui_is_served_on_loopback(stack):
    page = httpx.get(stack["prefect_ui_url"], timeout=10, follow_redirects=True)
    assert page.is_success
    assert "Prefect" in page.text
    assert stack["prefect_ui_url"].startswith("http://127.0.0.1:")
    assert stack["store_uri"].startswith("http://127.0.0.1:")


def test_second_stack_says_where_the_first_is(stack, pincite):
    ran = pincite("up")
    assert ran.status == 3
    assert stack["prefect_ui_url"] in ran.err


def test_stopped_stack_leaves_nothing_behind(pincite, place):
    home = place / "home-stopped"
    child = started(pincite, place, home)
    shown = pincite("status", "--json", home=home).json["stack"]
    assert shown is not None
    assert answers(shown["prefect_api_url"])
    child.send_signal(signal.SIGINT)
    assert child.wait(60) == 0
    child.stdout.close()
    assert not answers(shown["prefect_api_url"])
    assert not (home / "stack.json").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(shown["pid"], 0)


def test_killed_stack_takes_its_servers_with_it_and_can_be_started_again(pincite, place):
    home = place / "home-killed"
    child = started(pincite, place, home)
    first = pincite("status", "--json", home=home).json["stack"]
    child.kill()
    child.wait(30)
    child.stdout.close()
    deadline = time.monotonic() + 30
    while answers(first["prefect_api_url"]):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert pincite("status", "--json", home=home).json["stack"] is None
    again = started(pincite, place, home)
    assert pincite("status", "--json", home=home).json["stack"] is not None
    store = subprocess.run(
        ["pkill", "-KILL", "-P", str(again.pid), "-f", "milvus_lite"], check=False
    )
    assert store.returncode == 0
    assert again.wait(60) == 3
    again.stdout.close()


def started(pincite, place, home):
    """A stack that has said where it is."""
    child = subprocess.Popen(
        [sys.executable, "-m", "pincite", "up"],
        cwd=place,
        env=pincite.environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    for _ in range(3):
        child.stdout.readline()
    return child


@pytest.mark.parametrize("content", ["{", '{"pid": 1}', '{"pid": "x", "a": 1}'])
def test_stale_or_broken_note_of_a_stack_is_no_stack(pincite, place, content):
    home = place / "home-stale"
    home.mkdir(exist_ok=True)
    (home / "stack.json").write_text(content, "utf-8")
    assert pincite("status", "--json", home=home).json["stack"] is None


def test_second_process_on_one_lite_folder_is_told_about_up(pincite, place):
    home = place / "home-locked"
    home.mkdir()
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from pymilvus import MilvusClient;"
            f"c = MilvusClient({str(home / 'milvus.db')!r}); print('held', flush=True);"
            "sys.stdin.read()",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == b"held\n"
        ran = pincite("ingest", "notes", "--direct", home=home)
        assert ran.status == 3
        assert ran.err.startswith("STORE_LOCKED")
        assert "pincite up" in ran.err
    finally:
        holder.stdin.close()
        holder.wait(30)
        holder.stdout.close()
