# SPDX-License-Identifier: BSD-2-Clause
from rules import RULES as BASE
import re,glob,os
RULES={}
here=os.path.dirname(__file__)
for f in glob.glob(here+"/*.py"):
    for n in re.findall(r"rules\.(\w+)", open(f).read()): RULES[n]=None
class Rules:
    def __init__(self, without=None):
        for name in (*BASE, *RULES):
            setattr(self, name, name != without)
