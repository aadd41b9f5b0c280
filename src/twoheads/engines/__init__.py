"""Where maps and sums over blocks of items run: in threads, over chunks on disk, on a cluster."""
