"""Chromium without a window, driven over its own pipe (the DevTools protocol): one process for all pages of a test."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
_OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
]
_PATIENCE = 60.0  # seconds for an answer of a machine under load


class Browser:
    """One tab of one browser.

    messages  what the console was told: errors, warnings, refusals of the page's own policy
    requests  addresses that were asked for, but those of files
    """

    def __init__(self, profile: Path) -> None:
        read, self._write = os.pipe()
        self._read, write = os.pipe()
        assert CHROMIUM is not None
        # The browser reads from its descriptor 3 and writes to 4.
        command = f'exec "$0" "$@" 3<&{read} 4>&{write}'
        self._process = subprocess.Popen(
            ["bash", "-c", command, CHROMIUM, *_OPTIONS, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(read, write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read)
        os.close(write)
        os.set_blocking(self._read, False)
        self._buffer, self._number, self._session = b"", 0, ""
        self.messages: list[str] = []
        self.requests: list[str] = []
        self._loaded = False
        targets = self._ask("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = self._ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._ask(f"{domain}.enable")

    def show(self, *, width: int, media: str = "screen", dark: bool = False) -> None:
        """Change the width of the window, screen or print, light or dark; ``height`` is that of a screen."""
        self._ask("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def open(self, page: Path) -> None:
        """Load a file and wait until it is there."""
        self.messages.clear()
        self.requests.clear()
        self._loaded = False
        self._ask("Page.navigate", url=page.as_uri())
        end = time.monotonic() + _PATIENCE
        while not self._loaded:
            self._take(self._receive(end))

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page."""
        found = self._ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def scripts(self, *, allowed: bool) -> None:
        """Let pages run their scripts, or not."""
        self._ask("Emulation.setScriptExecutionDisabled", value=not allowed)

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """Write a picture of the page, or of its first screen."""
        found = self._ask("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))

    def pdf(self, path: Path) -> None:
        """Write the page as it is printed."""
        found = self._ask("Page.printToPDF", printBackground=True)
        path.write_bytes(base64.b64decode(found["data"]))

    def close(self) -> None:
        """End the browser."""
        with contextlib.suppress(Exception):
            self._ask("Browser.close")
        for end in (self._read, self._write):
            os.close(end)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _ask(self, method: str, **given: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": given}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + _PATIENCE
        while True:
            answer = self._receive(end)
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self._take(answer)

    def _receive(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            assert time.monotonic() < end, "the browser does not answer"
            try:
                self._buffer += os.read(self._read, 1 << 20)
            except BlockingIOError:
                time.sleep(0.002)
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def _take(self, event: dict[str, Any]) -> None:
        method, given = event.get("method"), event.get("params", {})
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Log.entryAdded":
            self.messages.append(given["entry"]["text"])
        elif method == "Runtime.consoleAPICalled":
            self.messages.append(str([each.get("value") for each in given["args"]]))
        elif method == "Runtime.exceptionThrown":
            self.messages.append(given["exceptionDetails"]["exception"]["description"])
        elif method == "Network.requestWillBeSent" and not given["request"]["url"].startswith("file:"):
            self.requests.append(given["request"]["url"])
