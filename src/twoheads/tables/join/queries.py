"""The SQL of joining answers and truth to the model's rows, for a block that has all rows of its ids.

The tables ``items`` (id, at), ``answered`` and ``known`` (both as `LabelTable.schema`) are those of the block. An item
without a model row has a position behind all others, by its first answer, until `Ranks` numbers them.
"""

from __future__ import annotations

from twoheads.kernels.arrays import MISSING
from twoheads.tables.schema.coding import UNSURE

#: What the blocks are gathered in. ``found`` counts per block what is told or refused, with the first id of each kind.
TABLES = """
    CREATE TABLE extra_rows (id VARCHAR, "at" BIGINT);
    CREATE TABLE placed_rows ("at" BIGINT, answer BIGINT, sure DOUBLE, row BIGINT);
    CREATE TABLE unsure_rows ("at" BIGINT, place BIGINT);
    CREATE TABLE truth_rows ("at" BIGINT, code BIGINT);
    CREATE TABLE found (what VARCHAR, n BIGINT, id VARCHAR, times BIGINT, first BIGINT);
"""
#: A block, step by step; n_model and n_classes are numbers.
BLOCK = (
    """
    CREATE OR REPLACE TEMP TABLE linked AS SELECT id, "at", place, code, sure, row
    FROM answered JOIN answered_codes USING (label) JOIN annotators USING (annotator) LEFT JOIN items USING (id)
    """,
    f"""
    CREATE OR REPLACE TEMP TABLE fresh AS SELECT id, {{n_model}} + min(row) AS "at" FROM linked
    WHERE "at" IS NULL AND code <> {MISSING} GROUP BY id
    """,
    f"""
    CREATE OR REPLACE TEMP TABLE truths_here AS SELECT id, row, code, coalesce(items."at", fresh."at") AS "at"
    FROM known JOIN known_codes USING (label) LEFT JOIN items USING (id) LEFT JOIN fresh USING (id)
    WHERE code <> {MISSING}
    """,
    "INSERT INTO extra_rows FROM fresh",
    f"""
    INSERT INTO placed_rows SELECT coalesce(linked."at", fresh."at"), place * {{n_classes}} + code, sure, row
    FROM linked LEFT JOIN fresh USING (id) WHERE code > {MISSING}
    """,
    f"""
    INSERT INTO unsure_rows SELECT coalesce(linked."at", fresh."at"), place
    FROM linked LEFT JOIN fresh USING (id) WHERE code = {UNSURE}
    """,
    'INSERT INTO truth_rows SELECT "at", max(code) FROM truths_here WHERE "at" IS NOT NULL GROUP BY "at"',
    f"""
    INSERT INTO found
    SELECT 'repeated', sum(times - 1), arg_min(id, first), arg_min(times, first), min(first) FROM (
        SELECT id, count(*) AS times, min("at") AS first FROM items GROUP BY id HAVING count(*) > 1
    )
    UNION ALL
    SELECT 'met', count(*), NULL, NULL, NULL FROM linked WHERE "at" IS NOT NULL
    UNION ALL
    SELECT 'several', count(*), arg_min(id, first), arg_min(times, first), min(first) FROM (
        SELECT id, count(*) AS times, min(row) AS first FROM linked WHERE code <> {MISSING}
        GROUP BY id HAVING count(*) > 1
    )
    UNION ALL
    SELECT 'two truths', count(*), arg_min(id, first), NULL, min(first) FROM (
        SELECT id, min(row) AS first FROM truths_here GROUP BY id HAVING min(code) < max(code)
    )
    UNION ALL
    SELECT 'unanswered', count(*), arg_min(id, "at"), NULL, min("at")
    FROM items ANTI JOIN (SELECT id FROM linked WHERE code <> {MISSING}) USING (id)
    UNION ALL
    SELECT 'blank', count(DISTINCT id), arg_min(id, row), NULL, min(row)
    FROM linked ANTI JOIN fresh USING (id) WHERE "at" IS NULL
    UNION ALL
    SELECT 'lost truth', count(*), arg_min(id, row), NULL, min(row) FROM truths_here WHERE "at" IS NULL
    """,
)
#: All blocks together.
SORTED = """
    CREATE TABLE extra AS FROM extra_rows ORDER BY "at";
    CREATE TABLE placed AS SELECT "at", answer{sure} FROM placed_rows ORDER BY "at", answer{by_row};
    CREATE TABLE unsure AS FROM unsure_rows ORDER BY "at", place;
    CREATE TABLE truths AS FROM truth_rows ORDER BY "at";
    DROP TABLE extra_rows; DROP TABLE placed_rows; DROP TABLE unsure_rows; DROP TABLE truth_rows;
"""
FOUND = "SELECT coalesce(sum(n), 0)::BIGINT, arg_min(id, first), arg_min(times, first) FROM found WHERE what = ?"
