"""Reads pages that are pictures: engines behind one seam, and what a picture needs before it is read."""
