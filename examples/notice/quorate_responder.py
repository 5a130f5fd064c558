"""Answers notices of Quorate (DisruptionPolicy, channel HTTP). Standard library only; copy it beside your program."""

import hmac
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Optional

VERSION = "notice.quorate.dev/v1"
MAX_REQUEST_BYTES = 4 * 1024 * 1024
MAX_JOBS = 1000


class Work:
    """The work for one notice: how far it is, and whether it is still wanted."""

    def __init__(self) -> None:
        self.withdrawn = threading.Event()
        self.state = "Working"
        self.message: Optional[str] = None

    def progress(self, message: str) -> None:
        """What whoever looks at the notice reads, such as "saving, 40 %"."""
        self.message = message


class Responder:
    """Serves a function that prepares a group for its end.

    `prepare(notice, work)` returns when everything is saved: only then is the notice acknowledged. It runs in a thread of
    its own, once for each notice, and again only after it has raised. `work.withdrawn` is set when the group stays.
    """

    def __init__(self, prepare: Callable[[dict, Work], Any], token: Optional[str] = None) -> None:
        self._prepare = prepare
        self._token = token
        self._jobs: dict = {}
        self._lock = threading.Lock()

    def serve(self, port: int, host: str = "") -> ThreadingHTTPServer:
        """A server that listens already; call `serve_forever()` of it."""
        responder = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                status, document = responder.answer(self.headers, self.rfile)
                payload = json.dumps(document).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return ThreadingHTTPServer((host, port), Handler)

    def answer(self, headers: Any, stream: Any) -> tuple:
        """The status and the body that answer a call."""
        sent = headers.get("Authorization", "")
        if self._token is not None and not hmac.compare_digest(sent.encode(), self._token.encode()):
            return 401, {"error": "the caller is not known"}
        try:
            length = int(headers.get("Content-Length", "0"))
            if length > MAX_REQUEST_BYTES:
                return 413, {"error": "the request is too large"}
            call = json.loads(stream.read(length))
            if call["apiVersion"] != VERSION or call["action"] not in ("Notify", "Withdraw"):
                raise ValueError
            key = (call["id"], (call.get("member") or {}).get("uid"))
        except (ValueError, KeyError, TypeError, AttributeError):
            return 400, {"error": "the request is no notice"}
        return self._withdraw(key) if call["action"] == "Withdraw" else self._notify(key, call)

    def _withdraw(self, key: tuple) -> tuple:
        with self._lock:
            work = self._jobs.pop(key, None)
        if work is not None:
            work.withdrawn.set()
        return 200, {"state": "Withdrawn"}

    def _notify(self, key: tuple, notice: dict) -> tuple:
        with self._lock:
            known = self._jobs.get(key)
            if known is None or known.state == "Failed":
                work = Work()
                self._jobs[key] = work
                while len(self._jobs) > MAX_JOBS:
                    self._jobs.pop(next(iter(self._jobs)))
                threading.Thread(target=self._run, args=(notice, work), daemon=True).start()
                if known is not None:
                    return 500, {"error": "the preparation failed, it is begun again"}
            else:
                work = known
        if work.state == "Done":
            return 200, {"state": "Acknowledged"}
        answer = {"state": "Working"}
        if work.message is not None:
            answer["message"] = work.message
        return 200, answer

    def _run(self, notice: dict, work: Work) -> None:
        try:
            self._prepare(notice, work)
            work.state = "Done"
        except Exception as error:  # the next call begins anew
            work.state = "Failed"
            if not work.withdrawn.is_set():
                print(f"cannot prepare {notice['group']['name']}: {error}", flush=True)
