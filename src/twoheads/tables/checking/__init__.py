"""Looking at a table before it is fitted: what each column holds, what is wrong, and a clean copy."""
