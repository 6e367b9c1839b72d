"""Sets of feature vectors from what is no table: images, videos, and texts whose tokens have vectors."""
