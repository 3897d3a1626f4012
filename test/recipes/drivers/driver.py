"""Calls the functions of a Python recipe, as requested by lines of JSON."""
import json
import sys

import recipe


def perform(call, args):
    try:
        return {"result": getattr(recipe, call)(*args)}
    except Exception as error:
        return {"error": repr(error), "ended": recipe.ended(error)}


for line in sys.stdin:
    print(json.dumps(perform(**json.loads(line))), flush=True)
