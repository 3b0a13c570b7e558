"""What Airflow's list of providers (`airflow providers get weir`) says about the package.

Airflow calls it while Airflow itself is imported: this module must import nothing of it, as the
package `weir.airflow` does.
"""

from __future__ import annotations

from typing import Any


def provider_info() -> dict[str, Any]:
    """The entry `apache_airflow_provider`, by Airflow's schema of providers."""
    return {
        "package-name": "weir",
        "name": "Weir",
        "description": "Keeps the answers of SPARQL queries up to date while an RDF graph changes.",
        "bundles": [
            {"integration-name": "Weir", "python-modules": ["weir.airflow.dag_bundle"]},
        ],
    }
