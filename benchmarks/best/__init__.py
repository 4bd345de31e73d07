"""What `tawt best` is worth: each labelled set in turn is the target, the others are sources.

The target has 100 examples of its training part, or all that it has; sources are cut to a size at
which a run takes seconds. What `tawt best` chooses is scored on the official test part, beside the
best of the target alone among the same candidates (tuned) and the target alone as it is first tried
(untuned), all trained on the same examples.
"""
