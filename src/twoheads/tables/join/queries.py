"""The SQL of joining answers and truth to the model's rows."""

from __future__ import annotations

from twoheads.kernels.arrays import MISSING
from twoheads.tables.schema.coding import UNSURE

EXTRA = f"""
    CREATE TABLE extra AS SELECT id, ? + row_number() OVER (ORDER BY first) - 1 AS "at" FROM (
        SELECT id, min(row) AS first FROM answered JOIN answered_codes USING (label) ANTI JOIN items USING (id)
        WHERE code <> {MISSING} GROUP BY id
    )
"""
SEVERAL = f"""
    SELECT id, count(*), count(*) OVER () FROM answered JOIN answered_codes USING (label) WHERE code <> {MISSING}
    GROUP BY id HAVING count(*) > 1 ORDER BY min(row) LIMIT 1
"""
UNANSWERED = """
    SELECT count(*), first(id ORDER BY "at") FROM items ANTI JOIN placed USING ("at") ANTI JOIN unsure USING ("at")
"""
BLANK = f"""
    SELECT count(DISTINCT id), first(id ORDER BY row) FROM answered JOIN answered_codes USING (label)
    ANTI JOIN items USING (id) ANTI JOIN extra USING (id) WHERE code = {MISSING}
"""
PLACED = f"""
    CREATE TABLE placed AS SELECT "at", place * ? + code AS answer{{sure}}
    FROM answered JOIN answered_codes USING (label) JOIN annotators USING (annotator) JOIN everything USING (id)
    WHERE code > {MISSING} ORDER BY "at", answer{{by_row}}
"""
UNSURE_ANSWERS = f"""
    CREATE TABLE unsure AS SELECT "at", place
    FROM answered JOIN answered_codes USING (label) JOIN annotators USING (annotator) JOIN everything USING (id)
    WHERE code = {UNSURE} ORDER BY "at", place
"""
TWO_TRUTHS = f"""
    SELECT id, count(*) OVER () FROM known JOIN known_codes USING (label) WHERE code <> {MISSING}
    GROUP BY id HAVING count(DISTINCT code) > 1 ORDER BY min(row) LIMIT 1
"""
TRUTHS = f"""
    CREATE TABLE truths AS SELECT "at", max(code) AS code
    FROM known JOIN known_codes USING (label) JOIN everything USING (id)
    WHERE code <> {MISSING} GROUP BY "at" ORDER BY "at"
"""
LOST_TRUTH = f"""
    SELECT count(*), first(id ORDER BY row) FROM known JOIN known_codes USING (label) ANTI JOIN everything USING (id)
    WHERE code <> {MISSING}
"""
