"""What builds the site beside Sphinx: pages of the reference, links, a check of the result."""
