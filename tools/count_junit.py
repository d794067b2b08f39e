#!/usr/bin/env python3
"""Prints `passed failed` of a JUnit XML report (GoogleTest, pytest, node --test, vitest). Skipped and disabled tests are in neither number."""

import sys
import xml.etree.ElementTree as tree


def main():
    passed = failed = 0
    for case in tree.parse(sys.argv[1]).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is None and case.get("status") != "notrun":
            passed += 1
    print(passed, failed)


if __name__ == "__main__":
    main()
