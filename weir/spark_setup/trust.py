"""Convert PEM certificates to a Java trust store: `python trust.py CERTIFICATES STORE PASSWORD`.

A program of its own: `make setup` runs in a Python that lacks `cryptography`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12
from cryptography.x509 import load_pem_x509_certificates


def write_trust_store(certificates: Path, store: Path, password: str) -> None:
    """Write the certificates of a PEM file as a PKCS12 trust store."""
    loaded = load_pem_x509_certificates(certificates.read_bytes())
    entries = [
        pkcs12.PKCS12Certificate(certificate, f"certificate {number}".encode())
        for number, certificate in enumerate(loaded)
    ]
    store.write_bytes(
        pkcs12.serialize_java_truststore(entries, BestAvailableEncryption(password.encode()))
    )


if __name__ == "__main__":
    write_trust_store(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
