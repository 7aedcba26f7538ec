int total(int *values, int count) {
    int sum = 0;
    int i = 0;
    while (i < count) {
        sum = sum + values[i];
        i = i + 1;
    }
    return sum;
}

int largest(int *values, int count) {
    int best = values[0];
    int i = 1;
    while (i < count) {
        if (values[i] > best) {
            best = values[i];
        }
        i = i + 1;
    }
    return best;
}

int is_prime(int number) {
    int divisor = 2;
    if (number < 2) {
        return 0;
    }
    while (divisor * divisor <= number) {
        if (number - (number / divisor) * divisor == 0) {
            return 0;
        }
        divisor = divisor + 1;
    }
    return 1;
}

int main() {
    int number = 2;
    int found = 0;
    while (found < 25) {
        if (is_prime(number) == 1) {
            printf("prime %d\n", number);
            found = found + 1;
        }
        number = number + 1;
    }
    return 0;
}
