"""Small models that are trained while the book is built, and what their heads learned."""
