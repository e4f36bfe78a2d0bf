"""Adds up the second column of a CSV file."""
import sys


def read_rows(path):
    return (line.split(",") for line in open(path))


def total(rows):
    return sum(float(row[1]) for row in rows)


print(total(read_rows(sys.argv[1])))
