"""Items that are kept beside a team, by id, so that it can be fitted again when more is known of them."""
