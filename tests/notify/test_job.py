"""`weir.jobs.notify_channels`, the program that Airflow runs."""

from __future__ import annotations

from pathlib import Path

import pytest

import weir
from weir.cli import main as command
from weir.jobs.notify_channels import main


def test_what_is_not_delivered_is_a_warning_and_no_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(["init", str(tmp_path)]) == 0
    config = tmp_path / "weir.toml"
    config.write_text(config.read_text() + '[notify.desk]\ncommand = ["false"]\n')
    versions = tmp_path / "data/versions"
    with weir.Project(tmp_path) as project:
        project.run()
        (versions / "002.ttl").write_text((versions / "001.ttl").read_text().replace('"1"', '"3"'))
        project.run()
    capsys.readouterr()
    assert main(["--config", str(config)]) == 0
    assert "warning: notify desk: the command ended with 1" in capsys.readouterr().err
