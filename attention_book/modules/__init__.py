"""Attention as modules that own their weights; the mathematics is in ``functional``.

The classes, their signatures and the order in which they draw their weights follow Raschka, "Build a Large Language
Model (From Scratch)", sections 3.4 to 3.6 (Apache 2.0), so that the seeded numbers come out. Several heads: Vaswani et
al. (2017), section 3.2.2.

Every ``forward`` takes ``x`` of shape ``(n, d_in)`` or ``(b, n, d_in)`` and returns the context vectors;
``need_weights=True`` returns ``(output, weights)``, per head and never averaged. These are the weights before dropout,
so that each row sums to 1 in training too.
"""

from attention_book.modules.causal import CausalAttention
from attention_book.modules.multi_head import MultiHeadAttention, MultiHeadAttentionWrapper
from attention_book.modules.self_attention import SelfAttention_v1, SelfAttention_v2

__all__ = [
    "SelfAttention_v1",
    "SelfAttention_v2",
    "CausalAttention",
    "MultiHeadAttentionWrapper",
    "MultiHeadAttention",
]
