"""Saves a checkpoint when its group is told to go. Standard library only: python3 checkpoint.py"""

import json
import os

from quorate_responder import Responder, Work

CHECKPOINT = os.environ.get("CHECKPOINT", "checkpoint.json")


def save(notice: dict, work: Work) -> None:
    work.progress("saving")
    with open(f"{CHECKPOINT}.new", "w", encoding="utf-8") as file:
        json.dump({"group": notice["group"]["name"], "savedFor": notice["id"]}, file)
    # Complete or not there: a half-written checkpoint is none.
    os.replace(f"{CHECKPOINT}.new", CHECKPOINT)


if __name__ == "__main__":
    responder = Responder(save, token=os.environ.get("NOTICE_TOKEN"))
    server = responder.serve(int(os.environ.get("PORT", "8080")))
    print(f"listening on port {server.server_port}", flush=True)
    server.serve_forever()
