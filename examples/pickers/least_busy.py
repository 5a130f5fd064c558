"""Removes the workers with the least to do. Standard library only: python3 least_busy.py"""

import hmac
import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

loads: dict[str, float] = {}
TOKEN = os.environ.get("PICKER_TOKEN")


def pick(candidates: list[str], count: int) -> dict[str, list[str]]:
    """Lowest loads first; those that share the load at the border are tied if not all of them are needed."""
    weighed = sorted(candidates, key=lambda pod: (loads.get(pod, 0), pod))
    if count == 0 or not weighed:
        return {"chosen_pods": [], "tied_pods": []}
    border = loads.get(weighed[min(count, len(weighed)) - 1], 0)
    below = [pod for pod in weighed if loads.get(pod, 0) < border]
    level = [pod for pod in weighed if loads.get(pod, 0) == border]
    if len(below) + len(level) <= count:
        return {"chosen_pods": below + level, "tied_pods": []}
    return {"chosen_pods": below, "tied_pods": level}


class Handler(BaseHTTPRequestHandler):
    def do_PUT(self) -> None:
        if not self.path.startswith("/pods/"):
            return self.answer(404)
        try:
            loads[unquote(self.path.removeprefix("/pods/"))] = float(self.body().get("load", 0))
        except (ValueError, AttributeError):
            return self.answer(400)
        self.answer(204)

    def do_POST(self) -> None:
        if TOKEN is not None and not hmac.compare_digest(self.headers.get("Authorization", ""), TOKEN):
            return self.answer(401)
        try:
            question = self.body()
            answer = pick(question["candidate_pods"], question["number_of_pods_requested"])
        except (ValueError, KeyError, TypeError):
            return self.answer(400)
        self.answer(200, answer)

    def body(self) -> dict:
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))))

    def answer(self, status: int, document: dict | None = None) -> None:
        payload = b"" if document is None else json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: object) -> None:
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("", int(os.environ.get("PORT", "8080"))), Handler)
    print(f"listening on port {server.server_port}", flush=True)
    server.serve_forever()
