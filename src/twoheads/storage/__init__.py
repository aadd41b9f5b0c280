"""Files of this package: written atomically (`atomic`), and fitted objects as JSON (`artifact`)."""
