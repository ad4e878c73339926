#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs GoogleTest binaries in shards side by side, one process a shard: where starting costs more than a test (sanitizers,
qemu). A binary that is missing, a shard that ends early and a listed test that did not run are failures.

    run_tests.py FOLDER NAME... [--jobs N] [--timeout S] [--filter F] [-- command to run them with]

FOLDER/tests/test_NAME each; logs in FOLDER/logs."""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def listed(command, gtest_filter):
    """How many tests a binary has, those apart that are disabled."""
    result = subprocess.run([*command, "--gtest_list_tests", f"--gtest_filter={gtest_filter}"], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{command[-1]} cannot list its tests:\n{result.stdout[-2000:]}{result.stderr[-4000:]}")
    suites, tests = "", []
    for line in result.stdout.splitlines():
        if re.match(r"^\S+\.(\s|$)", line):
            suites = line.split()[0]
        elif line.startswith("  ") and suites:
            tests.append(suites + line.split()[0])
    return {t for t in tests if "DISABLED_" not in t}


def run_shard(command, name, shard, shards, args):
    logs = args.folder / "logs"
    report, log = logs / f"{name}.{shard}.json", logs / f"{name}.{shard}.log"
    report.unlink(missing_ok=True)
    environment = dict(os.environ, GTEST_TOTAL_SHARDS=str(shards), GTEST_SHARD_INDEX=str(shard),
                       GTEST_OUTPUT=f"json:{report.resolve()}", OMP_WAIT_POLICY="passive")  # fmt: skip
    with open(log, "w") as out:
        try:
            status = subprocess.run([*command, f"--gtest_filter={args.filter}"], stdout=out, stderr=subprocess.STDOUT,
                                    env=environment, timeout=args.timeout).returncode  # fmt: skip
        except subprocess.TimeoutExpired:
            status = f"no end after {args.timeout} s"
    tests = []
    if report.exists():
        for suite in json.loads(report.read_text())["testsuites"]:
            tests += [(f"{suite['name']}.{t['name']}", t) for t in suite["testsuite"]]
    return status, log, tests


def main():
    own, _, prefix = " ".join(sys.argv[1:]).partition(" -- ")
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=float, default=900)
    parser.add_argument("--filter", default="*")
    args = parser.parse_args(own.split())
    (args.folder / "logs").mkdir(exist_ok=True)
    shards = 2 * args.jobs
    failed = False
    passed = skipped = 0
    times = []
    with ThreadPoolExecutor(args.jobs) as pool:
        waiting = []
        for name in args.names:
            command = [*prefix.split(), str((args.folder / "tests" / f"test_{name}").resolve())]
            expected = listed(command, args.filter)
            waiting.append((name, expected, [pool.submit(run_shard, command, name, i, shards, args) for i in range(shards)]))
        for name, expected, results in waiting:
            ran = {}
            for future in results:
                status, log, tests = future.result()
                ran.update(tests)
                if status != 0:
                    failed = True
                    text = log.read_text(errors="replace")
                    error = re.search(r"ERROR: \w+Sanitizer|runtime error|WARNING: ThreadSanitizer|Failure\n|\*\*\*", text)
                    start = max(0, error.start() - 200) if error else max(0, len(text) - 3000)
                    print(f"test_{name}: {log}: status {status}\n{text[start : start + 5000]}")
            missing = expected - set(ran)
            if missing or not expected:
                failed = True
                print(f"test_{name}: {len(missing)} of {len(expected)} tests did not run: {', '.join(sorted(missing)[:10])}")
            not_observed = sorted(t for t, r in ran.items() if r.get("result") == "SKIPPED")
            wrong = sorted(t for t, r in ran.items() if r.get("failures"))
            failed = failed or bool(wrong)
            seconds = sum(float(r.get("time", "0s").rstrip("s")) for r in ran.values())
            times += [(float(r.get("time", "0s").rstrip("s")), f"{name}: {t}") for t, r in ran.items()]
            skipped += len(not_observed)
            passed += len(ran) - len(not_observed) - len(wrong)
            print(f"test_{name}: {len(ran)} of {len(expected)} ran, {len(wrong)} failed, {len(not_observed)} not observed, {seconds:.0f} s")
            for t in not_observed:
                print(f"  not observed: {t}")
    print("longest: " + ", ".join(f"{t} {s:.0f} s" for s, t in sorted(times, reverse=True)[:5]))
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{passed} tests passed, {skipped} not observed, {usage.ru_utime + usage.ru_stime:.0f} s of processor time")
    return failed


if __name__ == "__main__":
    sys.exit(main())
