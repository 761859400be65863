#!/usr/bin/env python3
"""Writes vectors.bin from the static embedding potion-base-2M (Minish Lab, MIT; see LICENSE-potion).

    python3 make.py FOLDER

FOLDER holds `model.safetensors` and `tokenizer.json` of the model, as published in the Hugging Face repository
`minishlab/potion-base-2M` (and, unchanged, in `assets/potion-base-2M` of the crate `yantrikdb` 0.7.13, of which nothing
else is used). Their digests are checked. Needs Python's standard library only; the output is the same byte for byte.

Layout of vectors.bin, little endian:

    f32            step: unit of the scales
    u32            count: number of tokens
    count × u32    FNV-1a hashes of the tokens, ascending; tokens that continue a word begin with `##`
    count × u16    scales: a part of a vector is step × scale × its number
    count × 32 B   vectors: 64 numbers from -7 to 7, as nibbles increased by 8, the lower one first
"""

import hashlib
import json
import pathlib
import struct
import sys

DIMENSIONS = 64
DIGESTS = {
    "model.safetensors": "f95ffde02ad06f63ae38eb9d400038cd5ccaf8411ec3cb650c6025113f96cbb8",
    "tokenizer.json": "e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50",
}
# Largest number of a nibble, and of a scale.
MOST, SCALES = 7, 65535


def read(folder: pathlib.Path, name: str) -> bytes:
    data = (folder / name).read_bytes()
    if hashlib.sha256(data).hexdigest() != DIGESTS[name]:
        sys.exit(f"{folder / name} is not the file of potion-base-2M that this script was written for")
    return data


def tensor(data: bytes) -> list[tuple[float, ...]]:
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    (info,) = (info for name, info in header.items() if name != "__metadata__")
    rows, columns = info["shape"]
    assert (info["dtype"], columns) == ("F32", DIMENSIONS), info
    start = 8 + length + info["data_offsets"][0]
    row = struct.Struct(f"<{columns}f")
    return [row.unpack_from(data, start + at * row.size) for at in range(rows)]


def kept(token: str) -> bool:
    """Words and parts of words in Latin letters: a text in another script has no meaning here."""
    return not token.startswith("[") and all(ord(c) < 0x180 for c in token) and any(c.isalnum() for c in token)


def fnv(text: str) -> int:
    value = 0x811C9DC5
    for byte in text.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def main() -> None:
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) == 2 else sys.exit(__doc__)
    vectors = tensor(read(folder, "model.safetensors"))
    vocabulary = json.loads(read(folder, "tokenizer.json"))["model"]["vocab"]
    tokens = sorted((fnv(token), number) for token, number in vocabulary.items() if kept(token))
    assert len({value for value, _ in tokens}) == len(tokens), "two tokens have the same hash"
    longest = [max(map(abs, vectors[number])) / MOST for _, number in tokens]
    step = struct.unpack("<f", struct.pack("<f", max(longest) / SCALES))[0]
    scales = [max(1, round(one / step)) for one in longest]
    out = bytearray(struct.pack("<fI", step, len(tokens)))
    out += b"".join(struct.pack("<I", value) for value, _ in tokens)
    out += b"".join(struct.pack("<H", min(scale, SCALES)) for scale in scales)
    for (_, number), scale in zip(tokens, scales):
        parts = [max(-MOST, min(MOST, round(part / (step * scale)))) + 8 for part in vectors[number]]
        out += bytes(low | high << 4 for low, high in zip(parts[::2], parts[1::2]))
    target = pathlib.Path(__file__).with_name("vectors.bin")
    target.write_bytes(out)
    print(f"{target.name}: {len(tokens)} tokens, {len(out)} bytes, sha256 {hashlib.sha256(out).hexdigest()}")


main()
