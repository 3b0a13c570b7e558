"""Storage options of delta-rs for the processes of Spark, which lack the environment of this one.

The JVM gets them as options of Hadoop, Python as they are.

Names of delta-rs, regardless of case: https://docs.rs/object_store (`AmazonS3ConfigKey`,
`AzureConfigKey`, `GoogleConfigKey`). Names of Hadoop: the pages of `hadoop-aws`, of `hadoop-azure`
and of Google's connector.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

_S3 = {
    "fs.s3a.access.key": ("aws_access_key_id", "access_key_id"),
    "fs.s3a.secret.key": ("aws_secret_access_key", "secret_access_key"),
    "fs.s3a.session.token": ("aws_session_token", "aws_token", "session_token"),
    "fs.s3a.endpoint": ("aws_endpoint_url", "aws_endpoint", "endpoint_url", "endpoint"),
    "fs.s3a.endpoint.region": ("aws_region", "aws_default_region", "region", "default_region"),
}
_S3_ALWAYS = {
    # Hadoop alone calls it s3a://. Credentials may be those of the machine, without any option.
    "fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
}
_ACCOUNT = ("azure_storage_account_name", "account_name")
_ACCOUNT_KEY = (
    "azure_storage_account_key",
    "azure_storage_access_key",
    "azure_storage_master_key",
    "account_key",
    "access_key",
    "master_key",
)
_SAS = ("azure_storage_sas_token", "azure_storage_sas_key", "sas_token", "sas_key")
_CLIENT = ("azure_storage_client_id", "azure_client_id", "client_id")
_CLIENT_SECRET = ("azure_storage_client_secret", "azure_client_secret", "client_secret")
_TENANT = (
    "azure_storage_tenant_id",
    "azure_storage_authority_id",
    "azure_tenant_id",
    "azure_authority_id",
    "tenant_id",
    "authority_id",
)
_SERVICE_ACCOUNT = (
    "google_service_account",
    "google_service_account_path",
    "google_application_credentials",
    "service_account",
    "service_account_path",
)
_OF_ENVIRONMENT = ("aws_", "azure_", "google_")
_FORMS = ("aws_allow_http", "aws_virtual_hosted_style_request", "aws_skip_signature")
_SENT = frozenset(
    name
    for names in (
        *_S3.values(),
        _ACCOUNT,
        _ACCOUNT_KEY,
        _SAS,
        _CLIENT,
        _CLIENT_SECRET,
        _TENANT,
        _FORMS,
    )
    for name in names
    if name.startswith(_OF_ENVIRONMENT)
)
"""The variables that say how a store is reached, wherever a process runs."""
_Sources: TypeAlias = tuple[Mapping[str, str], Mapping[str, str]]
"""The storage options and the environment variables, by names in lower case."""


def options_of_store(
    storage_options: Mapping[str, str], environment: Mapping[str, str]
) -> dict[str, str]:
    """The storage options, and what the environment has beside them for reaching the store.

    Other variables, and files that they name, mean this machine.

    Args:
        storage_options: of delta-rs.
        environment: variables that delta-rs reads too; storage options win over them.
    """
    sent = {name for name in environment if name.lower() in _SENT}
    given = {name.lower() for name in storage_options}
    missing = {name: environment[name] for name in sorted(sent) if name.lower() not in given}
    return {**missing, **storage_options}


def hadoop_options(
    storage_options: Mapping[str, str], environment: Mapping[str, str]
) -> dict[str, str]:
    """The options of Hadoop for the store that delta-rs opens by some storage options.

    Of a Google service account only the key file is passed on, not a key as text.

    Args:
        storage_options: of delta-rs.
        environment: variables that delta-rs reads too; storage options win over them.
    """
    variables = {
        name.lower(): value
        for name, value in environment.items()
        if name.lower().startswith(_OF_ENVIRONMENT)
    }
    sources = ({name.lower(): value for name, value in storage_options.items()}, variables)
    return {**_of_s3(sources), **_of_azure(sources), **_of_google(sources)}


def _of_s3(sources: _Sources) -> dict[str, str]:
    options = {key: value for key, names in _S3.items() if (value := _first(sources, names))}
    endpoint = options.get("fs.s3a.endpoint", "")
    if endpoint:
        # Like delta-rs: a store with its own endpoint has bucket names in paths.
        in_host = _first(sources, ("aws_virtual_hosted_style_request",)).lower() == "true"
        options["fs.s3a.path.style.access"] = str(not in_host).lower()
        is_plain = endpoint.startswith("http://")
        options["fs.s3a.connection.ssl.enabled"] = str(not is_plain).lower()
    if _first(sources, ("aws_skip_signature", "skip_signature")).lower() == "true":
        anonymous = "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider"
        options["fs.s3a.aws.credentials.provider"] = anonymous
    return {**_S3_ALWAYS, **options}


def _of_azure(sources: _Sources) -> dict[str, str]:
    account = _first(sources, _ACCOUNT)
    if not account:
        return {}
    host = f"{account}.dfs.core.windows.net"
    if key := _first(sources, _ACCOUNT_KEY):
        options = {"fs.azure.account.auth.type": "SharedKey", "fs.azure.account.key": key}
    elif sas := _first(sources, _SAS):
        options = {
            "fs.azure.account.auth.type": "SAS",
            "fs.azure.sas.fixed.token": sas.removeprefix("?"),
        }
    elif (client := _first(sources, _CLIENT)) and (tenant := _first(sources, _TENANT)):
        provider = "org.apache.hadoop.fs.azurebfs.oauth2.ClientCredsTokenProvider"
        options = {
            "fs.azure.account.auth.type": "OAuth",
            "fs.azure.account.oauth.provider.type": provider,
            "fs.azure.account.oauth2.client.id": client,
            "fs.azure.account.oauth2.client.secret": _first(sources, _CLIENT_SECRET),
            "fs.azure.account.oauth2.client.endpoint": (
                f"https://login.microsoftonline.com/{tenant}/oauth2/token"
            ),
        }
    else:
        return {}
    return {f"{key}.{host}": value for key, value in options.items()}


def _of_google(sources: _Sources) -> dict[str, str]:
    file = _first(sources, _SERVICE_ACCOUNT)
    if not file:
        return {}
    return {
        "fs.gs.auth.type": "SERVICE_ACCOUNT_JSON_KEYFILE",
        "fs.gs.auth.service.account.json.keyfile": file,
    }


def _first(sources: _Sources, names: tuple[str, ...]) -> str:
    """The value of the first of `names` that has one; empty if none has."""
    return next((source[name] for source in sources for name in names if source.get(name)), "")
