"""Calls the functions of a recipe in Python, as lines of JSON tell it."""
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
