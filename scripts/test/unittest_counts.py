"""Runs the unittest files of one folder and writes their counts as JSON: ``python unittest_counts.py FOLDER RESULT``.

A test of unittest's own text output would miscount subtests and expected failures; this counts from the result object.
"""

import json
import sys
import unittest


class CountingResult(unittest.TextTestResult):
    """Remembers how many tests passed, which unittest itself does not."""

    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.passed += 1


def main(folder, result_file):
    """Returns the process's exit code: 0 when at least one test ran and none failed."""
    suite = unittest.defaultTestLoader.discover(folder, pattern="test_*.py", top_level_dir=folder)
    runner = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=CountingResult)
    result = runner.run(suite)
    failed_tests = {str(getattr(test, "test_case", test)) for test, _ in result.failures + result.errors}
    counts = {
        "passed": result.passed,
        "failed": len(failed_tests) + len(result.unexpectedSuccesses),
        "skipped": len(result.skipped),
    }
    with open(result_file, "w", encoding="utf-8") as file:
        json.dump(counts, file)
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
