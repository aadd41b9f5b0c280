"""Folders of small files in the layouts of the public data."""

from __future__ import annotations

import pytest

from studies.small_files import write_cifar10h, write_imagenet16h


@pytest.fixture
def cifar_folder(tmp_path):
    return write_cifar10h(tmp_path / "data")


@pytest.fixture
def whole_folder(tmp_path):
    """Both data sets, in their folders."""
    write_cifar10h(tmp_path / "data" / "cifar10h", annotators=True)
    write_imagenet16h(tmp_path / "data" / "imagenet16h")
    return tmp_path / "data"
