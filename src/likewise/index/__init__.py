"""The online index: items that stay, and the queries and writes that meet them. `store` is the seam between the index and where items are kept."""
