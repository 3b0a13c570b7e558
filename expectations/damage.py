"""The checks of an audit that say whether the rows of a table can be read, by their names."""

from __future__ import annotations

LOG_IS_WHOLE = "log_is_whole"
FILES_ARE_WHOLE = "files_are_whole"
