"""`python -m loggia_sdk build APP.py --out FILE.wasm`."""

import sys

from . import build

if __name__ == "__main__":
    if sys.argv[1:2] != ["build"]:
        print("usage: python -m loggia_sdk build APP.py --out FILE.wasm", file=sys.stderr)
        sys.exit(2)
    sys.exit(build.main(sys.argv[2:]))
