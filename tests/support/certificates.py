"""Certificates of a test authority, made when they are needed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Pair = tuple[Path, Path]
"""Files of a certificate and its key (PEM)."""


@dataclass(frozen=True, slots=True)
class Certificates:
    """authority: what a client may trust. good: for localhost and 127.0.0.1."""

    authority: Path
    good: Pair
    other_name: Pair
    self_signed: Pair


def make_certificates(folder: Path) -> Certificates:
    """Write them into `folder`."""
    key = ec.generate_private_key(ec.SECP256R1())
    authority = _certificate("Test authority", key, "Test authority", key, [])
    path = folder / "authority.pem"
    path.write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    here: list[x509.GeneralName] = [
        x509.DNSName("localhost"),
        x509.IPAddress(ip_address("127.0.0.1")),
    ]

    def leaf(name: str, names: list[x509.GeneralName], signed: bool) -> Pair:
        own = ec.generate_private_key(ec.SECP256R1())
        issuer = ("Test authority", key) if signed else (name, own)
        made = _certificate(name, own, *issuer, names)
        files = folder / f"{name}.pem", folder / f"{name}.key"
        files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
        files[1].write_bytes(
            own.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return files

    return Certificates(
        path,
        leaf("good", here, signed=True),
        leaf("other", [x509.DNSName("other.example")], signed=True),
        leaf("self", here, signed=False),
    )


def _certificate(
    subject: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: str,
    issuer_key: ec.EllipticCurvePrivateKey,
    names: list[x509.GeneralName],
) -> x509.Certificate:
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=not names, path_length=None), critical=True)
    )
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(issuer_key, hashes.SHA256())
