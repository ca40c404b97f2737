"""What the programs in tools/ share: figures of what was learned, and conversion to PyTorch."""
