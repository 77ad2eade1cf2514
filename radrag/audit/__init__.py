"""The audit trail: who asked or decided what, when, and how it ended; no record can be changed unseen."""
