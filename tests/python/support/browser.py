"""A headless Chromium for tests of pages, spoken to over its debugging pipe; nothing but the browser is needed."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def found():
    """The path of a Chromium; ``None`` if there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page at a time: ``open`` a file, ask it with ``js``, ``click``, ``wheel``, take a ``screenshot``."""

    def __init__(self, dark=False, width=1200, height=800):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_child, self.out = os.pipe()
        self.inp, from_child = os.pipe()
        command = [found(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"]
        command += [
            "--remote-debugging-pipe",
            f"--user-data-dir={self.profile.name}",
            f"--window-size={width},{height}",
        ]
        command += ["--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking", "about:blank"]
        # The pipe's ends are 3 and 4 in the browser.
        script = f'exec 3<&{to_child} 4>&{from_child}; exec "$@"'
        self.child = subprocess.Popen(
            ["bash", "-c", script, "bash", *command],
            pass_fds=(to_child, from_child),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_child)
        os.close(from_child)
        self.number, self.buffer, self.events = 0, b"", []
        self.session = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", **size)
        self.scheme(dark)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()
        os.close(self.out)
        os.close(self.inp)
        self.profile.cleanup()

    def scheme(self, dark):
        """Prefer dark or light colours."""
        value = "dark" if dark else "light"
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])

    def read(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.inp, 1 << 20)
            if not piece:
                raise RuntimeError("the browser has ended")
            self.buffer += piece
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def ask(self, method, **params):
        """A command of the debugging protocol, and its answer."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        message |= {"sessionId": self.session} if self.session else {}
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(answer["error"])
                return answer["result"]
            self.events.append(answer)

    def open(self, path):
        """Open a file and wait until it has loaded; ``AssertionError`` if a script of it fails."""
        self.events.clear()
        self.ask("Page.navigate", url=Path(path).resolve().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.read())
        self.js("new Promise(done => requestAnimationFrame(() => setTimeout(done, 30)))")
        self.check()

    def check(self):
        """No script has failed, and nothing was asked of the network."""
        failed = [e["params"] for e in self.events if e.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded")]
        assert not failed, failed

    def js(self, expression):
        """The value of an expression in the page."""
        done = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def mouse(self, kind, x, y, **more):
        """A mouse event at a point of the window."""
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        """Press and release the button."""
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)

    def screenshot(self, path):
        """A picture of the window."""
        Path(path).write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))
