pragma circom 2.2.0;

// Control flow that depends on inputs: branches that return, assert, divide, loop and write arrays; indices; and components of all kinds.

// Returns at any of many places.
function compare(n, a, b) {
    for (var i = n - 1; i >= 0; i--) {
        if (a[i] > b[i]) { return 1; }
        if (a[i] < b[i]) { return -1; }
    }
    return 0;
}

// Returns inside of a branch, after which both ways go on.
function first(n, a, b) {
    var found = -1;
    for (var i = 0; i < n; i++) {
        if (a[i] % 3 == 0) {
            if (a[i] == b[i]) { return 100 + i; }
            found = i;
        } else if (b[i] % 5 == 0) {
            var sum = 0;
            for (var j = 0; j <= i; j++) { sum += a[j] * b[i - j]; }
            if (sum % 7 == 0) { return sum; }
        }
    }
    return found;
}

// Arrays that are returned, and written where a condition holds.
function order(n, a) {
    var sorted[8];
    for (var i = 0; i < n; i++) { sorted[i] = a[i]; }
    for (var i = 0; i < n; i++) {
        for (var j = i + 1; j < n; j++) {
            if (sorted[j] < sorted[i]) {
                var swapped = sorted[i];
                sorted[i] = sorted[j];
                sorted[j] = swapped;
            }
        }
    }
    return sorted;
}

// Asserts and divides only where it is asked to.
function careful(a, b) {
    if (b != 0) {
        assert(a != 13);
        if (a \ b > 5) { return a % b; }
        return a \ b;
    }
    return a;
}

// Calls itself as often as an input says, up to a bound that does not depend on it.
function power(x, n, bits) {
    if (bits == 0) { return 1; }
    var half = power(x, n >> 1, bits - 1);
    if (n & 1 == 1) { return half * half * x; }
    return half * half;
}

template Power(n) {
    signal input x;
    signal output y;
    signal powers[n];
    powers[0] <== x;
    for (var i = 1; i < n; i++) { powers[i] <== powers[i - 1] * x; }
    y <== powers[n - 1];
}

bus Pair() {
    signal left;
    signal right;
}

template Swap() {
    input Pair() pair;
    output Pair() swapped;
    signal output {binary} differs;
    swapped.left <== pair.right;
    swapped.right <== pair.left;
    differs <-- pair.left != pair.right ? 1 : 0;
    differs * (1 - differs) === 0;
}

// Straight-line but for choices: a graph of it is for all inputs.
template Choices(n) {
    signal input a[n];
    signal input b[n];
    signal output results[8];
    signal output sorted[n];
    results[0] <-- compare(n, a, b);
    results[1] <-- first(n, a, b);
    results[2] <-- careful(a[0], b[0]);
    results[3] <-- power(a[1], b[1], 5);
    results[4] <-- a[2] < b[2] ? (a[3] == b[3] ? a[0] : b[0]) : -a[3];
    var list[8] = order(n, a);
    for (var i = 0; i < n; i++) { sorted[i] <-- list[i]; }
    component powers[2];
    powers[0] = Power(2);
    powers[1] = Power(3);
    for (var i = 0; i < 2; i++) { powers[i].x <== a[i] + b[i]; }
    results[5] <== powers[0].y + powers[1].y;
    results[6] <== Power(3)(a[2]);
    Pair() pair;
    pair.left <== a[0];
    pair.right <== b[0];
    component swap = Swap();
    swap.pair <== pair;
    results[7] <== swap.differs * swap.swapped.left;
    log("compared", results[0], "and", results[2]);
    assert(a[0] + 1 != 0);
}

// A loop's length and indices depend on inputs: a graph of it is for inputs like the sample's.
template Guesses(n) {
    signal input a[n];
    signal output results[3];
    var count = 0;
    while (count < 10 && a[0] >> count > 0) { count++; }
    results[0] <-- count;
    var table[n];
    for (var i = 0; i < n; i++) { table[i] = a[i] * a[i]; }
    results[1] <-- table[a[1] & 3];
    if (a[2] > 5) {
        var k = 0;
        while (k < a[2] && k < 9) { table[k & 3] += k; k++; }
        log("added", table[0]);
    }
    results[2] <-- table[0];
}

template Branches() {
    signal input a[4];
    signal input b[4];
    signal output choices[12];
    signal output guesses[3];
    component choose = Choices(4);
    choose.a <== a;
    choose.b <== b;
    for (var i = 0; i < 8; i++) { choices[i] <== choose.results[i]; }
    for (var i = 0; i < 4; i++) { choices[8 + i] <== choose.sorted[i]; }
    guesses <== Guesses(4)(a);
}
component main = Branches();
