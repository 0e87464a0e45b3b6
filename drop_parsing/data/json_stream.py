"""Lines to JSON objects: JSON lines as they come, or one document over many lines."""

import json
import re
from collections.abc import Iterator
from itertools import chain

from drop_parsing.data.sources import ACCEPTED
from drop_parsing.data.types import Fault
from drop_parsing.errors import InputError

type Numbered = tuple[int, str]
