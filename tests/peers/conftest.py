"""Peers are imported only where slow tests run."""


def pytest_ignore_collect(collection_path, config):
    return True if config.getoption("markexpr") == "not slow" else None
