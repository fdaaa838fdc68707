pragma circom 2.0.0;

// Inputs of every shape, an assertion that depends on one of them, a constraint, and a line of log().
template Square() {
    signal input x;
    signal output y;
    assert(x != 7);
    log("x is", x);
    y <== x * x;
}

template Inputs() {
    signal input a;
    signal input b[2][3];
    signal output sum;
    signal output inverse;
    component square = Square();
    square.x <== a;
    var weighted = 0;
    for (var i = 0; i < 3; i++) {
        weighted += b[0][i] * 2 ** (64 * i) + b[1][i] * (i - 5);
    }
    sum <== square.y + weighted;
    // 0 has no inverse: the constraint fails.
    inverse <-- a == 0 ? 0 : 1 / a;
    inverse * a === 1;
}

component main {public [a]} = Inputs();
