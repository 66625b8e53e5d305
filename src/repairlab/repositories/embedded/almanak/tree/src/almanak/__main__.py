"""``python -m almanak``."""

import sys

from almanak.cli.main import main

sys.exit(main())
