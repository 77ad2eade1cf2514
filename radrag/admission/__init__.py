"""How much at once: a bounded queue before each method, and what one caller may ask for."""
