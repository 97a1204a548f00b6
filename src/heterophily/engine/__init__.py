"""The native twin of layers and fit for the ACM family: optional, faster, the same answers."""
