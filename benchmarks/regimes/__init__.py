"""What weights on sources are worth in each regime, and what each way of setting them recovers.

A regime is a kind of problem: a target of few labelled examples beside sources of which some are
useful and the others are not, in pre-training or in joint training. Which sources are useful is
known, because the others were spoilt on purpose. All methods of a regime have the same model,
examples, steps and passes over the target; what they differ in is how sources are weighed, and what
they spend on finding that out, which is recorded.

Dev examples are used for one thing: to choose the sources that the search ends with.
"""
