"""What `radrag up` would start: commands, ports, places and the environment children get."""

from pathlib import Path

import pytest

from cli import demo, places, services
from cli.services import Profile
from radrag.settings import Settings


def profile(**environ: str) -> Profile:
    return services.profile(Settings.from_environ(environ), environ)


def test_the_console_has_a_port_only_where_it_is_wanted() -> None:
    def of_gateway(**environ: str) -> list[str]:
        (found,) = (one for one in profile(**environ).services if one.child.name == "gateway")
        return [f"{port.number} {port.purpose}" for port in found.ports]

    assert not any("HTTP" in port for port in of_gateway())
    assert "8080 gateway HTTP" in of_gateway(RADRAG_HTTP_ADDRESS="127.0.0.1:8080")


def test_the_cpu_profile_is_one_model_server_retrieval_gateway_and_ingest() -> None:
    assert [child.name for child in profile().children] == ["triton", "retrieval", "gateway", "ingest"]


def test_the_ports_are_those_of_the_design() -> None:
    numbers = {port.number for service in profile().services for port in service.ports}
    services = {50051, 50052, 50053}
    assert numbers == {8000, 8001, 8002} | {one + above for one in services for above in (0, 100, 200)}


def test_the_model_server_loads_the_models_of_the_three_roles_each_once() -> None:
    settings = Settings(embedder_model="a", reranker_model="b", generator_model="b")
    assert services.models(settings) == ("a", "b")
    command = " ".join(profile().services[0].command)
    assert "--load-model=e5_small --load-model=lexical_late_interaction --load-model=extractive" in command


def test_a_model_server_is_known_by_what_it_keeps_in_shared_memory() -> None:
    """It has the texts of the last requests: what a crash leaves must go with `up` and `down`."""
    service = profile().services[0]
    assert service.child.shared
    assert f"--backend-config=python,shm-region-prefix-name={service.child.shared}" in service.command


def test_roles_with_addresses_of_their_own_are_served_apart() -> None:
    apart = {
        "RADRAG_EMBEDDER_URL": "127.0.0.1:8001",
        "RADRAG_RERANKER_URL": "127.0.0.1:8011",
        "RADRAG_GENERATOR_URL": "127.0.0.1:8021",
    }
    found = profile(**apart)
    assert [child.name for child in found.children][:3] == ["embedder", "reranker", "generator"]
    loaded = [
        [part.removeprefix("--load-model=") for part in service.command if part.startswith("--load-model=")]
        for service in found.services[:3]
    ]
    assert loaded == [["e5_small"], ["lexical_late_interaction"], ["extractive"]]
    numbers = [port.number for service in found.services[:3] for port in service.ports]
    assert sorted(numbers) == [*range(8000, 8003), *range(8010, 8013), *range(8020, 8023)]


@pytest.mark.parametrize("url", ["gpu1.example:8001", "ipv4:10.0.0.1:8001,10.0.0.2:8001"])
def test_a_model_server_elsewhere_is_not_started_here(url: str) -> None:
    found = profile(RADRAG_EMBEDDER_URL=url)
    assert [child.name for child in found.children] == ["reranker", "retrieval", "gateway", "ingest"]


def test_a_generator_with_another_api_needs_no_triton() -> None:
    assert "extractive" not in " ".join(profile(RADRAG_GENERATOR_KIND="openai").services[0].command)


def test_addresses_move_with_their_settings() -> None:
    found = profile(RADRAG_GATEWAY_ADDRESS="0.0.0.0:6000")
    assert [(port.host, port.number) for port in found.services[2].ports] == [
        ("0.0.0.0", 6000),
        ("0.0.0.0", 6100),
        ("0.0.0.0", 6200),
    ]


def test_state_lies_in_the_checkout_by_default_and_the_index_below_the_home_given(tmp_path: Path) -> None:
    assert profile().home == places.ROOT / "var"
    moved = profile(RADRAG_HOME=str(tmp_path))
    environ = moved.services[1].environ
    assert (environ["RADRAG_HOME"], environ["RADRAG_INDEX_PATH"]) == (str(tmp_path), str(tmp_path / "index"))


def test_children_get_nothing_that_bends_them_and_stay_offline() -> None:
    environ = (
        profile(PYTHONPATH="/x", LD_PRELOAD="y.so", PATH="/bin", NO_PROXY="corp", LANG="ru")
        .services[2]
        .environ
    )
    assert not {"PYTHONPATH", "LD_PRELOAD"} & environ.keys()
    assert (environ["LANG"], environ["HF_HUB_OFFLINE"], environ["DO_NOT_TRACK"]) == ("ru", "1", "1")
    assert environ["NO_PROXY"] == "corp,127.0.0.1,localhost,::1"


def test_traces_of_the_model_server_go_where_the_services_send_theirs() -> None:
    command = profile(OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:4318").services[0].command
    assert any("url=http://127.0.0.1:4318/v1/traces" in part for part in command)
    assert not any("trace" in part for part in profile().services[0].command)


@pytest.mark.parametrize("shift", [0, 1000, 13_000])
def test_the_demo_moves_every_port_alike(shift: int) -> None:
    usual = {port.number for service in profile().services for port in service.ports}
    moved = {port.number for service in profile(**demo.moved_up(shift)).services for port in service.ports}
    assert moved == {number + shift for number in usual}
    assert max(moved) < 65_536
