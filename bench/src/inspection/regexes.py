"""Nine regular expressions (O-01) over texts on standard input, each ended by NUL: seconds of CPU, median of rounds."""

import re
import statistics
import sys
import time

PATTERNS = [
    re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for pattern in [
        r"<\|im_start\|>|<\|im_end\|>",
        r"\[INST\]|\[/INST\]",
        r"ignore\s+(all\s+)?previous\s+(instructions|commands|prompts)",
        r"disregard\s+(the\s+)?(above|previous|earlier)",
        r"forget\s+(everything|all|your\s+instructions)",
        r"(new|updated|different)\s+(instructions|task|objective|goal):",
        r"system\s+(prompt|message|instruction):",
        r"you\s+are\s+now\s+",
        r"<script>",
    ]
]

texts = sys.stdin.buffer.read().decode("utf-8").split("\0")
times = []
for _ in range(int(sys.argv[1])):
    start = time.process_time()
    for text in texts:
        for pattern in PATTERNS:
            pattern.search(text)
    times.append(time.process_time() - start)
print(statistics.median(times))
