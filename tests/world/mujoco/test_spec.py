import copy

import pytest

from handrail.errors import DomainError
from handrail.world.mujoco.scene import EMPTY
from handrail.world.mujoco.spec import read_physical


@pytest.fixture
def plain(spec):
    return spec.model_dump(mode="json")


def test_round_trip(spec, plain):
    assert read_physical(plain) == spec


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d["items"]["mug"].update(on="cuonter"), "Did you mean 'counter'"),
        (lambda d: d["items"]["mug"].update(mass=-1), "items.mug.mass"),
        (lambda d: d["items"]["mug"].update(mass=float("nan")), "items.mug.mass"),
        (lambda d: d["items"]["mug"].update(weight=1), "items.mug.weight"),
        (lambda d: d["robots"]["robot_1"].update(profile="tal"), "Did you mean 'tall'"),
        (lambda d: d["robots"].update(second=d["robots"]["robot_1"]), "exactly one robot"),
        (lambda d: d["items"]["mug"]["content"].update(ml=9999), "does not fit"),
        (lambda d: d["items"]["mug"].update(looks_like=["mugg"]), "mugg"),
        (lambda d: d["fixtures"]["shelf"].update(levels={"table": 1.0}), "used twice"),
        (lambda d: (d["items"].clear(), d["fixtures"]["shelf"].update(levels={})), "needs levels"),
        (lambda d: d["doorways"][0].update(between=["kitchen", "cellar"]), "cellar"),
        (lambda d: d.update(timestep=0.1), "timestep"),
    ],
)
def test_mistakes_are_named(plain, change, said):
    data = copy.deepcopy(plain)
    change(data)
    with pytest.raises(DomainError, match=said):
        read_physical(data)


def test_places_are_fixtures_shelf_boards_and_people(spec):
    places = spec.places()
    assert {"counter", "shelf_low", "shelf_high", "person_1"} <= set(places)
    assert "shelf" not in places and "sofa" not in places


def test_the_smallest_scene_compiles():
    from handrail.world.mujoco.scene import Scene

    assert Scene.compile(EMPTY).model.nq > 0


def test_symbols_and_physics_name_the_same_things(spec, evening):
    objects = evening.objects
    assert set(objects.of("item")) == set(spec.items)
    assert set(objects.of("place")) | set(objects.of("person")) == set(spec.places())
    for item, body in spec.items.items():
        assert evening.get(("on", item)) == body.on
