"""What the report and the studies share: matplotlib's settings, and templates."""
