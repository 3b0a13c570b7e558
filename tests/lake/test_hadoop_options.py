"""Storage options of delta-rs in the words of Hadoop."""

from __future__ import annotations

import pytest

from weir.lake.delta.hadoop_options import hadoop_options, options_of_store

HOST = "box.dfs.core.windows.net"
S3 = {"fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem"}


def test_keys_of_s3_are_those_of_s3a() -> None:
    given = {"AWS_ACCESS_KEY_ID": "id", "aws_secret_access_key": "key", "AWS_SESSION_TOKEN": "t"}
    assert hadoop_options(given, {}) == S3 | {
        "fs.s3a.access.key": "id",
        "fs.s3a.secret.key": "key",
        "fs.s3a.session.token": "t",
    }


def test_addresses_of_s3_are_known_without_any_option() -> None:
    """Credentials may be those of the machine."""
    assert hadoop_options({}, {}) == S3


def test_an_endpoint_without_tls_has_its_buckets_in_paths() -> None:
    given = {"AWS_ENDPOINT_URL": "http://store:9000", "AWS_ALLOW_HTTP": "true"}
    assert hadoop_options(given, {}) == S3 | {
        "fs.s3a.endpoint": "http://store:9000",
        "fs.s3a.path.style.access": "true",
        "fs.s3a.connection.ssl.enabled": "false",
    }


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            {"AZURE_STORAGE_ACCOUNT_KEY": "key"},
            {"account.auth.type": "SharedKey", "account.key": "key"},
        ),
        (
            {"AZURE_STORAGE_SAS_TOKEN": "?sig=x"},
            {"account.auth.type": "SAS", "sas.fixed.token": "sig=x"},
        ),
        (
            {"AZURE_CLIENT_ID": "c", "AZURE_CLIENT_SECRET": "s", "AZURE_TENANT_ID": "t"},
            {
                "account.auth.type": "OAuth",
                "account.oauth.provider.type": (
                    "org.apache.hadoop.fs.azurebfs.oauth2.ClientCredsTokenProvider"
                ),
                "account.oauth2.client.id": "c",
                "account.oauth2.client.secret": "s",
                "account.oauth2.client.endpoint": (
                    "https://login.microsoftonline.com/t/oauth2/token"
                ),
            },
        ),
    ],
)
def test_options_of_azure_are_those_of_the_account(
    given: dict[str, str], expected: dict[str, str]
) -> None:
    options = hadoop_options({"AZURE_STORAGE_ACCOUNT_NAME": "box", **given}, {})
    assert options == S3 | {f"fs.azure.{key}.{HOST}": value for key, value in expected.items()}


def test_a_service_account_of_google_is_the_file_of_its_key() -> None:
    assert hadoop_options({"GOOGLE_SERVICE_ACCOUNT": "/keys/a.json"}, {}) == S3 | {
        "fs.gs.auth.type": "SERVICE_ACCOUNT_JSON_KEYFILE",
        "fs.gs.auth.service.account.json.keyfile": "/keys/a.json",
    }


def test_options_precede_the_environment() -> None:
    environment = {"AWS_ACCESS_KEY_ID": "other", "AWS_SECRET_ACCESS_KEY": "key", "PATH": "/bin"}
    assert hadoop_options({"access_key_id": "id"}, environment) == S3 | {
        "fs.s3a.access.key": "id",
        "fs.s3a.secret.key": "key",
    }


def test_processes_elsewhere_get_what_the_environment_says_of_the_store_and_nothing_else() -> None:
    environment = {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_ENDPOINT_URL": "http://store",
        "AWS_ALLOW_HTTP": "true",
        "AWS_PROFILE": "of this machine",
        "GOOGLE_SERVICE_ACCOUNT": "/file/of/this/machine.json",
        "PATH": "/bin",
    }
    options = options_of_store({"aws_endpoint_url": "http://declared"}, environment)
    assert options == {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_ALLOW_HTTP": "true",
        "aws_endpoint_url": "http://declared",
    }
