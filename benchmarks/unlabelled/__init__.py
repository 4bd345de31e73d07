"""What unlabelled text of the domain is worth to a labelled target.

A target of few labelled examples is learned by itself; after the encoder has predicted hidden words
of text of its domain; and after the same with text of other domains among it, whose weights are
equal, or learned. Every line of the text that stands in the target's own dev or test is left out.
All that differs between two methods of one seed is what comes before (or beside) the passes over
the target: its examples, its passes and its learning rate are the same. Dev examples are not
used; what is scored is the model at its end.
"""
