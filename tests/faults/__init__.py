"""What breaks, and what is seen of it: `make faults`."""
