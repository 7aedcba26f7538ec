int greatest_common_divisor(int first, int second) {
    while (second != 0) {
        int rest = first - (first / second) * second;
        first = second;
        second = rest;
    }
    return first;
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

int power(int base, int exponent) {
    int result = 1;
    for (int i = 0; i < exponent; i = i + 1) {
        result = result * base;
    }
    return result;
}

int main() {
    int number = 2;
    int found = 0;
    while (found < 25) {
        if (is_prime(number) == 1) {
            show(number, power(number, 2), greatest_common_divisor(number, 360));
            found = found + 1;
        } else {
            skip(-number);
        }
        number = number + 1;
    }
    return 0;
}
