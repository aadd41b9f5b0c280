"""The commands, each a few lines over the library; they import what takes long when they run."""
