import sys


def parse_args():
    return sys.argv[1:]  # todo: options
