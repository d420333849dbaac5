"""The CrossHair lane: theorems about the real rules, confirmed within written bounds."""
