"""What the programs in python/ share: figures of what was learned, and conversion to PyTorch."""
