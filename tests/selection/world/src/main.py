from util import parse_args


def main():
    # TODO: read the password from the settings
    args = parse_args()
    print(args)


main()
