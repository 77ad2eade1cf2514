"""The answer path: a question comes in over gRPC, a checked answer or a typed refusal goes out."""
