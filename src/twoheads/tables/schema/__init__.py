"""Which column holds what, and how its values are coded: roles, labels, ids."""
