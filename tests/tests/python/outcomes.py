# Prints one line for each case of a JUnit report: outcome, a tab, name. The report is standard input.
import sys
from xml.etree import ElementTree

for case in ElementTree.parse(sys.stdin).iter("testcase"):
    kinds = [child.tag for child in case if child.tag in ("error", "failure", "skipped")]
    print(kinds[0] if kinds else "ok", case.get("name"), sep="\t")
