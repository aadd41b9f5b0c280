"""Newton's method, quadrature and sampling."""
