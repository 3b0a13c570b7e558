"""Rules over streams: programs of plain LARS, from their text to checked rules.

Definitions are those of Bazoobandi, Beck, Urbani: Expressive Stream Reasoning with Laser (2017).
"""
