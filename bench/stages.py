#!/usr/bin/env python3
"""What every stage of a core does, in GB of values a second, by what instructions the machine is said to have.

usage: bench/stages.py BUILD > bench/results/cpu/stages.csv
Runs the Google Benchmarks in BUILD/bench three times: with GDELTA_CPU=baseline and avx2, and as the machine is. Medians of five
repetitions of CPU time. `memset` and `copy` are of main memory, as are chunks; everything else lies in cache. Where the Python
package pcodec is there, it codes the same kind of random walk in chunks as long.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

BENCHES = ["chunk_bench", "ans_bench", "bitpack_bench", "delta_bench", "checksum_bench"]
KINDS = ["baseline", "avx2", ""]


def measure(program, kind):
    """GB a second, and ratio, by name."""
    command = [program, "--benchmark_format=json", "--benchmark_min_time=0.05", "--benchmark_repetitions=5", "--benchmark_report_aggregates_only=true"]
    result = subprocess.run(command, env={**os.environ, "GDELTA_CPU": kind}, capture_output=True, check=True, text=True)
    medians = [b for b in json.loads(result.stdout)["benchmarks"] if b["aggregate_name"] == "median"]
    return {b["run_name"].replace("std::uint", "u").replace("_t>", ">"): (b["bytes_per_second"] / 1e9, b.get("ratio", "")) for b in medians}


def pcodec():
    """Rows of pcodec at level 8, values of 32 bits that go up to 2^10 a step, 2^18 to a chunk: medians of five."""
    try:
        import numpy
        from pcodec import ChunkConfig, standalone
    except ImportError:
        return []
    steps = numpy.random.default_rng(1).integers(-511, 512, 1 << 22, dtype=numpy.int32)
    values = numpy.cumsum(steps, dtype=numpy.int32)
    chunks = numpy.split(values, 16)
    config = ChunkConfig(compression_level=8)
    coded = [standalone.simple_compress(chunk, config) for chunk in chunks]

    def speed(run, inputs):
        times = []
        for _ in range(5):
            start = time.thread_time()
            for each in inputs:
                run(each)
            times.append(time.thread_time() - start)
        return values.nbytes / 1e9 / sorted(times)[2]

    ratio = values.nbytes / sum(map(len, coded))
    return [("pcodec/encode/8", speed(lambda c: standalone.simple_compress(c, config), chunks), ratio),
            ("pcodec/decode/8", speed(standalone.simple_decompress, coded), ratio)]


def main():
    folder = pathlib.Path(sys.argv[1]) / "bench"
    print("bench,name,baseline_gb_s,avx2_gb_s,gb_s,ratio")
    for bench in BENCHES:
        columns = [measure(folder / bench, kind) for kind in KINDS]
        for name, (_, ratio) in columns[-1].items():
            speeds = ",".join(f"{column[name][0]:.3g}" for column in columns)
            print(f"{bench},{name},{speeds},{ratio and f'{ratio:.3f}'}")
    for name, speed, ratio in pcodec():
        print(f"pcodec,{name},,,{speed:.3g},{ratio:.3f}")


if __name__ == "__main__":
    main()
