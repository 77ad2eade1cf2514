"""How good RadRAG is: retrieval on data sets, answers on our own questions, and thresholds set from them."""
