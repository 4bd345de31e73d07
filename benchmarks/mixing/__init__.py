"""What choosing among corpora is worth, and what each method recovers of it.

A byte model is trained on a mixture of corpora, for a target of 200 lines that tells
what is wanted and is not trained on. Bits a byte on the target's test text say what a mixture is
worth. Nothing is chosen with equal weights. The ceiling is the best of all single corpora and of
the pairs of the best four, found by training on each and chosen on dev text. What lies between is
the headroom, of which a method recovers (equal − method) / (equal − ceiling).

All methods have the same total cost, in windows that go forward and back through the model: what a
method spends on measuring, it takes from its training steps.
"""
