"""Evaluation of rules over streams: plain LARS on interval relations.

Definitions are those of Bazoobandi, Beck, Urbani: Expressive Stream Reasoning with Laser (2017).
"""
