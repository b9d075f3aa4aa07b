"""What builds the site beside Sphinx: reference pages, links of pages, and a check of the result."""
