"""LlamaIndex as its first example has it: sentence splitter of 1,024 tokens, vectors in memory."""

from collections.abc import Sequence
from typing import Any

from llama_index.core import Document, VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.node_parser import SentenceSplitter
from pydantic import PrivateAttr

from benchmarks.peer_run import Search, distinct
from benchmarks.peer_triton import Embedder

TOP = 30


class TritonEmbedding(BaseEmbedding):
    """The embedder behind LlamaIndex's own interface."""

    _embedder: Embedder = PrivateAttr()

    def __init__(self, embedder: Embedder, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._embedder = embedder

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._embedder.embed(query, "query")

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._embedder.embed(text, "document")

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


def built(documents: Sequence[dict[str, str]], embedder: Embedder) -> Search:
    """An index of the documents, and its retriever."""
    whole = [Document(text=f"{one['title']}\n{one['text']}", metadata={"id": one["id"]}) for one in documents]
    index = VectorStoreIndex.from_documents(
        whole, embed_model=TritonEmbedding(embedder), transformations=[SentenceSplitter()]
    )
    retriever = index.as_retriever(similarity_top_k=TOP)

    def search(question: str) -> list[str]:
        return distinct([one.metadata["id"] for one in retriever.retrieve(question)])

    return search
