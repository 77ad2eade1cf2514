"""RadRAG and Qdrant as one release: what joins the two charts.

Qdrant's own chart comes from its repository, which no test reaches: a stand-in of its name and version takes
its place, whose service is called as the real one's is (fullnameOverride).
"""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.places import ROOT
from tests.deploy import chart

HELM = ROOT / "deploy" / "helm"
WANTED = {
    one["name"]: one for one in yaml.safe_load((HELM / "cluster" / "Chart.yaml").read_text())["dependencies"]
}
SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: {{ .Values.fullnameOverride }}, labels: {app.kubernetes.io/name: qdrant}}
spec: {ports: [{name: http, port: 6333}]}
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The chart with its dependencies in place."""
    folder = tmp_path_factory.mktemp("charts")
    for name in ("radrag", "cluster"):
        shutil.copytree(HELM / name, folder / name, ignore=shutil.ignore_patterns("charts", "Chart.lock"))
    (folder / "qdrant" / "templates").mkdir(parents=True)
    (folder / "qdrant" / "templates" / "service.yaml").write_text(SERVICE)
    about = {"apiVersion": "v2", "name": "qdrant", "version": WANTED["qdrant"]["version"]}
    (folder / "qdrant" / "Chart.yaml").write_text(yaml.safe_dump(about))
    said = folder / "cluster" / "Chart.yaml"
    said.write_text(said.read_text().replace(WANTED["qdrant"]["repository"], "file://../qdrant"))
    done = chart.helm("dependency", "update", str(folder / "cluster"))
    assert done.returncode == 0, done.stderr
    return folder / "cluster"


def below_radrag(folder: Path) -> Path:
    """A set of values as the operations guide's own line makes it."""
    guide = (ROOT / "deploy" / "README.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^    \$ (\{ echo radrag:.*> )cluster\.yaml$", guide, re.MULTILINE)
    made = folder / "cluster.yaml"
    subprocess.run(["sh", "-euc", f"{line}'{made}'"], cwd=ROOT, check=True)
    return made


def rendered(cluster: Path, values: Path) -> list[dict[str, Any]]:
    done = chart.helm("template", "radrag", str(cluster), "--namespace", "radrag", "--values", str(values))
    assert done.returncode == 0, done.stderr
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def test_retrieval_dials_the_service_of_qdrants_chart(cluster: Path, tmp_path: Path) -> None:
    found = rendered(cluster, below_radrag(tmp_path))
    named = {(one["kind"], one["metadata"]["name"]): one for one in found}
    retrieval = named["Deployment", "radrag-retrieval"]["spec"]["template"]["spec"]["containers"][0]
    given = chart.environ(retrieval)
    host, port = given["RADRAG_QDRANT_URL"].removeprefix("http://").split(":")
    assert named["Service", host]["spec"]["ports"][0]["port"] == int(port)
    assert int(given["RADRAG_QDRANT_REPLICAS"]) == 2
    assert {("Deployment", f"radrag-{role}") for role in ("gateway", "ingest", "embedder")} <= named.keys()


def test_the_cluster_outlives_a_peer_and_both_read_one_key() -> None:
    said = yaml.safe_load((HELM / "cluster" / "values.yaml").read_text())
    ours, theirs = said["radrag"]["store"]["qdrant"], said["qdrant"]
    assert theirs["config"]["cluster"]["enabled"]
    assert theirs["replicaCount"] > ours["replicas"] > 1
    assert ours["shards"] % theirs["replicaCount"] == 0
    assert theirs["apiKey"]["valueFrom"]["secretKeyRef"] == {"name": ours["apiKeySecret"], "key": "api-key"}
    (spread,) = theirs["topologySpreadConstraints"]
    assert spread["labelSelector"], "without one it counts no pods"


def test_the_versions_are_those_of_what_else_names_them() -> None:
    own = yaml.safe_load((HELM / "radrag" / "Chart.yaml").read_text())
    assert WANTED["radrag"]["version"] == own["version"]
    layer = yaml.safe_load((ROOT / "deploy" / "compose.gpu.yaml").read_text())
    assert (
        layer["services"]["qdrant"]["image"] == f"qdrant/qdrant:v{WANTED['qdrant']['version']}-unprivileged"
    )
