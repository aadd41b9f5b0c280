"""What makes the documentation: the site's hooks, its help texts, the README's picture, and a look at every page."""
