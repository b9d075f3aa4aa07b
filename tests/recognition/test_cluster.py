"""Lessons on a real cluster of processes: the same model as on one machine, whoever dies."""

import contextlib
import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import distributed
from newfound import InputError, Recogniser
from newfound.common.errors import ClusterError
from newfound.recognition import chunks, remote, sources
from newfound.recognition.beginning import USUAL, Beginning
from newfound.recognition.cluster import connected
from newfound.recognition.lesson import BLOCK, Lesson
from tests.command_line import write_pictures, write_rows
from tests.covering import first_of
from tests.recognition.watched import DIE, WAIT, Watched, waiting, write_plain
from tests.tree import PYTHONPATH

pytestmark = pytest.mark.slow

THINGS = ("cup", "jug", "mug", "pot")


@pytest.fixture
def client(local_cluster: Any) -> Any:
    return local_cluster


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    for number, thing in enumerate(THINGS):
        write_pictures(tmp_path / "photos" / thing, number, range(50))
    return tmp_path / "photos"


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven images each, so that few images make many chunks."""
    monkeypatch.setattr(remote, "CHUNK", 7)


def taught_there(
    client: Any, recogniser: Recogniser, *inputs: Any, again: bool = False, label: Any = None
) -> Lesson:
    found, lesson = sources.find(inputs, label), Lesson(recogniser, again)
    steps = sum(1 for _ in remote.teach(lesson, found, client))
    assert steps == len(found)
    lesson.finish()
    return lesson


def taught_here(*inputs: Any, size: int = 8, again: bool = False, **options: Any) -> Recogniser:
    recogniser = Recogniser(extractor=f"pixels:size={size}", **options)
    lesson = Lesson(recogniser, again)
    for _ in lesson.run(sources.find(inputs)):
        pass
    lesson.finish()
    return recogniser


def assert_same(one: Recogniser, other: Recogniser) -> None:
    """Both know the same classes, counts and images; their sums are the same to the last bit."""
    assert list(one.counts.items()) == list(other.counts.items())
    assert one.taught.digests == other.taught.digests
    assert len(one.taught) == sum(one.counts.values())
    assert one.identity == other.identity
    sums, others = one.model.learner_.to_state().sums, other.model.learner_.to_state().sums
    assert sums.labels.tolist() == others.labels.tolist()
    assert sums.dtype == others.dtype
    np.testing.assert_array_equal(sums.gram, others.gram)
    np.testing.assert_array_equal(sums.cross, others.cross)
    np.testing.assert_array_equal(one.model.witnesses_[0], other.model.witnesses_[0])
    assert one.model.penalty_ == other.model.penalty_


@pytest.mark.parametrize("beginning", [USUAL, Beginning(False), Beginning(layer=True)])
def test_a_cluster_makes_the_model_of_one_machine(
    photos: Path, client: Any, beginning: Beginning
) -> None:
    there = Recogniser(extractor="pixels:size=8", **beginning._asdict())
    lesson = taught_there(client, there, photos)
    assert lesson.report == (200, 0, [])
    assert there.holds_class_sums == beginning.class_sums
    assert (there.knowledge.learner.settings.layer is not None) == beginning.layer
    assert_same(there, taught_here(photos, **beginning._asdict()))


@pytest.mark.parametrize("size", [8, 12])  # so that sums are matrices, or rows
def test_the_file_is_the_same_to_the_last_byte(
    photos: Path, client: Any, tmp_path: Path, size: int
) -> None:
    there = Recogniser(extractor=f"pixels:size={size}")
    taught_there(client, there, photos)
    there.save(tmp_path / "there")
    taught_here(photos, size=size).save(tmp_path / "here")
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()


def test_what_comes_slowly_is_waited_for(
    photos: Path, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "LOOK_UP", 1e-4)  # beside which all is slow
    assert taught_there(client, Recogniser(extractor="pixels:size=8"), photos).taught == 200


def test_a_recogniser_teaches_on_a_cluster(photos: Path, client: Any) -> None:
    recogniser = Recogniser(extractor="pixels:size=8")
    report = recogniser.teach(photos, cluster=client.scheduler.address)
    assert (report.taught, report.known) == (200, 0)
    assert recogniser.teach(photos, cluster=client.scheduler.address).known == 200


def test_what_cannot_be_read_is_listed_in_order_with_its_reason(photos: Path, client: Any) -> None:
    (photos / "cup" / "010.png").write_bytes(b"")
    (photos / "mug" / "020.png").write_bytes(b"no image")
    (photos / "pot" / "030.png").unlink()
    os.mkfifo(photos / "pot" / "030.png")
    (photos / "pot" / "040.png").unlink()
    (photos / "pot" / "040.png").symlink_to("nowhere")
    there, here = Recogniser(extractor="pixels:size=8"), Recogniser(extractor="pixels:size=8")
    lesson = taught_there(client, there, photos)
    assert lesson.problems == here.teach(photos).problems
    assert [Path(name).name for name, _ in lesson.problems] == [
        f"{number}.png" for number in ("010", "020", "030", "040")
    ]
    assert sum(there.counts.values()) == 196


def test_copies_are_one_image_wherever_they_lie(photos: Path, client: Any) -> None:
    shutil.copy(photos / "cup" / "000.png", photos / "cup" / "001 copy.png")  # in its chunk
    shutil.copy(photos / "cup" / "000.png", photos / "cup" / "049 copy.png")  # in a later chunk
    shutil.copytree(photos / "jug", photos / "cup" / "jugs")  # under another label: other examples
    (photos / "mug" / "more").mkdir()
    for number in range(50):
        shutil.copy(photos / "mug" / f"{number:03}.png", photos / "mug" / "more")
    there = Recogniser(extractor="pixels:size=8")
    lesson = taught_there(client, there, photos)
    assert (lesson.taught, lesson.known) == (250, 52)
    assert there.counts == {"cup": 100, "jug": 50, "mug": 50, "pot": 50}
    assert_same(there, taught_here(photos))


def test_again_teaches_copies_and_what_is_known(photos: Path, client: Any) -> None:
    # No more of a class than there are witnesses: of others, equal ones are counted once kept.
    for path in photos.glob("*/0[34]*.png"):
        path.unlink()
    shutil.copy(photos / "cup" / "000.png", photos / "cup" / "049 copy.png")
    there, here = Recogniser(extractor="pixels:size=8"), Recogniser(extractor="pixels:size=8")
    for _ in range(2):
        assert taught_there(client, there, photos, again=True).taught == 121
        here.teach(photos, again=True)
    here.refresh()
    assert_same(there, here)


def test_what_was_taught_before_is_skipped_and_the_rest_is_learned(
    photos: Path, client: Any
) -> None:
    there = Recogniser(extractor="pixels:size=8")
    there.teach([photos / "jug"], "jug")
    there.teach([photos / "mug" / f"{number:03}.png" for number in range(0, 50, 2)], "mug")
    lesson = taught_there(client, there, photos)
    assert (lesson.taught, lesson.known) == (125, 75)
    assert there.taught.digests == taught_here(photos).taught.digests
    assert taught_there(client, there, photos).report == (0, 200, [])


def test_a_lesson_broken_off_between_blocks_goes_on(photos: Path, client: Any) -> None:
    for steps in (30, 60, 150):
        there = Recogniser(extractor="pixels:size=8")
        lesson = Lesson(there)
        for _ in itertools.islice(remote.teach(lesson, sources.find([photos]), client), steps):
            pass
        assert sum(there.counts.values()) == len(there.taught) == lesson.taught <= steps
        assert lesson.taught % BLOCK == 0
        taught_there(client, there, photos)
        assert_same(there, taught_here(photos))


@pytest.mark.parametrize("kills", [1, 3])
def test_workers_that_are_killed_lose_nothing_and_count_nothing_twice(
    photos: Path, client: Any, tmp_path: Path, kills: int
) -> None:
    for number, thing in enumerate(THINGS):
        write_plain(photos / thing / "025 wait.png", WAIT, number)
    (tmp_path / "hold").touch()
    killed = []

    def kill() -> None:
        for process in itertools.islice(waiting(tmp_path), kills):
            os.kill(process, signal.SIGKILL)
            killed.append(process)
        (tmp_path / "hold").unlink()

    killer = threading.Thread(target=kill)
    killer.start()
    there = Recogniser(extractor=Watched(tmp_path))
    lesson = taught_there(client, there, photos)
    killer.join()
    assert len(set(killed)) == kills
    assert lesson.report == (204, 0, [])
    assert there.counts == dict.fromkeys(THINGS, 51)
    assert_same(there, taught_here(photos))


def test_all_workers_may_be_killed_between_looking_and_being_asked(
    photos: Path, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, killed = remote.RemoteExamples._result, list[int]()  # noqa: SLF001 - where the moment is

    def kill_first(self: Any, future: Any) -> Any:
        if len(killed) < 4 and self.lesson.taught:
            wait_for(future)  # what is asked for has been made, and is where it was made
            for process in client.run(os.getpid).values():
                os.kill(process, signal.SIGKILL)
                killed.append(process)
        return result(self, future)

    monkeypatch.setattr(remote.RemoteExamples, "_result", kill_first)
    there = Recogniser(extractor="pixels:size=8")
    assert taught_there(client, there, photos).taught == 200
    assert len(set(killed)) >= 4
    assert_same(there, taught_here(photos))


def wait_for(future: Any) -> None:
    """Wait until a worker has done what is asked of it."""
    wait: Any = distributed.wait
    with future.client.as_current():
        wait([future], timeout=60)


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """A scheduler and two workers whom nobody starts again, each a process of its own."""
    monkeypatch.setattr("newfound.recognition.cluster.PATIENCE", 3.0)
    connect: Any = distributed.Client
    script = "from distributed.cli.{0} import main; main()"
    with contextlib.ExitStack() as stack, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        address = f"tcp://127.0.0.1:{port}"

        def start(kind: str, *words: str) -> Any:
            command = [sys.executable, "-c", script.format(f"dask_{kind}"), *words]
            process = subprocess.Popen(
                [*command, "--no-dashboard"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": PYTHONPATH},
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        scheduler = start("scheduler", "--host", "127.0.0.1", "--port", str(port))
        some = [start("worker", address, "--no-nanny", "--nthreads", "1") for _ in range(2)]
        with connect(address, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
        yield [address, scheduler, *some]


@pytest.mark.parametrize(
    ("who", "moment"),
    first_of(
        [("workers", "_result")]
        + [("scheduler", moment) for moment in ("_result", "_most_ahead", "_submit", "_alone")]
    ),
)
def test_who_dies_for_good_ends_the_lesson_and_what_was_learned_is_kept(
    photos: Path, workers: list[Any], monkeypatch: pytest.MonkeyPatch, who: str, moment: str
) -> None:
    monkeypatch.setattr(remote, "LOOK_UP", 0.0001 if moment == "_alone" else 0.2)
    monkeypatch.setattr(remote, "ALONE", 1.0)
    address, scheduler, *some = workers
    method, dead = getattr(remote.RemoteExamples, moment), list[Any]()

    def kill_first(self: Any, *given: Any, **options: Any) -> Any:
        if not dead and self.lesson.taught:
            if moment == "_result":  # what is asked for has been made, and is where it was made
                wait_for(given[0])
            dead.extend(some if who == "workers" else [scheduler])
            for process in dead:
                process.kill()
                process.wait()
        return method(self, *given, **options)

    monkeypatch.setattr(remote.RemoteExamples, moment, kill_first)
    said = "has had no workers for 1 s" if who == "workers" else "the cluster is gone"
    there = Recogniser(extractor="pixels:size=8")
    lesson = Lesson(there)
    with (
        pytest.raises(ClusterError, match=f"{said}.*what was learned is kept"),
        connected(address) as client,
    ):
        for _ in remote.teach(lesson, sources.find([photos]), client):
            pass
    assert dead
    assert sum(there.counts.values()) == len(there.taught) == lesson.taught > 0


def test_a_file_that_kills_its_workers_is_named_and_the_rest_is_kept(
    photos: Path, client: Any, tmp_path: Path
) -> None:
    write_plain(photos / "mug" / "049 die.png", DIE)
    there = Recogniser(extractor=Watched(tmp_path))
    lesson = Lesson(there)
    with pytest.raises(ClusterError, match=r"4 workers died.*can be gone on with") as caught:
        for _ in remote.teach(lesson, sources.find([photos]), client):
            pass
    named = str(caught.value).splitlines()[1:]
    assert str(photos / "mug" / "049 die.png") in named
    assert len(named) == 7
    assert sum(there.counts.values()) == len(there.taught) == lesson.taught
    assert lesson.taught >= 56  # what comes before, but for what was not looked at yet
    (photos / "mug" / "049 die.png").unlink()
    taught_there(client, there, photos)
    assert_same(there, taught_here(photos))


def test_which_worker_was_faster_decides_nothing(photos: Path, client: Any, tmp_path: Path) -> None:
    client.wait_for_workers(2, timeout=60)
    write_plain(photos / "cup" / "000 wait.png", WAIT)
    files = []
    for is_held in (True, False):  # one worker stands still over the first image, or none does
        folder = tmp_path / str(is_held)
        folder.mkdir()

        def release(folder: Path = folder) -> None:
            next(waiting(folder))
            while len(list(folder.glob("*.done"))) < 5:  # what others looked at meanwhile
                time.sleep(0.01)
            (folder / "hold").unlink()

        there = Recogniser(extractor=Watched(folder))
        if is_held:
            (folder / "hold").touch()
            thread = threading.Thread(target=release)
            thread.start()
        taught_there(client, there, photos)
        assert there.counts == {"cup": 51, "jug": 50, "mug": 50, "pot": 50}
        there.save(tmp_path / f"{is_held}.newfound")
        files.append((tmp_path / f"{is_held}.newfound").read_bytes())
    assert files[0] == files[1]


def test_vectors_are_taught_here_and_images_there(photos: Path, client: Any) -> None:
    write_rows(photos.parent / "rows.npz", ["cup", "urn", "urn", "cup"], width=64)
    inputs = photos.parent / "rows.npz", photos
    there = Recogniser(extractor="pixels:size=8")
    lesson = taught_there(client, there, *inputs)
    assert lesson.taught == 204
    assert_same(there, taught_here(*inputs))


def test_labels_of_another_type_are_refused_before_any_work(photos: Path, client: Any) -> None:
    there = Recogniser(extractor="pixels:size=8")
    there.teach_vectors(np.eye(64)[:2], [1, 2])
    with pytest.raises(InputError, match="labels are numbers, but 'cup'"):
        taught_there(client, there, photos)
    assert there.counts == {1: 1, 2: 1}


def test_labels_are_matched_by_what_they_are_called(photos: Path, client: Any) -> None:
    there = Recogniser(extractor="pixels:size=8")
    there.teach_vectors(np.eye(64)[:2], [1, 2])
    (photos / "cup").rename(photos / "2")
    taught_there(client, there, photos / "2")
    assert there.counts == {1: 1, 2: 51}


def test_a_network_in_a_file_is_sent_along(
    photos: Path, client: Any, tmp_path: Path, network: Callable[[Path], None]
) -> None:
    for path in sorted(photos.glob("*/*.png")):
        with Image.open(path) as image:
            image.resize((20, 20)).save(path)
    network(tmp_path / "tiny.onnx")
    there = Recogniser(extractor=str(tmp_path / "tiny.onnx"))
    assert there.extractor.width
    here = Recogniser(extractor=str(tmp_path / "tiny.onnx"))
    here.teach(photos)
    here.refresh()
    taught_there(client, there, photos)
    assert_same(there, here)


@pytest.fixture
def network() -> Callable[[Path], None]:
    """A function that writes a network: the mean of each channel."""
    onnx = pytest.importorskip("onnx")

    def write(path: Path) -> None:
        make = onnx.helper.make_tensor_value_info
        shape = [None, 3, 8, 8]
        graph = onnx.helper.make_graph(
            [onnx.helper.make_node("Flatten", ["image"], ["flat"])],
            "tiny",
            [make("image", onnx.TensorProto.FLOAT, shape)],
            [make("flat", onnx.TensorProto.FLOAT, [None, 192])],
        )
        versions = {"opset_imports": [onnx.helper.make_opsetid("", 13)], "ir_version": 8}
        onnx.save(onnx.helper.make_model(graph, **versions), path)

    return write


def test_images_in_an_archive_at_an_address(photos: Path, client: Any) -> None:
    with zipfile.ZipFile(photos.parent / "photos.zip", "w") as archive:
        for path in sorted(photos.glob("*/*.png")):
            archive.write(path, path.relative_to(photos.parent))
        archive.writestr("photos/pot/damaged.png", b"no image")
        archive.writestr("photos/pot/notes.txt", b"")
    address = f"zip://photos::file://{photos.parent / 'photos.zip'}"
    there, here = Recogniser(extractor="pixels:size=8"), Recogniser(extractor="pixels:size=8")
    lesson = taught_there(client, there, address)
    problem = f"zip://photos/pot/damaged.png::file://{photos.parent / 'photos.zip'}"
    assert [name for name, _ in lesson.problems] == [problem]
    assert here.teach(address).taught == 200
    here.refresh()
    assert_same(there, taught_here(photos))
    assert_same(here, there)


def test_a_worker_without_what_it_needs_is_named(
    photos: Path, client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = Recogniser(extractor="pixels:size=8")
    monkeypatch.setattr(remote, "Recipe", lambda pickled: chunks.Recipe(pickled, version="0.0.1"))
    said = r"worker tcp://127\.0\.0\.1:\d+: newfound .* is there, but newfound 0\.0\.1 here"
    with pytest.raises(ClusterError, match=said):
        taught_there(client, there, photos)
    assert not there.is_taught


def test_an_address_at_which_nobody_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("newfound.recognition.cluster.PATIENCE", 0.5)
    with (
        pytest.raises(ClusterError, match=r"no cluster answers at tcp://127\.0\.0\.1:9"),
        connected("tcp://127.0.0.1:9"),
    ):
        pass


@pytest.mark.parametrize(
    "where",
    [
        *("", "nonsense", "locals", "127.0.0.1", "127.0.0.1:9", "http://127.0.0.1:9", "inproc://x"),
        *("tcp://", "tcp://127.0.0.1", "tcp://:9", "tcp://127.0.0.1:99999", "tcp://[::1:9"),
    ],
)
def test_what_is_no_address_is_told_before_anybody_is_asked(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("distributed.Client", None)
    with pytest.raises(ClusterError, match="is no address of a cluster"), connected(where):
        pass


def test_a_cluster_without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import LocalCluster

    monkeypatch.setattr("newfound.recognition.cluster.PATIENCE", 0.5)
    start: Any = LocalCluster
    with (
        start(n_workers=0, host="127.0.0.1", dashboard_address="127.0.0.1:0") as cluster,
        pytest.raises(ClusterError, match="has no workers"),
        connected(cluster.scheduler_address),
    ):
        pass
