"""The OpenAPI document is made from the types, is served as it is made, and requests made from it are answered as it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from indexes import plain_index
from json_schema import Validator
from likewise.service import openapi
from likewise.service.endpoints import ENDPOINTS
from likewise.service.limits import Limits
from likewise.service.wire import FORMS, Types
from services import WRITE, Service
