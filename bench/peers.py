#!/usr/bin/env python3
"""Sizes and speeds, on one thread, of gdelta and of what else people use, on every file of a folder.

usage: bench/peers.py FOLDER OUT.csv [OUT.svg]
       bench/peers.py --slices BYTES[,BYTES…] FOLDER OUT.csv

Files are NAME.TYPExTUPLE.bin, as TYPE and TUPLE say: i16x2, f32x3. Peers are those whose programs (xz, flac) and Python
modules (zstandard, lz4, blosc2, pcodec, openzl, fpzip, zfpy) are there; which are not is said. Each is used at its best
documented setting for such data, flat and lane by lane, and every output is compared with its input.

A row: file, codec, setting, bytes, compressed bytes, ratio, MB/s of encoding and of decoding (10^6 bytes of values a second, the
least time of up to five runs; programs are timed as processes). gdelta's are those of `gdelta bench`, which are in memory, too.

With --slices, sizes alone: of so many bytes from the middle of each file, or of a shorter file all, whole tuples; 0 means whole
files. Then a row is a slice: file, bytes, what gdelta makes of it at -9, which peer is best of all and with what setting, what
it makes of it, and gdelta's bytes as a part of that.
"""
import argparse
import csv
import importlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

from ratio_plot import draw, geometric_mean

HERE = os.path.dirname(os.path.abspath(__file__))
GDELTA = os.path.join(HERE, "..", "build", "release", "gdelta")
LEVELS = (1, 5, 9)
COLUMNS = ["file", "codec", "setting", "bytes", "compressed_bytes", "ratio", "encode_mb_s", "decode_mb_s"]
SLICE_COLUMNS = ["file", "bytes", "gdelta_bytes", "peer", "setting", "peer_bytes", "part_of_peer"]


def module(name):
    """The module, or None, which is said once."""
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"peers: no Python module {name}", file=sys.stderr)
        return None


def timed(function, runs):
    """What it gives, and the least of its times: up to so many, for at most a second."""
    best, begin = math.inf, time.perf_counter()
    for _ in range(runs):
        start = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - start)
        if time.perf_counter() - begin > 1:
            break
    return result, best


class Recording:
    """The values of a file, or of a slice from its middle: all of them, and lane by lane."""

    def __init__(self, path, slice_bytes=0):
        kind, bits, tuple_ = re.search(r"\.([iuf])(\d+)x(\d+)\.bin$", path).groups()
        self.name, self.path = os.path.basename(path), path
        self.type, self.tuple = f"{kind}{bits}", int(tuple_)
        self.dtype = np.dtype(f"<{kind}{int(bits) // 8}")
        self.values = np.fromfile(path, self.dtype)
        count = slice_bytes // self.dtype.itemsize // self.tuple * self.tuple
        if 0 < count < len(self.values):
            first = (len(self.values) - count) // 2 // self.tuple * self.tuple
            self.values = self.values[first:first + count]
        self.raw = self.values.tobytes()
        tuples = self.values[: len(self.values) // self.tuple * self.tuple].reshape(-1, self.tuple)
        self.lanes = [np.ascontiguousarray(tuples[:, lane]) for lane in range(self.tuple)]

    def arrangements(self):
        """Ways in which a codec of one array can take it; lanes only if nothing is left over."""
        yield "flat", [self.values]
        if self.tuple > 1 and len(self.values) % self.tuple == 0:
            yield "lanes", self.lanes


class Table:
    """Of all codecs and settings, with their speeds."""
    runs = 5  # of which the fastest counts

    def __init__(self, out):
        self.writer = csv.writer(out, lineterminator="\n")
        self.writer.writerow(COLUMNS)
        self.rows = []

    def add(self, recording, codec, setting, compressed, encode_seconds, decode_seconds):
        size = len(recording.raw)
        row = [recording.name, codec, setting, size, compressed, f"{size / compressed:.4f}",
               f"{size / encode_seconds / 1e6:.1f}", f"{size / decode_seconds / 1e6:.1f}"]
        self.rows.append(row)
        self.writer.writerow(row)

    def measure(self, recording, codec, setting, encode, decode, size=len, same=None):
        """Encodes and decodes; a peer that fails on such data is left out, one that is wrong ends all."""
        try:
            packed, encode_seconds = timed(encode, self.runs)
            values, decode_seconds = timed(lambda: decode(packed), self.runs)
        except Exception as error:  # whatever a peer throws at data that it does not take
            print(f"peers: {codec} {setting} does not take {recording.name}: {error}"[:160], file=sys.stderr)
            return
        if not (same or (lambda got: got == recording.raw))(values):
            sys.exit(f"peers: {codec} {setting} does not give {recording.name} back")
        self.add(recording, codec, setting, size(packed), encode_seconds, decode_seconds)

    def measure_arrays(self, recording, codec, setting, arrays, encode, decode):
        """Of each array by itself."""
        self.measure(recording, codec, setting, lambda: [encode(a) for a in arrays],
                     lambda packed: [decode(p) for p in packed], lambda packed: sum(map(len, packed)),
                     lambda got: all(bytes(g) == a.tobytes() for g, a in zip(got, arrays)))


class SliceTable(Table):
    """Of slices: the best peer and gdelta beside it."""
    runs = 1

    def __init__(self, out):
        self.writer = csv.writer(out, lineterminator="\n")
        self.writer.writerow(SLICE_COLUMNS)
        self.best = []  # of the slice at hand: bytes, codec, setting of each peer
        self.rows = []

    def add(self, recording, codec, setting, compressed, encode_seconds, decode_seconds):
        self.best.append((compressed, codec, setting))

    def close(self, recording, gdelta_bytes):
        compressed, codec, setting = min(self.best)
        self.best = []
        row = [recording.name, len(recording.raw), gdelta_bytes, codec, setting, compressed,
               f"{gdelta_bytes / compressed:.4f}"]
        self.rows.append(row)
        self.writer.writerow(row)


def run(command, data):
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout


def add_gdelta(table, recording):
    command = [GDELTA, "bench", "--json", *(f"-{level}" for level in LEVELS), "-T1", "--device", "cpu", "--type",
               recording.type, "--tuple", str(recording.tuple), recording.path]
    size = len(recording.raw)
    for row in sorted(json.loads(run(command, b""))["results"], key=lambda row: row["level"]):
        table.add(recording, "gdelta", f"-{row['level']}", row["compressed_bytes"],
                  size / row["encode_gb_s"] / 1e9, size / row["decode_gb_s"] / 1e9)


def gdelta_bytes(recording):
    """What the command makes of a slice at -9; it is compared with what comes back."""
    with tempfile.NamedTemporaryFile() as slice_file:
        slice_file.write(recording.raw)
        slice_file.flush()
        packed = run([GDELTA, "compress", "-q", "-c", "-9", "--device", "cpu", "--type", recording.type, "--tuple",
                      str(recording.tuple), slice_file.name], b"")
    if run([GDELTA, "decompress", "-q", "-c", "-"], packed) != recording.raw:
        sys.exit(f"peers: gdelta does not give {recording.name} back")
    return len(packed)


def add_bytes(table, recording, modules):
    raw = recording.raw
    if zstd := modules["zstandard"]:
        for level in (3, 19):
            coder, decoder = zstd.ZstdCompressor(level=level), zstd.ZstdDecompressor()
            table.measure(recording, "zstd", f"-{level}", lambda c=coder: c.compress(raw), decoder.decompress)
    if shutil.which("xz"):
        table.measure(recording, "xz", "-9e", lambda: run(["xz", "-9e", "-T1", "-c"], raw),
                      lambda packed: run(["xz", "-dc"], packed))
    if lz4 := modules["lz4.frame"]:
        table.measure(recording, "lz4", "", lambda: lz4.compress(raw), lz4.decompress)


def add_arrays(table, recording, modules):
    for arrangement, arrays in recording.arrangements():
        if pco := modules["pcodec"]:
            standalone = importlib.import_module("pcodec.standalone")
            spec = pco.DeltaSpec
            configs = {str(level): pco.ChunkConfig(compression_level=level) for level in (8, 12)}
            configs["12 lookback"] = pco.ChunkConfig(compression_level=12, delta_spec=spec.try_lookback())
            for order in range(4):
                delta = spec.try_consecutive(order) if order else spec.no_op()
                configs[f"12 order {order}"] = pco.ChunkConfig(compression_level=12, delta_spec=delta)
            for name, config in configs.items():
                table.measure_arrays(recording, "pcodec", f"{name} {arrangement}", arrays,
                                     lambda a, c=config: standalone.simple_compress(a, c),
                                     lambda p: standalone.simple_decompress(p).tobytes())
        if blosc2 := modules["blosc2"]:
            for name, filters in (("shuffle", [blosc2.Filter.SHUFFLE]), ("bitshuffle", [blosc2.Filter.BITSHUFFLE]),
                                  ("bytedelta", [blosc2.Filter.SHUFFLE, blosc2.Filter.BYTEDELTA])):
                def encode(a, filters=filters):
                    meta = [a.dtype.itemsize if f == blosc2.Filter.BYTEDELTA else 0 for f in filters]
                    return blosc2.compress2(a, codec=blosc2.Codec.ZSTD, clevel=9, filters=filters, filters_meta=meta,
                                            typesize=a.dtype.itemsize, nthreads=1)
                table.measure_arrays(recording, "blosc2", f"{name} {arrangement}", arrays, encode,
                                     lambda p: blosc2.decompress2(p, nthreads=1))
        if modules["openzl.ext"]:
            add_openzl(table, recording, modules["openzl.ext"], arrangement, arrays)
    if (fpzip := modules["fpzip"]) and recording.dtype.kind == "f":
        arrays = recording.lanes
        table.measure_arrays(recording, "fpzip", "lanes", arrays,
                             lambda a: fpzip.compress(a.reshape(1, 1, 1, -1), precision=0, order="C"),
                             lambda p: fpzip.decompress(p).tobytes())
    if (zfpy := modules["zfpy"]) and recording.dtype.str in ("<f4", "<f8", "<i4", "<i8"):
        table.measure_arrays(recording, "zfp", "lanes", recording.lanes, zfpy.compress_numpy,
                             lambda p: zfpy.decompress_numpy(p).tobytes())


def add_openzl(table, recording, zl, arrangement, arrays):
    """Graphs that its documentation has for numbers, each from a node of integers to its own back end."""
    nodes, graphs = zl.nodes, zl.graphs
    ways = {
        "delta zigzag": lambda c: nodes.DeltaInt()(c, nodes.Zigzag()(c, graphs.Compress()(c))),
        "delta field-lz": lambda c: nodes.DeltaInt()(c, graphs.FieldLz()(c)),
        "field-lz": lambda c: graphs.FieldLz()(c),
        "range field-lz": lambda c: nodes.RangePack()(c, graphs.FieldLz()(c)),
        "tokenize": lambda c: nodes.TokenizeNumeric(sort=True)(
            c, alphabet=nodes.DeltaInt()(c, graphs.FieldLz()(c)), indices=graphs.FieldLz()(c)),
        "transpose": lambda c: nodes.DeltaInt()(c, nodes.Zigzag()(c, nodes.ConvertNumToStructLE()(
            c, nodes.TransposeSplit()(c, graphs.Compress()(c))))),
    }
    words = [a.view(f"u{a.dtype.itemsize}") for a in arrays]
    context, decoder = zl.CCtx(), zl.DCtx()
    for name, way in ways.items():
        compressor = zl.Compressor()
        compressor.select_starting_graph(way(compressor))

        def encode(a, compressor=compressor):
            context.ref_compressor(compressor)
            context.set_parameter(zl.CParam.FormatVersion, zl.MAX_FORMAT_VERSION)
            return context.compress([zl.Input(zl.Type.Numeric, a)])

        table.measure_arrays(recording, "openzl", f"{name} {arrangement}", words, encode,
                             lambda p: np.asarray(decoder.decompress(p)[0].content.as_nparray()).tobytes())


def add_flac(table, recording):
    bits = {"i16": 16, "i32": 24}.get(recording.type)
    if not (bits and recording.name.startswith("audio") and shutil.which("flac")):
        return
    samples = recording.values.view("u1").reshape(-1, recording.dtype.itemsize)[:, : bits // 8].tobytes()
    form = ["--force-raw-format", "--endian=little", "--sign=signed", "-s", "-c"]
    table.measure(recording, "flac", "-8",
                  lambda: run(["flac", "-8", f"--channels={recording.tuple}", f"--bps={bits}", "--sample-rate=44100",
                               *form, "-"], samples),
                  lambda packed: run(["flac", "-d", *form, "-"], packed), same=lambda got: got == samples)


def summarise(rows):
    """Of each codec and setting that all files have: mean ratio and speeds. And the best of the peers, file by file."""
    files = sorted({row[0] for row in rows})
    points = {}
    for row in rows:
        points.setdefault((row[1], row[2]), []).append(tuple(float(x) for x in row[5:]))
    means = {way: tuple(geometric_mean(column) for column in zip(*of)) for way, of in points.items()
             if len(of) == len(files)}
    for (codec, setting), (ratio, encode, decode) in sorted(means.items(), key=lambda point: point[1][0]):
        print(f"{codec + ' ' + setting:24} ratio {ratio:6.3f}  encode {encode:8.1f} MB/s  decode {decode:8.1f} MB/s")
    best = {file: max(float(row[5]) for row in rows if row[0] == file and row[1] != "gdelta") for file in files}
    print(f"best of the peers, file by file: {geometric_mean(best.values()):.3f}")
    return means


def measure_peers(table, recording, modules):
    add_bytes(table, recording, modules)
    add_arrays(table, recording, modules)
    add_flac(table, recording)


def measure_slices(paths, sizes, modules, out):
    table = SliceTable(out)
    for path in paths:
        lengths = set()
        for size in sizes:
            recording = Recording(path, size)
            if len(recording.raw) in lengths:
                continue
            lengths.add(len(recording.raw))
            print(recording.name, len(recording.raw), file=sys.stderr)
            measure_peers(table, recording, modules)
            table.close(recording, gdelta_bytes(recording))
            out.flush()
    parts = [float(row[-1]) for row in table.rows]
    print(f"{len(parts)} slices, {sum(part > 1.02 for part in parts)} of them more than 2 % larger than of the best peer; "
          f"{geometric_mean(parts):.4f} of the best peers' bytes on geomean")


def measure_files(paths, modules, out):
    table = Table(out)
    for path in paths:
        recording = Recording(path)
        print(recording.name, file=sys.stderr)
        add_gdelta(table, recording)
        measure_peers(table, recording, modules)
        out.flush()
    return summarise(table.rows)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--slices", type=lambda text: [int(size) for size in text.split(",")])
    parser.add_argument("folder")
    parser.add_argument("out")
    parser.add_argument("svg", nargs="?")
    options = parser.parse_args()
    modules = {name: module(name) for name in
               ("zstandard", "lz4.frame", "pcodec", "blosc2", "openzl.ext", "fpzip", "zfpy")}
    for program in ("xz", "flac"):
        if not shutil.which(program):
            print(f"peers: no program {program}", file=sys.stderr)
    paths = sorted(os.path.join(options.folder, name) for name in os.listdir(options.folder)
                   if re.search(r"\.[iuf]\d+x\d+\.bin$", name))
    with open(options.out, "w") as out:
        if options.slices:
            return measure_slices(paths, options.slices, modules, out)
        means = measure_files(paths, modules, out)
    if options.svg:
        draw(options.svg, ("ratio against MB/s, encoding, one thread", "ratio against MB/s, decoding, one thread"), means)


if __name__ == "__main__":
    main()
