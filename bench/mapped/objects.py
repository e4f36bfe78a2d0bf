import sys

count = int(sys.argv[1])
kept = [bytes(20 + i % 50) for i in range(count)]
names = {i: str(i) for i in range(count // 4)}
print(len(kept), len(names))
