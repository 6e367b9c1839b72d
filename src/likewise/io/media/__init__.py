"""Sets of feature vectors from what is no table: pictures, videos, and texts whose tokens have vectors."""
