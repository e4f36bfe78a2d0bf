"""Submits a job to a running FLARE system, waits for its end and copies the final model out of its result."""

import argparse
import shutil
import sys
import time
from pathlib import Path

from nvflare.fuel.flare_api.flare_api import MonitorReturnCode, Session, new_secure_session

START_SECONDS = 30
JOB_SECONDS = 90


def wait_for_clients(session: Session, count: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while len(session.get_connected_client_list()) < count:
        if time.monotonic() > deadline:
            sys.exit(f"fewer than {count} clients connected within {START_SECONDS} seconds")
        time.sleep(0.2)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kit", required=True, help="startup kit of the project admin")
    parser.add_argument("--job", type=Path, required=True)
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--out", required=True, help="where the final model goes")
    options = parser.parse_args()
    session = new_secure_session("admin@nvidia.com", options.kit, timeout=START_SECONDS)
    try:
        wait_for_clients(session, options.clients)
        job = session.submit_job(str(options.job.resolve()))
        ended = session.monitor_job(job, timeout=JOB_SECONDS)
        if ended != MonitorReturnCode.JOB_FINISHED:
            sys.exit(f"job {job}: {ended.name}")
        result = Path(session.download_job_result(job))
        shutil.move(result / "workspace/models/server.npy", options.out)
    finally:
        session.close()


if __name__ == "__main__":
    main()
