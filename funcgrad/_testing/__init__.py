"""What `funcgrad.testing` is made of: numerical derivatives, and checks of functions and primitives."""
