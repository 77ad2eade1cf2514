"""Haystack's hybrid retrieval as its guide has it: word splitter, BM25 and vectors in memory, ranks fused."""

from collections.abc import Sequence

from haystack import Document, Pipeline, component
from haystack.components.joiners import DocumentJoiner
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from benchmarks.peer_run import Search, distinct
from benchmarks.peer_triton import Embedder

TOP = 30


@component
class QueryEmbedder:
    """A question's vector."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, list[float]]:
        """As a pipeline calls it."""
        return {"embedding": self._embedder.embed(text, "query")}


def built(documents: Sequence[dict[str, str]], embedder: Embedder) -> Search:
    """An index of the documents, and the pipeline that asks it."""
    store = InMemoryDocumentStore()
    whole = [Document(content=f"{one['title']}\n{one['text']}", meta={"id": one["id"]}) for one in documents]
    splitter = DocumentSplitter(split_by="word", split_length=200, split_overlap=0)
    splitter.warm_up()
    chunks = splitter.run(documents=whole)["documents"]
    for chunk in chunks:
        chunk.embedding = embedder.embed(chunk.content, "document")
    store.write_documents(chunks)
    pipeline = _pipeline(store, embedder)

    def search(question: str) -> list[str]:
        found = pipeline.run({"embed": {"text": question}, "words": {"query": question}})
        return distinct([one.meta["id"] for one in found["join"]["documents"]])

    return search


def _pipeline(store: InMemoryDocumentStore, embedder: Embedder) -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("embed", QueryEmbedder(embedder))
    pipeline.add_component("vectors", InMemoryEmbeddingRetriever(store, top_k=TOP))
    pipeline.add_component("words", InMemoryBM25Retriever(store, top_k=TOP))
    pipeline.add_component("join", DocumentJoiner(join_mode="reciprocal_rank_fusion"))
    pipeline.connect("embed.embedding", "vectors.query_embedding")
    pipeline.connect("vectors", "join")
    pipeline.connect("words", "join")
    return pipeline
