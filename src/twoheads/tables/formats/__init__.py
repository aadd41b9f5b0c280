"""Formats of files: what each can do, how they are found and recognised, and the files of one table as one."""
