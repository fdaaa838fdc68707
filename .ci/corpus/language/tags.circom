pragma circom 2.1.0;

template Bits(n) {
    signal input in;
    signal output {binary} out[n];
    var sum = 0;
    for (var i = 0; i < n; i++) {
        out[i] <-- (in >> i) & 1;
        out[i] * (out[i] - 1) === 0;
        sum += out[i] * 2 ** i;
    }
    sum === in;
}

template Bounded(n) {
    signal input in;
    signal output {bits} out;
    component bits = Bits(n);
    bits.in <== in;
    out.bits = n;
    out <== in;
}

template AllOf(n) {
    signal input {binary} in[n];
    signal output {binary} out;
    signal products[n + 1];
    products[0] <== 1;
    for (var i = 0; i < n; i++) {
        products[i + 1] <== products[i] * in[i];
    }
    out <== products[n];
}

// Whether a number is 2^(bits) - 1, of as many bits as its tag has.
template IsLargest() {
    signal input {bits} in;
    signal output out;
    component bits = Bits(in.bits);
    component all = AllOf(in.bits);
    bits.in <== in;
    all.in <== bits.out;
    out <== all.out;
}

template Tags() {
    signal input in[2];
    signal output out[2];
    component bounded[2];
    component largest[2];
    for (var i = 0; i < 2; i++) {
        bounded[i] = Bounded(32);
        bounded[i].in <== in[i];
        largest[i] = IsLargest();
        largest[i].in <== bounded[i].out;
        out[i] <== largest[i].out;
    }
}

component main = Tags();
