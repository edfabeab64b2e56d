"""Attention from scratch: the reference implementation behind the book, in reading order."""

from attention_book.diagnosis.diagnose import Diagnosis, diagnose
from attention_book.examples import CAT, JOURNEY, Example
from attention_book.functional import scaled_dot_product_attention, simple_attention
from attention_book.masks import causal_mask, padding_mask
from attention_book.mistakes import MISTAKES, Mistake
from attention_book.modules import (
    CausalAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    SelfAttention_v1,
    SelfAttention_v2,
)
from attention_book.reading import Reading, attend
from attention_book.trace import Trace, trace

__all__ = [
    "JOURNEY",
    "CAT",
    "Example",
    "simple_attention",
    "scaled_dot_product_attention",
    "SelfAttention_v1",
    "SelfAttention_v2",
    "causal_mask",
    "padding_mask",
    "CausalAttention",
    "MultiHeadAttentionWrapper",
    "MultiHeadAttention",
    "trace",
    "Trace",
    "attend",
    "Reading",
    "MISTAKES",
    "Mistake",
    "diagnose",
    "Diagnosis",
]
