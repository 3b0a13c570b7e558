"""The times of answers: axes, legs, horizons, corrections, and which events are kept for them.

What reads the graph alone is evaluated at epochs: a range of them is one leg. What reads streams is
evaluated at instants and recorded by epoch (`legs`): `timeline` says what each epoch means for it,
`evaluation` computes a leg on either axis, `retention` says which events are still needed.
"""
