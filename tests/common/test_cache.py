"""The cache and the disk: full, shared, or not what it seems."""

import os
import stat
import tempfile
from pathlib import Path
from typing import Any

import pytest

from newfound.common.files import cache_folder, make_private, read_own, write_whole
from newfound.features.efficientnet import graph

posix_only = pytest.mark.skipif(os.name != "posix", reason="needs modes, owners and pipes")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_named_with_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*kitchen'"):
        write_whole(tmp_path / "kitchen", b"whole")
    monkeypatch.undo()
    with pytest.raises(FileNotFoundError, match=r"No such file or directory: '.*nowhere/kitchen'"):
        write_whole(tmp_path / "nowhere" / "kitchen", b"whole")


@pytest.mark.slow
@posix_only
def test_the_cache_holds_up_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEWFOUND_CACHE", str(tmp_path))
    whole = graph()
    (made,) = tmp_path.iterdir()
    for disturb in (os.mkfifo, lambda path: path.symlink_to("/dev/zero"), Path.mkdir):
        made.unlink()
        disturb(made)
        assert graph() == whole
        if made.is_dir():
            made.rmdir()
            assert graph() == whole
        assert made.is_file()
        assert not made.is_symlink()
    assert stat.S_ISCHR(Path("/dev/zero").stat().st_mode)
    with made.open("r+b") as file:
        file.truncate(2**40)
    assert graph() == whole


@posix_only
def test_only_what_the_user_wrote_is_read_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").write_bytes(b"mine")
    assert read_own(tmp_path / "mine", 4) == b"mine"
    with pytest.raises(OSError, match="larger than 3 bytes"):
        read_own(tmp_path / "mine", 3)
    make_private(tmp_path / "folder")
    assert stat.S_IMODE((tmp_path / "folder").stat().st_mode) == 0o700
    (tmp_path / "folder").chmod(0o777)
    with pytest.raises(PermissionError, match="belongs to others"):
        make_private(tmp_path / "folder")
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    with pytest.raises(PermissionError, match="someone else"):
        read_own(tmp_path / "mine", 4)
    with pytest.raises(PermissionError, match="belongs to others"):
        make_private(tmp_path)


@posix_only
def test_users_without_a_home_have_a_cache_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(_: Any) -> Path:
        raise RuntimeError("no home")

    for name in ("NEWFOUND_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "expanduser", homeless)
    folder = cache_folder()
    assert folder.parent == Path(tempfile.gettempdir())
    assert str(os.geteuid()) in folder.name
