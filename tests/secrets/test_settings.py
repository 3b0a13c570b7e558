"""Secrets in the settings: where they are refused, hidden or warned about."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.errors import ConfigurationError
from weir.settings import Settings
from weir.text.secret_keys import is_secret, secret_settings
from weir.text.secret_values import hide, without_secrets

CANARY = "canary-91b7-not-a-real-key"
SECRET = f'[storage_options]\nAWS_SECRET_ACCESS_KEY = "{CANARY}"\n'


def project(folder: Path, text: str, mode: int = 0o600) -> Path:
    file = folder / "weir.toml"
    file.write_text(text)
    file.chmod(mode)
    return file


@pytest.mark.parametrize(
    "key",
    [
        "spark.hadoop.fs.s3a.access.key",
        "spark.hadoop.fs.s3a.bucket.x.secret.key",
        "spark.hadoop.fs.s3a.session.token",
        "spark.hadoop.FS.AZURE.Account.Key.x.dfs.core.windows.net",
        "spark.hadoop.fs.azure.account.oauth2.client.secret",
        "spark.hadoop.fs.azure.sas.box.x.blob.core.windows.net",
        "spark.hadoop.fs.gs.auth.service.account.private.key",
        "spark.ssl.keyPassword",
        "spark.executorEnv.AWS_SECRET_ACCESS_KEY",
        "spark.executorEnv.WEIR_STORAGE_OPTIONS",
        "azure_storage_sas_key",
    ],
)
def test_a_key_of_a_secret_is_known_by_its_name(key: str) -> None:
    assert is_secret(key)


@pytest.mark.parametrize(
    "key",
    [
        "spark.driver.extraJavaOptions",
        "spark.hadoop.fs.s3a.endpoint",
        "spark.hadoop.fs.s3a.aws.credentials.provider",
        "spark.hadoop.fs.azure.sas.token.provider.type.x",
        "spark.kubernetes.authenticate.oauthTokenFile",
        "spark.kubernetes.driver.secrets.name",
        "aws_web_identity_token_file",
    ],
)
def test_a_key_of_something_else_is_no_secret(key: str) -> None:
    assert not is_secret(key)


@pytest.mark.parametrize(
    "value", [f"-Xmx1g -Dfs.s3a.secret.key={CANARY}", f"https://user:{CANARY}@host/repository"]
)
def test_a_secret_within_the_value_of_a_setting_is_found(value: str) -> None:
    assert secret_settings({"spark.some.setting": value}) == ["spark.some.setting"]


def refusal(file: Path) -> str:
    with pytest.raises(ConfigurationError) as refused:
        Settings.load(file)
    return str(refused.value)


def test_a_secret_for_spark_is_refused_by_its_key(tmp_path: Path) -> None:
    text = f'[spark.conf]\n"spark.hadoop.fs.s3a.secret.key" = "{CANARY}"\n'
    message = refusal(project(tmp_path, text))
    assert "spark.hadoop.fs.s3a.secret.key" in message
    assert "WEIR_STORAGE_OPTIONS" in message


def test_a_secret_for_spark_from_the_environment_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEIR_SPARK__CONF", f'{{"spark.my.password": "{CANARY}"}}')
    assert "spark.my.password" in refusal(project(tmp_path, ""))


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        (f'[spark.conf]\n"spark.my.password" = "{CANARY}"\n', {}),
        (f'storage_options = "{CANARY}"\n', {}),
        (f'[storage_options]\nAWS_SECRET_ACCESS_KEY = ["{CANARY}"]\n', {}),
        (f'[storage_options]\nAWS_SECRET_ACCESS_KEY = "{CANARY}\n', {}),
        ("", {"WEIR_STORAGE_OPTIONS": CANARY}),
    ],
)
def test_the_message_of_a_wrong_setting_does_not_quote_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, variables: dict[str, str]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert CANARY not in refusal(project(tmp_path, text))


def test_settings_do_not_show_their_storage_options(tmp_path: Path) -> None:
    assert CANARY not in repr(Settings.load(project(tmp_path, SECRET)))


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_file_with_a_secret_that_others_can_read_is_warned_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], mode: int
) -> None:
    file = project(tmp_path, SECRET, mode)
    Settings.load(file)
    printed = capsys.readouterr().err
    assert printed.startswith("warning: ")
    assert f"`chmod 600 {file}`" in printed


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        (SECRET, 0o600),
        ('[storage_options]\nAWS_REGION = "eu-west-1"\n', 0o644),
        ("", 0o644),
    ],
)
def test_a_file_that_shows_no_secret_is_not_warned_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, mode: int
) -> None:
    Settings.load(project(tmp_path, text, mode))
    assert capsys.readouterr().err == ""


def test_the_signature_of_a_shared_access_signature_is_hidden_by_itself() -> None:
    hide(["sv=2024&sp=r&sig=canary%2Fsignature%3D"])
    assert without_secrets("sig is canary/signature=, see there") == "sig is [secret], see there"


def test_a_word_that_is_a_secret_is_not_hidden_in_longer_names() -> None:
    hide(["weir"])
    text = """{"weir_idle": 1, 'weir-wd': 2, "key": "weir"}"""
    assert without_secrets(text) == """{"weir_idle": 1, 'weir-wd': 2, "key": "[secret]"}"""
