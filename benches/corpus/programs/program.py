import math
from collections import deque


class Queue:
    def __init__(self, limit):
        self.items = deque()
        self.limit = limit

    def push(self, item):
        if len(self.items) >= self.limit:
            raise ValueError("the queue is full")
        self.items.append(item)
        return len(self.items)


def primes(limit):
    found = []
    for number in range(2, limit):
        is_prime = True
        for divisor in found:
            if divisor * divisor > number:
                break
            if number % divisor == 0:
                is_prime = False
                break
        if is_prime:
            found.append(number)
    return found


def mean(values):
    total = 0.0
    for value in values:
        total += value
    return total / len(values) if values else math.nan


queue = Queue(10)
for prime in primes(30):
    queue.push({"prime": prime, "root": math.sqrt(prime)})
print(mean([item["prime"] for item in queue.items]))
