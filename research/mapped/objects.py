import sys
import time

count = int(sys.argv[1])
kept = [bytes(20 + i % 50) for i in range(count)]
names = {i: str(i) for i in range(count // 4)}
if len(sys.argv) > 2:
    time.sleep(int(sys.argv[2]) / 1000)
print(len(kept), len(names))
