"""What a fitted team can be asked: facts, sentences, explanations, the next answer."""
