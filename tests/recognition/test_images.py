"""Recognisers and images: whatever form an image has, it is taught, known, asked and forgotten."""

import copy
import json
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from sklearn.exceptions import NotFittedError

from newfound import (
    InputError,
    ModelFileError,
    NotTaughtError,
    Recogniser,
    UnreadableImageError,
    WrongExtractorError,
    load,
)
from newfound.features import Pixels
from newfound.recognition.knowledge import Knowledge
from newfound.recognition.sources import NoLabelError
from tests.answers import assert_same
from tests.command_line import newfound, picture, write_pictures

PIXELS = "pixels:size=8"
FORMS: dict[str, Callable[[Path], Any]] = {
    "text": str,
    "path": Path,
    "bytes": Path.read_bytes,
    "PIL": Image.open,
    "array": lambda path: np.asarray(Image.open(path)),
}


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    for thing, name in enumerate(("cup", "mug", "pot")):
        write_pictures(tmp_path / "photos" / name, thing, range(12))
    return tmp_path / "photos"


@pytest.fixture
def taught(photos: Path) -> Recogniser:
    recogniser = Recogniser(extractor=PIXELS)
    assert recogniser.teach(photos) == (36, 0, [])
    return recogniser


def of_class(photos: Path, name: str) -> list[Path]:
    return sorted((photos / name).iterdir())


def array(seed: int, thing: int) -> Any:
    return np.asarray(picture(seed, thing))


@pytest.mark.parametrize("form", FORMS)
def test_whatever_form_images_have_the_answers_are_the_same_to_the_last_bit(
    form: str, photos: Path
) -> None:
    one, other, read = Recogniser(extractor=PIXELS), Recogniser(extractor=PIXELS), FORMS[form]
    for name in ("cup", "mug", "pot"):
        paths = of_class(photos, name)
        assert one.teach(map(str, paths), name) == (12, 0, [])
        assert other.teach(map(read, paths), name) == (12, 0, [])
    news = [array(50, thing) for thing in range(4)]
    assert other.look(news, top=3) == one.look(news, top=3)
    assert other.look(map(read, paths)) == one.look(paths)


@pytest.mark.parametrize("form", FORMS)
def test_one_image_has_one_answer_and_several_have_a_list(
    form: str, photos: Path, taught: Recogniser
) -> None:
    image = FORMS[form](photos / "mug" / "003.png")
    answer = taught.look(image, top=2)
    assert (answer.label, len(answer.top), answer.known) == ("mug", 2, True)
    assert_same(taught.look([image, image], top=2), [answer, answer])
    assert 0 < answer.unknown < 0.5
    assert taught.look(image, unknown_above=0.0).known is False
    assert taught.look([]) == []


@pytest.mark.parametrize("form", FORMS)
def test_what_was_taught_is_not_taught_again_unless_asked(form: str, photos: Path) -> None:
    recogniser = Recogniser(extractor=PIXELS)
    images = [FORMS[form](path) for path in of_class(photos, "mug")]
    assert recogniser.teach([*images, images[0]], "mug") == (12, 1, [])
    assert recogniser.teach(images[:3], "mug") == (0, 3, [])
    assert recogniser.teach(images[0], "cup") == (1, 0, [])
    assert recogniser.teach(images[:3], "mug", again=True) == (3, 0, [])
    assert recogniser.counts == {"cup": 1, "mug": 15}


def test_a_file_is_known_by_its_bytes_and_pixels_by_themselves(photos: Path) -> None:
    recogniser, path = Recogniser(extractor=PIXELS), photos / "mug" / "000.png"
    recogniser.teach(path, "mug")
    assert recogniser.teach(path.read_bytes(), "mug").known == 1
    pixels = Image.open(path)
    assert recogniser.teach(pixels, "mug").taught == 1
    assert recogniser.teach(np.asarray(pixels), "mug").known == 1
    wide = np.zeros((8, 16), dtype=np.uint8)
    assert recogniser.teach([wide, wide.reshape(16, 8)], "night").taught == 2


@pytest.mark.parametrize("form", FORMS)
def test_to_forget_is_as_if_it_had_never_been_taught(
    form: str, photos: Path, tmp_path: Path
) -> None:
    recogniser, news = Recogniser(extractor=PIXELS), [array(60, thing) for thing in range(4)]
    recogniser.teach(of_class(photos, "mug"), "mug")
    recogniser.teach(of_class(photos, "cup"), "cup")
    recogniser.refresh()
    before = recogniser.look(news, top=2)
    write_pictures(tmp_path / "more", 3, range(5))
    images = [FORMS[form](path) for path in sorted((tmp_path / "more").iterdir())]
    recogniser.teach(images, "jug")
    assert recogniser.forget(images[0], "jug") == (1, [])
    assert recogniser.forget(images[1:], "jug") == (4, [])
    recogniser.refresh()
    for now, then in zip(recogniser.look(news, top=2), before, strict=True):
        assert [label for label, _ in now.top] == [label for label, _ in then.top]
        np.testing.assert_allclose(now[1:3], then[1:3], rtol=1e-9)
    with pytest.raises(NotTaughtError, match="was not taught as jug"):
        recogniser.forget(images[0], "jug")
    assert len(recogniser.forget(images, "jug").problems) == 5


def test_one_that_cannot_be_read_does_not_stop_the_others(photos: Path) -> None:
    recogniser, good = Recogniser(extractor=PIXELS), of_class(photos, "mug")
    bad: list[Any] = ["nowhere.png", b"junk", np.zeros((4, 4)), np.zeros((1, 1), np.uint8), 3]
    done = recogniser.teach([*bad, *good], "mug")
    assert (done.taught, done.known, len(done.problems)) == (12, 0, 5)
    assert {"nowhere.png", "image 1", "image 2", "image 3", "image 4"} == {
        name for name, _ in done.problems
    }
    for image in bad[:4]:
        for act in (recogniser.teach, recogniser.forget, recogniser.evaluate):
            with pytest.raises(UnreadableImageError):
                act(image, "mug")
        with pytest.raises(UnreadableImageError):
            recogniser.look(image)
    assert recogniser.counts == {"mug": 12}


def test_what_nobody_named_is_refused(photos: Path, tmp_path: Path) -> None:
    recogniser = Recogniser(extractor=PIXELS)
    for image in (photos / "mug" / "000.png", array(0, 0)):
        with pytest.raises(NoLabelError, match="so it needs a label"):
            recogniser.teach(image)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no images there"):
        recogniser.teach(tmp_path / "empty")
    with pytest.raises(InputError, match="a class needs a name"):
        recogniser.teach(photos / "mug", "")
    with pytest.raises(InputError, match="no images there"):
        recogniser.teach([], "mug")
    with pytest.raises(NotFittedError):
        recogniser.look(photos / "mug" / "000.png")


def test_labels_are_texts_numbers_or_booleans() -> None:
    recogniser = Recogniser(extractor=PIXELS)
    recogniser.teach(array(0, 0), 3)
    recogniser.teach(array(0, 1), 5)
    assert recogniser.teach(array(1, 1), "5").taught == 1
    assert recogniser.counts == {3: 1, 5: 2}
    assert recogniser.look(array(2, 1)).label == 5


def test_the_command_line_and_a_recogniser_make_the_same_file(photos: Path, tmp_path: Path) -> None:
    model, typed, more = tmp_path / "m", tmp_path / "typed", of_class(photos, "mug")
    recogniser = Recogniser(model, extractor=PIXELS)
    recogniser.teach(photos)
    recogniser.save()
    assert newfound("teach", typed, photos, "--extractor", PIXELS).code == 0
    assert model.read_bytes() == typed.read_bytes()
    recogniser = Recogniser(model)
    recogniser.teach(more, "beaker")
    recogniser.save()
    recogniser.teach(of_class(photos, "cup")[:5], "glass")
    recogniser.save()
    recogniser.forget(more[:3], "mug")
    recogniser.save()
    recogniser.rename("pot", "jar")
    recogniser.save()
    assert newfound("teach", typed, *more, "--as", "beaker").code == 0
    few = of_class(photos, "cup")[:5]
    assert newfound("teach", typed, *few, "--as", "glass").code == 0
    assert newfound("forget", typed, *more[:3], "--as", "mug").code == 0
    assert newfound("rename", typed, "pot", "jar").code == 0
    assert model.read_bytes() == typed.read_bytes()


def test_a_recogniser_evaluates_as_the_command_line_does(photos: Path, tmp_path: Path) -> None:
    assert newfound("teach", tmp_path / "m", photos, "--extractor", PIXELS).code == 0
    (photos / "mug" / "odd.png").write_text("no image")
    (photos / "mug" / "cup.png").write_bytes((photos / "cup" / "001.png").read_bytes())
    done = newfound("evaluate", tmp_path / "m", photos, "--json")
    result = Recogniser(tmp_path / "m").evaluate(photos)
    assert json.loads(done.out) == result.to_json()
    assert result.confusions == {("mug", "cup"): 1}
    assert result.n == 37
    assert result.accuracy == pytest.approx(36 / 37)
    assert result.confusion_matrix.trace() == 36
    assert [problem.reason[:12] for problem in result.unreadable] == ["not an image"]


def test_a_file_of_vectors_is_taught_as_its_images_are(
    photos: Path, tmp_path: Path, taught: Recogniser
) -> None:
    assert newfound("features", photos, "-o", tmp_path / "v.npz", "--extractor", PIXELS).code == 0
    recogniser = Recogniser(extractor=None)
    assert recogniser.teach(tmp_path / "v.npz").taught == 36
    assert recogniser.identity == taught.identity
    assert taught.teach(tmp_path / "v.npz") == (0, 36, [])
    with pytest.raises(InputError, match="takes vectors, and no images"):
        recogniser.look(photos / "mug" / "000.png")


def test_a_model_that_is_opened_brings_its_extractor(photos: Path, tmp_path: Path) -> None:
    path = tmp_path / "m"
    one = Recogniser(path, extractor=Pixels(size=8))
    one.teach(photos)
    one.save()
    again = Recogniser(path)
    assert again.look(photos / "mug" / "000.png") == one.look(photos / "mug" / "000.png")
    assert Recogniser(path, extractor=PIXELS).identity == Pixels(size=8).identity
    others: list[Any] = ["pixels:size=4", Pixels(size=4), "efficientnet-lite0"]
    for other in others:
        with pytest.raises(WrongExtractorError, match=r"taught vectors of pixels \(size=8/8"):
            Recogniser(path, extractor=other)
    stranger = Recogniser(extractor=None)
    stranger.teach_vectors(np.ones((1, 16)), ["a"], extractor=Pixels(size=4).identity)
    with pytest.raises(WrongExtractorError):
        again.merge(stranger)


def test_the_network_is_loaded_at_the_first_image(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def named(name: str) -> Pixels:
        made.append(name)
        return Pixels(8)

    monkeypatch.setattr("newfound.features.catalog.extractor_from_name", named)
    recogniser = Recogniser()
    assert made == []
    for seed in range(3):
        recogniser.teach(array(seed, 0), "mug")
    assert made == ["efficientnet-lite0"]


def test_what_is_saved_is_opened_and_goes_on(photos: Path, tmp_path: Path) -> None:
    path = tmp_path / "kitchen.newfound"
    with pytest.raises(InputError, match="say where to save it"):
        Recogniser().save()
    recogniser = Recogniser(path, extractor=PIXELS)
    recogniser.teach(photos)
    recogniser.save()
    again = Recogniser(path)
    assert again.teach(photos) == (0, 36, [])
    assert again.counts == recogniser.counts
    again.save(tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == path.read_bytes()
    assert load(path).classes_.tolist() == again.classes == ["cup", "mug", "pot"]
    path.write_text("junk")
    with pytest.raises(ModelFileError):
        Recogniser(path)


def test_two_that_merge_know_what_both_were_taught(photos: Path, taught: Recogniser) -> None:
    other = Recogniser(extractor=PIXELS)
    other.teach(photos / "mug")
    other.teach([array(seed, 3) for seed in range(4)], "jug")
    assert taught.merge(other) == 12
    assert taught.counts == {"cup": 12, "jug": 4, "mug": 24, "pot": 12}
    assert other.counts == {"jug": 4, "mug": 12}
    assert taught.teach(array(0, 3), "jug").known == 1
    taught.forget_class("mug")
    taught.rename("jug", "cup")
    assert taught.counts == {"cup": 16, "pot": 12}
    assert taught.teach(array(0, 3), "cup").known == 1


def test_copies_and_pickles_answer_the_same(photos: Path, taught: Recogniser) -> None:
    image = photos / "mug" / "000.png"
    for again in (copy.deepcopy(taught), pickle.loads(pickle.dumps(taught))):
        assert again.look(image) == taught.look(image)
        again.teach(array(0, 3), "jug")
    assert "jug" not in taught.classes


def test_threads_teach_and_ask_at_once(photos: Path, taught: Recogniser) -> None:
    errors: list[BaseException] = []

    def run(act: Callable[[int], object]) -> threading.Thread:
        def repeat() -> None:
            try:
                for number in range(12):
                    act(number)
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=repeat)
        thread.start()
        return thread

    threads = [
        run(lambda number: taught.teach(array(number, 3), "jug")),
        run(lambda number: taught.teach(array(100 + number, 3), "jar")),
        run(lambda _: taught.look(photos / "mug" / "000.png", top=3)),
        run(lambda _: taught.look([array(0, 3)] * 3)),
    ]
    for thread in threads:
        thread.join()
    assert errors == []
    assert taught.counts == {"cup": 12, "jar": 12, "jug": 12, "mug": 12, "pot": 12}
    assert len(taught.taught) == 60


@pytest.mark.slow
def test_frame_by_frame_lessons_renew_the_choice_and_questions_change_nothing(
    taught: Recogniser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    renewed: list[int] = []
    reconsider = Knowledge.reconsider

    def count(knowledge: Knowledge) -> None:
        renewed.append(sum(knowledge.counts.values()))
        reconsider(knowledge)

    monkeypatch.setattr(Knowledge, "reconsider", count)
    for seed in range(60):
        taught.teach(array(seed, 3), "jug")
        taught.save(tmp_path / "before", refresh=False)
        assert taught.look(array(99, 3)).label in ("cup", "jug", "mug", "pot")
        taught.save(tmp_path / "after", refresh=False)
        assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()
    assert renewed == [48, 64, 86]  # a quarter of what is known is new each time
    taught.save(tmp_path / "after")
    taught.save(tmp_path / "after")
    assert renewed[-1] == 96
    assert len(renewed) == 4
